"""What the controls offer is what the form lets pass."""

import itertools
import json
import re
from dataclasses import fields

import pytest
from fake_race import OPTIONS

from specviz.trace.values import LaneSpec
from specviz.ui.assets import JS_FOLDER
from specviz.ui.request_form import FormValues, request_from_form
from specviz.ui.settings_data import first_lanes, settings_data, spans
from specviz.ui.strings import PageError

SPANS = spans(OPTIONS.limits)
LANE_FIELDS = ("gamma", "max_ngram", "confidence", "branches", "budget")
TREE_FIELDS = ("branches", "budget")


def _form(name: str, value: float) -> FormValues:
    lane: dict[str, object] = {"method": "prompt-lookup", "gamma": 4}
    if name in TREE_FIELDS:
        lane |= {"method": "draft-model", "tree": "dynamic"}
    if name in LANE_FIELDS:
        lane[name] = value
    values = {"temperature": 0, "top_k": 0, "top_p": 1, "seed": 0, "tokens": 8}
    if name not in LANE_FIELDS:
        values[name] = value
    return FormValues("Hi", json.dumps([lane]), *values.values(), uses_chat=True)


@pytest.mark.parametrize(("name", "end"), itertools.product(SPANS, (0, 1)))
def test_both_ends_of_every_control_can_be_raced(name: str, end: int) -> None:
    assert request_from_form(_form(name, SPANS[name][end]), OPTIONS)


@pytest.mark.parametrize(
    "name", ["temperature", "seed", "tokens", "gamma", "max_ngram", *TREE_FIELDS]
)
def test_beyond_the_upper_end_nothing_can_be_raced(name: str) -> None:
    highest = SPANS[name][1]
    with pytest.raises(PageError, match=f"to {highest:,.0f}"):
        request_from_form(_form(name, highest + 1), OPTIONS)


def test_the_first_settings_can_be_raced() -> None:
    first = settings_data(OPTIONS)["first"]
    assert first["lanes"] == first_lanes(OPTIONS)
    form = FormValues(
        first["prompt"],
        json.dumps(first["lanes"]),
        *(first[name] for name in ("temperature", "top_k", "top_p", "seed", "tokens", "chat")),
    )
    assert request_from_form(form, OPTIONS).max_new_tokens == OPTIONS.defaults.max_new_tokens


def test_the_browser_is_given_plain_values() -> None:
    assert json.loads(json.dumps(settings_data(OPTIONS)))["pairs"][0]["exits"] == [4, 8]


def test_a_link_has_every_setting() -> None:
    source = (JS_FOLDER / "controls" / "link.js").read_text(encoding="utf-8")

    def listed(name: str) -> set[str]:
        return set(re.findall(r"'(\w+)'", re.findall(rf"const {name} = \[(.*?)\];", source)[0]))

    assert listed("PLAIN") == set(settings_data(OPTIONS)["first"]) - {"lanes"}
    # How a draft is translated is no choice of the page; coins stand in a list of their own.
    of_lane = {field.name for field in fields(LaneSpec)} - {
        "target",
        "translation",
        "flipped_coins",
    }
    assert listed("LANE") | {"name"} == of_lane
    assert "const NAMES = 'lane_name'" in source
    assert "const RULES = 'lane_rule'" in source
