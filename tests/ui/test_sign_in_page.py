"""On a Space the page has a button to sign in, and its calls bring the visitor's key."""

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from fake_race import OPTIONS, FakeRace
from gradio.helpers import special_args

from specviz.hub_key import held_key, holding, token_of
from specviz.ui.controls import build_controls
from specviz.ui.hub_offer import HubAccess, HubOffer, PairAsked, PairLook
from specviz.ui.options import PageOptions
from specviz.ui.page_data import hub_data
from specviz.ui.page_tasks import PageTasks
from specviz.ui.race_queue import RaceQueue
from specviz.ui.runs import RunStore
from specviz.ui.server_functions import make_server_functions
from specviz.ui.sessions import RaceSessions
from specviz.ui.sign_in import key_of, streaming_with_key
from specviz.ui.turns import Turns

TOKEN = "hf_of_a_visitor"
FORM = ["big/model-7B", None, "Hi", 16, 4]


def options(*, takes_sign_in: bool, seen: list[Any] | None = None) -> PageOptions:
    def look(asked: PairAsked) -> PairLook:
        if seen is not None:
            seen.append(token_of(held_key()))
        return PairLook((), 0, None)

    hub = HubOffer((), HubAccess.ANY, look, takes_sign_in=takes_sign_in)
    return replace(OPTIONS, hub=hub)


def signed_in(seconds: float) -> Any:
    """What Gradio reads of a visitor whose sign-in lasts so long."""
    info = {
        "access_token": TOKEN,
        "scope": "openid profile gated-repos",
        "expires_at": time.time() + seconds,
        "userinfo": {},
    }
    return SimpleNamespace(session={"oauth_info": info}, scope=None, request=None)


def hub_look(offered: PageOptions) -> Any:
    limits = offered.limits
    sessions = RaceSessions(FakeRace(pause=0), RunStore(), RaceQueue(8), limits)
    functions = make_server_functions(RunStore(), sessions, offered)
    return next(each for each in functions if each.__name__ == "hub_look")


async def has_button(offered: PageOptions) -> bool:
    """Whether the controls have a button to sign in. Without a running loop Gradio's blocks would
    make one for themselves and leave it open."""
    with gr.Blocks(analytics_enabled=False) as page:
        build_controls(offered)
    return any(isinstance(block, gr.LoginButton) for block in page.blocks.values())


def test_the_button_and_what_it_is_for_are_there_where_signing_in_was_switched_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What Gradio serves signing in with is installed on Spaces alone.
    monkeypatch.setattr(gr.Blocks, "expects_oauth", False)
    for takes in (True, False):
        offered = options(takes_sign_in=takes)
        # A loop of a browser's tests may run in this thread.
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(asyncio.run, has_button(offered)).result() is takes
        data = hub_data(offered)
        assert data is not None
        assert data["takes_sign_in"] is takes


@pytest.mark.parametrize(
    ("seconds", "token"),
    [(60, TOKEN), (-60, None), (None, None)],
    ids=["signed-in", "run-out", "signed-out"],
)
def test_a_look_is_answered_with_the_key_that_gradio_knows(seconds: Any, token: Any) -> None:
    request_ = None if seconds is None else signed_in(seconds)
    seen: list[Any] = []
    look = hub_look(options(takes_sign_in=True, seen=seen))
    arguments, *_ = special_args(look, [FORM], request_)
    assert "error" not in look(*arguments)
    assert seen == [token]
    assert held_key() is None


def test_without_signing_in_no_call_brings_a_key() -> None:
    seen: list[Any] = []
    look = hub_look(options(takes_sign_in=False, seen=seen))
    arguments, *_ = special_args(look, [FORM], signed_in(60))
    assert arguments == [FORM]
    look(*arguments)
    assert seen == [None]


def test_a_race_is_streamed_with_the_key() -> None:
    def stream(request: gr.Request) -> Iterator[str]:
        yield str(token_of(held_key()))

    keyed = streaming_with_key(stream)  # type: ignore[arg-type]
    arguments, *_ = special_args(keyed, [], signed_in(60))
    assert list(keyed(*arguments)) == [TOKEN]


def test_long_work_takes_the_key_along_into_its_thread() -> None:
    seen, is_done = [], threading.Event()

    def work(turns: Turns) -> Iterator[dict[str, Any]]:
        seen.append((threading.current_thread() is caller, token_of(held_key())))
        is_done.set()
        yield {}

    caller = threading.current_thread()
    tasks = PageTasks({"fit": lambda form: work}, RaceQueue(8), OPTIONS.limits)
    with holding(key_of(gr.OAuthToken(TOKEN, "", 0))):
        tasks.start("fit", None)
    assert is_done.wait(30)
    assert seen == [(False, TOKEN)]
