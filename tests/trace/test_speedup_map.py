"""Lines of equal speedup between α and c."""

import pytest

from specviz.trace.speedup_map import iso_lines
from specviz.trace.theory import predicted_speedup


def test_every_point_of_a_line_makes_its_speedup_at_its_best_length() -> None:
    lines = {line.speedup: line.points for line in iso_lines(1.1, 0.5, (1.0, 2.0))}
    for speedup, points in lines.items():
        assert points[0][0] == 0.0
        for cost, alpha in points:
            best = max(predicted_speedup(alpha, gamma, cost, 1.1) for gamma in range(1, 17))
            assert best == pytest.approx(speedup, abs=0.01)
    # Where one guess costs half a pass, two of three guesses must be kept: (1 + .6) / 1.6 = 1.
    assert lines[1.0][-1][1] == pytest.approx(0.6, abs=0.01)


def test_a_line_that_no_draft_reaches_is_left_out() -> None:
    assert iso_lines(20.0, 0.3, (3.0,)) == ()
