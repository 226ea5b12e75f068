"""Builds the page: lays the tabs out and wires their buttons to races."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from specviz.trace.values import FetchModels, RaceRequest, StartRace
from specviz.ui import views
from specviz.ui.api import add_api, visitor_of
from specviz.ui.assets import read_css, read_early_script, read_examples, serve_assets
from specviz.ui.compare_controls import build_compare_controls, may_have_fits
from specviz.ui.compare_form import CompareValues, request_from_comparison
from specviz.ui.controls import Controls, build_controls
from specviz.ui.ending import Ending
from specviz.ui.http_guard import HttpGuard, guard_settings
from specviz.ui.options import PageOptions
from specviz.ui.page_data import (
    header_data,
    learn_data,
    lossless_data,
    rounds_data,
    status_data,
)
from specviz.ui.page_tasks import PageTasks, ReadWork
from specviz.ui.panels import Panel
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.race_queue import RaceQueue
from specviz.ui.recorded import welcome_data
from specviz.ui.request_form import FormValues, request_from_form
from specviz.ui.runs import RunStore
from specviz.ui.server_functions import make_server_functions
from specviz.ui.sessions import CheckRequest, RaceSessions, accept, fetch_nothing
from specviz.ui.sign_in import streaming_with_key
from specviz.ui.strings import label, languages, translations
from specviz.ui.sweep_data import sweep_data
from specviz.ui.theme import build_theme
from specviz.ui.visitors import VisitorBook

# Gradio copies all that a component holds, at every packet, for each that ever showed progress.
_NOWHERE: dict[str, Any] = {"show_progress": "hidden", "show_progress_on": []}
CACHE_SECONDS = (600, 3600)
"""How often Gradio's temporary files are looked through, and how old they may become."""
_AT_ONCE: dict[str, Any] = {"queue": False, **_NOWHERE, "api_visibility": "private"}


@dataclass(frozen=True, slots=True)
class _Starter:
    """A panel's way to start races: what starts them, and what they are read from."""

    panel: Panel
    triggers: list[Any]
    inputs: list[gr.Component]
    read: Callable[..., RaceRequest]
    """Makes the request of the values of `inputs`."""


def build_page(
    start_race: StartRace,
    options: PageOptions,
    check_request: CheckRequest = accept,
    fetch_models: FetchModels = fetch_nothing,
    work: Mapping[str, ReadWork] | None = None,
    ending: Ending | None = None,
) -> gr.Blocks:
    """Build the page; `start_race` runs a race and yields its events.

    `check_request` refuses a race before it waits for its turn, and `fetch_models` downloads what
    it lacks before that. `work` is what the page offers beside races, by its kind, and `ending` is
    told what ends with the server.
    """
    serve_assets()
    runs = RunStore()
    queue = RaceQueue(options.limits.queue_size)
    examples = [example for group in read_examples() for example in group.examples]
    guide = PromptGuide(options.readings, examples)
    book = VisitorBook(options.limits)
    sessions = RaceSessions(
        start_race, runs, queue, options.limits, guide, check_request, fetch_models, book
    )
    with gr.Blocks(
        title="specviz: speculative decoding, seen",
        analytics_enabled=False,
        delete_cache=CACHE_SECONDS,
    ) as page:
        tasks = PageTasks(work or {}, queue, options.limits)
        if ending is not None:
            ending.add(sessions.end, sessions.has_ended)
            ending.add(tasks.end, tasks.has_ended)
        bus = views.bus(make_server_functions(runs, sessions, options, guide, tasks))
        views.page_part("header", header_data(options))
        with gr.Tabs(elem_id="sv-tabs"):
            with gr.Tab(label("tab.race"), id="race", elem_id="sv-tab-race"):
                views.page_part("welcome", welcome_data())
                race = _race_tab(options)
            with gr.Tab(label("tab.rounds"), id="rounds", elem_id="sv-tab-rounds"):
                views.page_part("rounds", rounds_data())
            with gr.Tab(label("tab.compare"), id="compare", elem_id="sv-tab-compare"):
                views.page_part("frame")
                with gr.Column(elem_id="sv-compare-sweep"):
                    views.page_part("sweep", sweep_data(options, tasks.kinds))
                with gr.Column(elem_id="sv-compare-fit"):
                    comparison = _compare_tab(options)
            if "proof" in tasks.kinds:
                with gr.Tab(label("tab.lossless"), id="lossless", elem_id="sv-tab-lossless"):
                    views.page_part("lossless", lossless_data(options))
            with gr.Tab(label("tab.learn"), id="learn", elem_id="sv-tab-learn"):
                views.page_part("learn", learn_data(options))
        views.page_part("coach", learn_data(options))
        _wire_races(sessions, [race, comparison], bus, takes_sign_in=options.takes_sign_in)
        page.unload(_closing(sessions))
        add_api(start_race, options, queue, fetch_models, book)
    page.queue(max_size=options.limits.queue_size, default_concurrency_limit=1)
    return page


