"""Lanes are called by what they run, and no two alike."""

from dataclasses import replace

from specviz.trace.values import LaneSpec, Method
from specviz.ui.lane_names import lane_names, telling_names
from specviz.ui.strings import in_english

ALONE = LaneSpec("target alone", Method.BASELINE, "target")
DRAFT = LaneSpec("target + draft model", Method.DRAFT_MODEL, "target", "small", 4)
LOOKUP = LaneSpec("target + prompt lookup", Method.PROMPT_LOOKUP, "target", gamma=4)
EXIT = LaneSpec("target + early exit", Method.EARLY_EXIT, "target", gamma=4, exit_layer=4)


def _names(*specs: LaneSpec) -> list[str]:
    return [in_english(name) for name in lane_names(specs)]


def test_one_lane_of_a_method_is_called_by_it() -> None:
    names = lane_names([ALONE, DRAFT, LOOKUP, EXIT])
    assert names[1] == {"id": "lane.draft_model"}
    assert _names(ALONE, LOOKUP, EXIT) == [ALONE.name, LOOKUP.name, EXIT.name]


def test_only_what_differs_is_told() -> None:
    other = replace(DRAFT, draft="/models/large")
    assert _names(DRAFT, other, LOOKUP)[:2] == [
        "target + draft model (small)",
        "target + draft model (large)",
    ]
    assert _names(EXIT, replace(EXIT, exit_layer=8))[1] == "target + early exit (layer 8)"
    longer = replace(LOOKUP, max_ngram=8, gamma=6)
    assert _names(LOOKUP, longer)[1] == "target + prompt lookup (longest match 8, γ 6)"


def test_equal_lanes_are_numbered() -> None:
    names = _names(ALONE, DRAFT, DRAFT, replace(DRAFT, gamma=8))
    assert names[1:] == [
        "target + draft model (γ 4, #1)",
        "target + draft model (γ 4, #2)",
        "target + draft model (γ 8)",
    ]
    assert len(set(names)) == 4


def test_names_in_a_trace_become_messages_again() -> None:
    specs = [DRAFT, replace(DRAFT, gamma=8)]
    named = [
        replace(spec, name=in_english(name))
        for spec, name in zip(specs, telling_names(specs), strict=True)
    ]
    assert [name["id"] for name in lane_names(named)] == ["lane.with_detail"] * 2


def test_the_command_lines_names_speak_the_readers_language_too() -> None:
    lanes = [replace(ALONE, name="baseline"), replace(DRAFT, name="draft-model")]
    assert _names(*lanes) == ["target alone", "target + draft model"]
    assert _names(replace(DRAFT, name="draft-model 2")) == ["target + draft model"]


def test_a_name_that_somebody_gave_stays() -> None:
    assert lane_names([ALONE, replace(DRAFT, name="draft-models are fun")])[1] == (
        "draft-models are fun"
    )
    assert lane_names([replace(DRAFT, name="before fitting")])[0] == {"id": "waiting.before"}
