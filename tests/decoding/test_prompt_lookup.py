"""Prompt lookup: what it costs, and where it looks."""

from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.sampling import SeededChance


class WatchedText(list[int]):
    """Counts how often it is looked into."""

    num_looks = 0

    def __getitem__(self, index: object) -> object:  # type: ignore[override]
        self.num_looks += 1
        return super().__getitem__(index)  # type: ignore[index]


def test_the_prompt_is_indexed_before_the_first_round() -> None:
    """A long prompt must not be paid for by the round that first looks something up."""
    prompt = list(range(2000))
    lookup = PromptLookup(4, frozenset())
    lookup.reset(prompt)
    for num_emitted in range(3):
        text = WatchedText([*prompt, *range(5000, 5000 + num_emitted)])
        assert lookup.propose(text, 4, SeededChance(0)).token_ids == ()
        assert text.num_looks < 20
