"""The exact law of a recorded round, over every uniform number that it may be given.

A recorded round takes all its numbers at once, so its choices cannot be enumerated one by one as in
`test_exact_law`. Here all probabilities are such that the middles of a grid of `[0, 1)` stand for
every number: what is decided changes at the grid's lines alone.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from unittest.mock import patch

import pytest
import torch
from fakes import Law, MarkovRunner, distance, text_law
from static_fakes import FakeGraphs, StaticMarkov, recorded_lane

from specviz.decoding import static_chain, static_judge
from specviz.decoding.sampling import SeededChance
from specviz.trace.values import Sampling

EXACT, VISIBLE = 1e-12, 1e-3
PROMPT = (1, 0)
SAMPLING = Sampling(temperature=1.0)


class GridChance(SeededChance):
    """Gives one point of a grid, number by number."""

    def __init__(self) -> None:
        super().__init__(0)
        self.point: Sequence[float] = ()

    def reset(self) -> None:
        self._ahead.clear()
        self._left = iter(())

    def begin(self, point: Sequence[float]) -> None:
        """Give these numbers from now on."""
        self._ahead.clear()
        self._left = iter(point)

    def _drawn(self) -> float:
        return next(self._left)


def table(rows: Sequence[Sequence[int]], parts: int) -> torch.Tensor:
    """Logits `[vocab, vocab, vocab]` of laws in `parts`-ths that depend on the last token, turned
    by the one before it."""
    laws = torch.tensor(rows, dtype=torch.float64) / parts
    return torch.stack([laws.roll(before, 0) for before in range(len(rows))]).log()


CASES = {
    "three tokens, one draft": (
        table([[2, 1, 1], [0, 3, 1], [1, 1, 2]], 4),
        table([[1, 2, 1], [2, 1, 1], [1, 0, 3]], 4),
        1,
        12,
    ),
    "two tokens, two drafts": (
        table([[1, 3], [3, 1]], 4),
        table([[2, 2], [2, 2]], 4),
        2,
        4,
    ),
    "one-hot rows, two drafts": (
        table([[0, 4], [3, 1]], 4),
        table([[2, 2], [4, 0]], 4),
        2,
        4,
    ),
}


def law_of_a_round(
    target: torch.Tensor,
    draft: torch.Tensor,
    gamma: int,
    size: int,
    eos_ids: Sequence[int] = (),
) -> Law:
    """Law of the first `gamma + 2` tokens: a round's own, and the target's where it ends before."""
    chance = GridChance()
    lane = recorded_lane(
        StaticMarkov(target, gamma, capture=FakeGraphs()),
        StaticMarkov(draft, gamma, capture=FakeGraphs()),
        gamma=gamma,
        sampling=SAMPLING,
        eos_ids=eos_ids,
        chance=chance,
        max_new_tokens=gamma + 2,
    )
    law: Law = {}
    for point in grid(size, 2 * gamma + 1):
        lane.prefill(PROMPT)
        chance.begin(point)
        lane.step()
        emitted = lane.output_ids
        has_ended = bool(set(emitted) & set(eos_ids))
        num_left = 0 if has_ended else gamma + 2 - len(emitted)
        for rest, weight in text_law(target, SAMPLING, (*PROMPT, *emitted), num_left).items():
            key = (*emitted, *rest)  # type: ignore[misc]
            law[cut(key, eos_ids)] = law.get(cut(key, eos_ids), 0.0) + weight / size ** len(point)
    return law


def grid(size: int, num_numbers: int) -> Iterator[tuple[float, ...]]:
    return product([(index + 0.5) / size for index in range(size)], repeat=num_numbers)


def cut(text: tuple[int, ...], eos_ids: Sequence[int]) -> tuple[int, ...]:
    ends = [index for index, token in enumerate(text) if token in eos_ids]
    return text[: ends[0] + 1] if ends else text


def expected_law(target: torch.Tensor, gamma: int, eos_ids: Sequence[int] = ()) -> Law:
    law: Law = {}
    for text, weight in text_law(target, SAMPLING, PROMPT, gamma + 2).items():
        key = cut(text, eos_ids)  # type: ignore[arg-type]
        law[key] = law.get(key, 0.0) + weight
    return law


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_round_leaves_the_law_alone(case: str) -> None:
    target, draft, gamma, size = CASES[case]
    law = law_of_a_round(target, draft, gamma, size)
    assert distance(law, expected_law(target, gamma)) < EXACT


@pytest.mark.parametrize("end", [0, 1])
def test_an_end_token_in_the_draft_leaves_the_law_alone(end: int) -> None:
    target, draft, gamma, size = CASES["two tokens, two drafts"]
    law = law_of_a_round(target, draft, gamma, size, (end,))
    assert distance(law, expected_law(target, gamma, (end,))) < EXACT


def test_a_draft_that_is_the_target_is_always_accepted() -> None:
    target, _, gamma, size = CASES["two tokens, two drafts"]
    law = law_of_a_round(target, target, gamma, size)
    assert distance(law, expected_law(target, gamma)) < EXACT


def last_draft_law(laws: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Row off by one, where it matters: of the laws, not of the numbers."""
    off = index if laws.dim() == 1 else (index - 1).clamp(min=0)
    return laws.index_select(0, off[None])[0]


BUGS: dict[str, Callable[[], object]] = {
    "correction from the target": lambda: patch.object(static_judge, "excess", lambda p, q: p),
    "residual of the draft": lambda: patch.object(
        static_judge, "excess", lambda p, q: (q - p).clamp_min(0) + 1e-9
    ),
    "laws of the row before": lambda: patch.object(static_judge, "_at", last_draft_law),
    "one number for two drafts": lambda: patch.object(
        static_chain.StaticChain, "draws", property(lambda chain: chain._given[[4, 4, 4, 7, 8]])
    ),
    "every coin falls heads": lambda: patch.object(
        static_judge.StaticJudge,
        "_num_accepted",
        lambda self, accepted, length: (self._nodes < length).sum(),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_caught(bug: str) -> None:
    target, draft, gamma, size = CASES["two tokens, two drafts"]
    with BUGS[bug]():  # type: ignore[attr-defined]
        law = law_of_a_round(target, draft, gamma, size)
    assert distance(law, expected_law(target, gamma)) > VISIBLE


def test_the_tables_are_read_alike() -> None:
    """The fake of the static form and the one of the growing form are one model."""
    target = CASES["three tokens, one draft"][0]
    static, growing = StaticMarkov(target, 1), MarkovRunner(target)
    for text in product(range(3), repeat=3):
        assert torch.equal(static.forward(text, 2), growing.forward(text, 2))
