"""The best draft length: counted tokens over costs that all races know, by hand."""

from dataclasses import replace

import pytest
from test_sweep import plan
from test_sweep_results import RUN

from specviz.bench.sweep_best import Best, best_of
from specviz.bench.sweep_cells import cells_of
from specviz.bench.sweep_record import Kept, SweepRecord, SweepRun

GAMMAS = (2, 3, 4)
TOKENS = {2: 20, 3: 22, 4: 24}
"""Of ten rounds."""
CHECKS = {2: 1.2, 3: 1.0, 4: 1.3}
"""A processor that likes four rows."""


def run(gamma: int, prompt: str, check: float | None = None, **changes: object) -> SweepRun:
    check = CHECKS[gamma] if check is None else check
    cost = 0.1 * gamma + check + 0.05
    made = replace(
        RUN,
        gamma=gamma,
        prompt=prompt,
        num_emitted=TOKENS[gamma],
        paths=(Kept(gamma, 1, 10),),
        verify_cost=check,
        round_cost=cost,
        speedup=TOKENS[gamma] / 10 / cost,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def best(*runs: SweepRun) -> Best:
    record = SweepRecord(plan("story", gammas=GAMMAS), runs)
    return best_of(record, cells_of(record))[0]


def both(**changes: object) -> list[SweepRun]:
    prompts = ("story 0", "story 1")
    return [run(gamma, prompt, **changes) for gamma in GAMMAS for prompt in prompts]


def test_the_curve_is_tokens_over_costs() -> None:
    found = best(*both())
    assert found.gamma == found.gamma_low == found.gamma_high == 3
    expected = [2.0 / 1.45, 2.2 / 1.35, 2.4 / 1.75]
    assert [point.gamma for point in found.curve] == list(GAMMAS)
    assert [point.speedup for point in found.curve] == pytest.approx(expected)
    assert found.speedup == pytest.approx(2.2 / 1.35)


def test_a_check_costs_what_all_drafts_of_the_method_say() -> None:
    own = [each for each in both() if each.gamma != 3]
    slow = [run(3, "story 0", check=2.0), run(3, "story 1", check=2.0)]
    assert best(*own, *slow).gamma != 3
    others = [replace(each, draft="specviz-bad") for _ in range(2) for each in both()]
    found = best(*own, *slow, *others)
    assert found.gamma == 3
    # What was measured there is said all the same.
    assert found.speedup == pytest.approx(2.2 / 2.35)


def test_prompts_that_lack_a_draft_length_are_not_in_the_curve() -> None:
    more = run(4, "story 2", num_emitted=90)
    assert best(*both(), more).curve == best(*both()).curve


@pytest.mark.parametrize("few", [both()[::2], both()[:2], both(draft_cost=None)])
def test_without_a_curve_the_fastest_that_was_measured_counts(few: list[SweepRun]) -> None:
    found = best(*few)
    assert found.curve == ()
    fastest = max(few, key=lambda each: each.speedup or 0.0)
    assert found.gamma == found.gamma_low == found.gamma_high == fastest.gamma
