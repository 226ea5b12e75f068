"""A lane reads its prompt twice, to warm up and to race; of the first time nothing may be left."""

import torch
from fakes import GREEDY, MarkovRunner, make_decoder, random_table
from tiny_models import CONFIGS, VOCAB, random_model
from transformers import PreTrainedModel

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.no_draft import NoDraft

PROMPT = (5, 6, 7, 8, 9)


class CountedTokens:
    """How many tokens a model has read since it was last asked."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._count = 0
        model.get_input_embeddings().register_forward_hook(self._add)

    def _add(self, module: object, args: tuple[torch.Tensor], output: object) -> None:
        self._count += args[0].numel()

    def take(self) -> int:
        count, self._count = self._count, 0
        return count


def test_both_models_read_the_whole_prompt_again() -> None:
    """Else the prefill that is shown is the time of reading nothing."""
    target, draft = (random_model(CONFIGS["llama"](), seed) for seed in (1, 2))
    decoder = make_decoder(
        ModelRunner(target),
        DraftModel(ModelRunner(draft), GREEDY, VOCAB, frozenset()),
        gamma=3,
    )
    counts = CountedTokens(target), CountedTokens(draft)
    for _ in range(2):
        decoder.prefill(PROMPT)
        assert [count.take() for count in counts] == [len(PROMPT) - 1] * 2
        for _ in range(3):
            decoder.step()
        assert all(count.take() > 0 for count in counts)


def test_a_lane_that_has_read_nothing_has_written_nothing() -> None:
    assert make_decoder(MarkovRunner(random_table(5, 1)), NoDraft(), gamma=0).output_ids == ()
