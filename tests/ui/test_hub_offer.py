"""What a page offers of the hub is checked on the server, whatever a browser sends."""

from dataclasses import replace
from typing import Any

import pytest
from fake_race import OPTIONS, FakeRace

from specviz.texts import in_english, message
from specviz.trace.values import Method
from specviz.ui.hub_offer import HubAccess, HubOffer, HubPairOption, PairAsked, PairLook
from specviz.ui.options import PageOptions
from specviz.ui.page_data import hub_data, learn_data
from specviz.ui.pair_option import PairOption, hub_option
from specviz.ui.race_queue import RaceQueue
from specviz.ui.request_form import build_request
from specviz.ui.runs import RunStore
from specviz.ui.server_functions import make_server_functions
from specviz.ui.sessions import RaceSessions
from specviz.ui.settings_data import settings_data
from specviz.ui.strings import PageError

LISTED = HubPairOption(
    target="big/model-7B",
    draft="big/model-1B",
    exits=(),
    num_parameters=(7, 1),
    stored_bytes=16,
    licences=("MIT",),
    is_gated=False,
    story={"en": "A pair."},
    published=(),
    is_checked=False,
)
ASKED = PairAsked("big/model-7B", "big/model-1B", "Hi", 16, 4)
LANE = {"method": "draft-model", "target": "big/model-7B", "draft": "big/model-1B", "gamma": 4}


def look(asked: PairAsked) -> PairLook:
    """Find nothing against any pair but those with a draft of the same name."""
    if asked.draft == asked.target:
        finding = ("refuse", message("pair.refused", problem="no"))
        return PairLook((finding,), 0, None)
    option = hub_option(asked.target, asked.draft, (), 7, has_chat=True)
    return PairLook((("ok", message("pair.special_equal")),), 42, option)


def offering(access: HubAccess) -> PageOptions:
    return replace(OPTIONS, hub=HubOffer((LISTED,), access, look))


def request(options: PageOptions, lane: dict[str, object]) -> Any:
    return build_request("Hi", [lane], None, 8, options)


@pytest.mark.parametrize("access", [HubAccess.CATALOGUE, HubAccess.ANY])
def test_a_pair_is_raced_after_it_was_looked_at_and_not_before(access: HubAccess) -> None:
    options = offering(access)
    assert options.hub is not None
    with pytest.raises(PageError, match=r"Nobody has looked at big/model-7B .* “From the hub”"):
        request(options, LANE)
    assert options.hub.look(ASKED).download_bytes == 42
    assert [lane.target for lane in request(options, LANE).lanes] == ["big/model-7B"] * 2
    with pytest.raises(PageError, match="Unknown draft 'other/draft'"):
        request(options, LANE | {"draft": "other/draft"})


def test_a_pair_that_does_not_fit_is_not_offered() -> None:
    options = offering(HubAccess.ANY)
    assert options.hub is not None
    found = options.hub.look(replace(ASKED, draft=ASKED.target))
    assert found.option is None
    with pytest.raises(PageError, match="Nobody has looked at"):
        request(options, LANE)


def test_a_catalogue_alone_refuses_other_ids_on_the_server_too() -> None:
    options = offering(HubAccess.CATALOGUE)
    assert options.hub is not None
    for asked in (replace(ASKED, target="my/own"), replace(ASKED, draft="my/own")):
        with pytest.raises(PageError, match=r"is not among the pairs .* --allow-hub"):
            options.hub.look(asked)
    with pytest.raises(PageError, match="my/own is not among the pairs"):
        request(options, LANE | {"target": "my/own"})
    offering(HubAccess.ANY).hub.look(replace(ASKED, target="my/own"))  # type: ignore[union-attr]


def test_a_page_without_the_hub_asks_it_nothing() -> None:
    options = offering(HubAccess.OFF)
    assert options.hub is not None
    with pytest.raises(PageError, match="start it with --allow-hub"):
        options.hub.look(ASKED)
    with pytest.raises(PageError, match="start it with --allow-hub"):
        request(options, LANE)
    assert settings_data(options)["asks_hub"] is False
    data = hub_data(options)
    assert data is not None
    assert data["access"] == "off"
    assert hub_data(replace(OPTIONS, hub=None)) is None


@pytest.mark.parametrize(
    "name",
    [
        *("/etc", "../x", "a/../b", "~/x", "owner", "a/b/c", "a/b@main", "a/\nb", "", "\u0430/b"),
        "a/" + "b" * 97,
    ],
)
def test_what_is_no_id_is_refused(name: str) -> None:
    hub = offering(HubAccess.ANY).hub
    assert hub is not None
    for asked in (replace(ASKED, target=name), replace(ASKED, draft=name)):
        with pytest.raises(PageError, match="write owner/name"):
            hub.look(asked)


def test_drafts_of_one_target_join_and_the_newest_comes_first() -> None:
    hub = offering(HubAccess.ANY).hub
    assert hub is not None
    hub.look(replace(ASKED, draft=None))
    hub.look(ASKED)
    found = hub.look(replace(ASKED, draft="big/other")).option
    assert found is not None
    assert found.drafts == ("big/other", "big/model-1B")
    assert found.methods == (Method.DRAFT_MODEL, Method.PROMPT_LOOKUP)
    again = hub.look(ASKED).option
    assert again is not None
    assert again.drafts[0] == "big/model-1B"


def test_scripts_are_told_in_sentences() -> None:
    options = offering(HubAccess.ANY)
    sessions = RaceSessions(FakeRace(), RunStore(), RaceQueue(8), options.limits)
    made = make_server_functions(RunStore(), sessions, options)
    functions = {each.__name__: each for each in made}
    assert "error" in functions["hub_known"](["big/model-7B"])
    asked = ["big/model-7B", "big/model-1B", "Hi", 16, 4]
    answer = functions["hub_look"](asked)
    assert answer["download_bytes"] == 42
    assert answer["pair"]["has_chat"] is answer["pair"]["is_hub"] is True
    assert in_english(answer["findings"][0]["text"]).startswith("Both mark the beginning")
    assert functions["hub_known"](["big/model-7B"])["pair"] == answer["pair"]
    for position, wrong in ((0, 5), (0, None), (1, 5), (2, 7), (2, "x" * 5000), (3, 10**6), (4, 0)):
        sent = [*asked[:position], wrong, *asked[position + 1 :]]
        assert set(functions["hub_look"](sent)) == {"error"}


def test_a_target_that_the_page_came_with_keeps_its_drafts() -> None:
    options = offering(HubAccess.ANY)
    own = hub_option("big/model-7B", "big/own", (2,), 7, has_chat=False)
    options = replace(options, pairs=(*options.pairs, own))
    assert options.hub is not None
    assert options.pair("big/model-7B") is own
    options.hub.look(ASKED)
    joined = options.pair("big/model-7B")
    assert joined is not None
    assert joined.drafts == ("big/model-1B", "big/own")
    assert joined.exits == (2,)
    assert Method.EARLY_EXIT in joined.methods


def test_lessons_stay_with_the_family_that_they_were_made_for() -> None:
    opening = hub_option("big/model-7B", "big/model-1B", (), 7, has_chat=False)
    options = replace(OPTIONS, pairs=(opening, *OPTIONS.pairs))
    assert settings_data(options)["first"]["target"] == "big/model-7B"
    assert learn_data(options)["target"] == "fake-target"
    alone = replace(OPTIONS, pairs=(PairOption("mine", ()),))
    assert learn_data(alone)["target"] == "mine"
