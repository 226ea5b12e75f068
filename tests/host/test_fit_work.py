"""A fit for a page: news in turns, a draft on the menu, nothing left where it came to nothing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_race import OPTIONS

from specviz.distill import fit_draft as fit_steps
from specviz.errors import RequestError
from specviz.host import fit_work
from specviz.host.fit_work import make_fit_reader
from specviz.models.loading import ModelPool
from specviz.ui.new_fits import NewFits
from specviz.ui.options import PageOptions
from specviz.ui.pair_option import PairOption
from specviz.ui.race_queue import RaceQueue
from specviz.ui.turns import Turns

PROMPTS = "\n".join(f"the fox {number}" for number in range(8))


@pytest.fixture
def options(tiny_pair: tuple[str, str]) -> PageOptions:
    target, draft = tiny_pair
    pair = PairOption(target, (draft,))
    return replace(OPTIONS, pairs=(pair,), hub=None, device="cpu", new_fits=NewFits(), fitted=())


def form(options: PageOptions, **changes: object) -> dict[str, object]:
    (pair,) = options.pairs
    asked = {"target": pair.target, "draft": pair.drafts[0], "prompts": PROMPTS, "minutes": 0.5}
    return asked | changes


def run(
    options: PageOptions, place: Path, turns: Turns | None = None, **changes: object
) -> Iterator[dict[str, Any]]:
    pool = ModelPool()
    read = make_fit_reader(options, pool.get, place)
    return read(form(options, **changes))(turns or Turns(RaceQueue(3), lambda: False))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit of one short text a prompt and four steps, with a turn for each piece."""
    monkeypatch.setattr(fit_work, "TURN_SECONDS", 0.0)
    real = fit_steps.Fitting.__init__

    def short(self: Any, request: Any, *args: Any) -> None:
        request = replace(request, num_texts=2, num_steps=4, new_tokens=8, num_threads=None)
        real(self, request, *args)

    monkeypatch.setattr(fit_steps.Fitting, "__init__", short)


@pytest.mark.usefixtures("quick")
def test_a_fit_tells_its_news_and_puts_the_draft_on_the_menu(
    options: PageOptions, tmp_path: Path
) -> None:
    news = list(run(options, tmp_path))
    (pair,) = options.pairs
    assert news[0] == {"kind": "begun", "num_learned": 6, "num_held_out": 2, "is_few": True}
    phases = [each["phase"] for each in news if each["kind"] == "progress"]
    assert list(dict.fromkeys(phases)) == ["writing", "reading", "judging", "learning"]
    assert [each["step"] for each in news if each["kind"] == "measured"] == [0, 1, 2, 3, 4]
    last = news[-1]
    assert last["kind"] == "done"
    name = last["draft"]["name"]
    assert name.startswith("fitted/")
    assert name.endswith("-fit-1")
    assert last["draft"]["index"] == 0
    assert last["pair"]["drafts"] == (pair.drafts[0], name)
    offered = options.pair(pair.target)
    assert offered is not None
    assert offered.drafts == (pair.drafts[0], name)
    folder = tmp_path / name.removeprefix("fitted/")
    assert (folder / "prompts.txt").read_text().splitlines() == PROMPTS.splitlines()
    assert ModelPool().get(str(folder)).model is not None


@pytest.mark.usefixtures("quick")
def test_a_fit_that_does_not_help_leaves_nothing_and_says_so(
    options: PageOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_steps, "optimizers_for_draft", lambda model, **_: [])
    last = list(run(options, tmp_path))[-1]
    assert last["kind"] == "no_help"
    assert last["before"] == last["after"]
    assert options.new_fits.drafts == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("num_measured", [0, 3])
def test_a_stopped_fit_keeps_what_it_has(
    options: PageOptions, tmp_path: Path, num_measured: int
) -> None:
    told: list[dict[str, Any]] = []
    turns = Turns(RaceQueue(3), lambda: _count(told, "measured") >= num_measured)
    for news in run(options, tmp_path, turns):
        told.append(news)
    assert _count(told, "done") == len(list(tmp_path.iterdir())) == int(num_measured > 0)


def _count(told: list[dict[str, Any]], kind: str) -> int:
    return sum(news["kind"] == kind for news in told)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"target": "other"}, "Unknown target"),
        ({"draft": "other"}, "Unknown draft"),
        ({"prompts": "one\ntwo\ntwo"}, "2 different prompts were given and at least 8"),
        ({"prompts": 3}, "in a way it does not know"),
        ({"prompts": "\n".join(map(str, range(501)))}, "at most 500"),
        ({"prompts": PROMPTS + "\n" + "x" * 2001}, "2,001 characters and at most 2,000"),
        ({"minutes": 31}, "minutes must be 0.5 to 30"),
        ({"minutes": "3"}, "minutes must be"),
        ({"more": 1}, "in a way it does not know"),
    ],
)
def test_a_form_that_cannot_be_done_is_refused(
    options: PageOptions, tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        run(options, tmp_path, **changes)
    assert list(tmp_path.iterdir()) == []


def test_a_public_page_fits_nothing(options: PageOptions, tmp_path: Path) -> None:
    public = replace(options, limits=replace(options.limits, allows_fits=False))
    with pytest.raises(RequestError):
        run(public, tmp_path)