def launch_settings(guard: HttpGuard) -> dict[str, Any]:
    """Return the arguments of `launch` that make the page's look, put a guard before it and leave
    out what it lacks.

    The styles go into the head as they are: the argument `css` would rewrite their selectors.
    """
    return {
        "theme": build_theme(),
        "head": f"<style>{read_css()}</style><script>{read_early_script(languages())}</script>",
        "i18n": translations(),
        "ssr_mode": False,
        "run_history": False,
        "footer_links": ["api"],
        "max_file_size": "100kb",
        "show_error": False,
        "enable_monitoring": False,
        "share": False,
        **guard_settings(guard),
    }


def _closing(sessions: RaceSessions) -> Callable[[gr.Request], None]:
    """Make what runs when a page is closed: a race that is held would keep its place."""

    def close(request: gr.Request) -> None:
        sessions.close_page(_visitor(request))

    return close


def _race_tab(options: PageOptions) -> _Starter:
    controls = build_controls(options)

    def read(*values: object) -> RaceRequest:
        return request_from_form(FormValues(*values), options)

    _wire_settings(controls)
    triggers = [controls.race.click, controls.prompt.submit]
    views.panel_part("predict", Panel.RACE)
    views.race_parts(Panel.RACE, status_data())
    return _Starter(Panel.RACE, triggers, controls.inputs(), read)


def _wire_settings(controls: Controls) -> None:
    """Let the page's scripts set Gradio's own controls, and tell them what those hold.

    Gradio's controls own their values: scripts wish for others and are told once they are there.
    """
    settings = controls.settings()
    controls.wish.change(
        fn=None,
        js=views.spread_script(list(settings)),
        inputs=[controls.wish, *settings.values()],
        outputs=list(settings.values()),
        api_visibility="private",
        **_NOWHERE,
    )
    for name, control in settings.items():
        control.change(inputs=[control], **views.call_script(f"noteSetting('{name}', value)"))


def _compare_tab(options: PageOptions) -> _Starter:
    controls = build_compare_controls(options)

    def read(*values: object) -> RaceRequest:
        return request_from_comparison(CompareValues(*values), options)

    triggers = [controls.race.click]
    with gr.Column(elem_id="sv-compare-scene", visible=may_have_fits(options)):
        views.race_parts(Panel.COMPARE, status_data())
    return _Starter(Panel.COMPARE, triggers, controls.inputs(), read)


def _wire_races(
    sessions: RaceSessions, starters: list[_Starter], bus: gr.HTML, *, takes_sign_in: bool
) -> None:
    for starter in starters:
        _wire_start(sessions, starter, bus, takes_sign_in=takes_sign_in)


def _wire_start(
    sessions: RaceSessions, starter: _Starter, bus: gr.HTML, *, takes_sign_in: bool
) -> None:
    """Wire what starts a race: the form is read at once, and the race streamed from its turn on.

    Races wait in the page's own queue, so Gradio starts each stream as it comes.
    """

    def enter(request: gr.Request, *values: object) -> str:
        who = visitor_of(request)
        return sessions.enter(
            starter.panel, lambda: starter.read(*values), who.session, who.address
        )

    def stream(request: gr.Request) -> Generator[str]:
        yield from sessions.stream(_visitor(request))

    def turn_away(request: gr.Request) -> Any:
        return sessions.turn_away(_visitor(request))

    entering = gr.on(starter.triggers, enter, inputs=starter.inputs, outputs=[bus], **_AT_ONCE)
    racing = entering.success(
        streaming_with_key(stream) if takes_sign_in else stream,
        outputs=[bus],
        concurrency_limit=None,
        trigger_mode="multiple",
        api_visibility="private",
        **_NOWHERE,
    )
    racing.failure(turn_away, outputs=[bus], **_AT_ONCE)


def _visitor(request: gr.Request) -> str:
    """Gradio's name for an open page."""
    return request.session_hash or ""
