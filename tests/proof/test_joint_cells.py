"""Cells of continuations: what they hold is what the law says, whatever is pooled."""

from collections import Counter

import pytest
import torch
from fakes import MarkovRunner, random_table, text_law

from specviz.decoding.sampling import to_probs
from specviz.proof.joint_cells import JointCells
from specviz.proof.text_scores import Text
from specviz.trace.values import Sampling

SAMPLING = Sampling(temperature=1.0)
LAW = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)


def test_cells_by_hand() -> None:
    """20 draws of two tokens: 00 (7.2), 0x (4.8), 1 (6), 2 (2); the two rare ones are pooled."""
    cells = JointCells(lambda text: LAW, 2, (), 20)
    seen = {(0, 0): 9, (0, 1): 2, (0, 2): 1, (1, 2): 5, (2, 0): 3}
    statistic = 1.8**2 / 7.2 + 1.0 / 6.0 + 0.8**2 / 6.8
    assert cells.test(seen)[:2] == (pytest.approx(statistic), 2)


def test_an_end_token_ends_a_text() -> None:
    asked: list[Text] = []

    def law(text: Text) -> torch.Tensor:
        asked.append(text)
        return LAW

    cells = JointCells(law, 3, (0,), 1_000)
    assert all(0 not in text for text in asked)
    assert cells.test({(0,): 600, (1, 0): 180, (1, 1, 0): 54, (2, 0): 60}).degrees > 3


def test_draws_of_the_law_pass_and_of_another_do_not() -> None:
    runner, other = MarkovRunner(random_table(5, 1)), random_table(5, 1, scale=1.2)

    def next_law(text: Text) -> torch.Tensor:
        return to_probs(runner.logits_after([1, 0, *text])[None], SAMPLING)[0]

    def drawn(table: torch.Tensor) -> Counter[Text]:
        law = text_law(table, SAMPLING, (1, 0), 4)
        texts = list(law)
        weights = torch.tensor([law[text] for text in texts], dtype=torch.float64)
        generator = torch.Generator().manual_seed(2)
        picks = torch.multinomial(weights, 3_000, replacement=True, generator=generator)
        return Counter(texts[pick] for pick in picks.tolist())  # type: ignore[misc]

    cells = JointCells(next_law, 4, (), 3_000)
    right = cells.test(drawn(random_table(5, 1)))
    assert right.degrees > 50
    assert right.p_value > 0.01
    assert cells.test(drawn(other)).p_value < 1e-9


def test_cells_hold_what_was_drawn_and_the_whole_law() -> None:
    cells = JointCells(lambda text: LAW, 2, (), 20)
    assert sum(cells.expected.values()) == pytest.approx(20)
    counts = cells.count({(0, 0): 9, (0, 1): 2, (0, 2): 1, (1, 2): 5, (2, 0): 3})
    held = {(cell.text, cell.is_rest): count for cell, count in counts.items()}
    assert held == {((0, 0), False): 9, ((0,), True): 3, ((1,), False): 5, ((), True): 3}
