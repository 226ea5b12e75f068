"""A lane reads its prompt twice, to warm up and to race; of the first time nothing may be left."""

from collections.abc import Sequence

import torch
from fakes import GREEDY, make_decoder
from tiny_models import CONFIGS, VOCAB, byte_tokenizer, random_model
from transformers import PreTrainedModel

from specviz.decoding.decoder import Decoder
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.recorder import Recorder
from specviz.models.detokenizer import IncrementalDetokenizer

PROMPT = (5, 6, 7, 8, 9)


class Reciting:
    """A target that writes `ids`, whatever it reads."""

    def __init__(self, ids: Sequence[int], vocab_size: int) -> None:
        self._ids = ids
        self._vocab_size = vocab_size

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        wanted = self._ids[len(ids) - len(PROMPT) :][:1] or self._ids[:1]
        return torch.nn.functional.one_hot(torch.tensor(wanted), self._vocab_size).double()

    def reset(self) -> None:
        """Nothing is kept."""

    def keep(self, num_committed: int, path: Sequence[int]) -> None:
        """Nothing is kept."""


def texts_of(decoder: Decoder, num_rounds: int) -> list[str]:
    decoder.prefill(PROMPT)
    return [token.text for _ in range(num_rounds) for token in decoder.step().emitted]


def test_a_text_is_spelled_as_if_it_were_the_first() -> None:
    """Three rounds of warm-up end inside a character of four bytes."""
    tokenizer = byte_tokenizer()
    ids = tokenizer.encode("🦊x🦊x")
    assert len(ids) == 10
    decoder = make_decoder(
        Reciting(ids, len(tokenizer)),
        NoDraft(),
        gamma=0,
        max_new_tokens=len(ids),
        recorder=Recorder(GREEDY, IncrementalDetokenizer(tokenizer), record_top=False),
    )
    assert texts_of(decoder, 3) == ["", "", ""]
    assert texts_of(decoder, len(ids)) == ["", "", "", "🦊", "x"] * 2


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
