"""Builds the page: lays the tabs out and wires their buttons to races."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from specviz.trace import Method, RaceRequest, StartRace
from specviz.ui import views
from specviz.ui.api import add_api
from specviz.ui.assets import read_css, serve_assets
from specviz.ui.compare_controls import build_compare_controls
from specviz.ui.compare_form import CompareValues, request_from_comparison
from specviz.ui.controls import Controls, build_controls
from specviz.ui.options import PageOptions
from specviz.ui.race_desk import RaceDesk
from specviz.ui.request_form import FormValues, request_from_form
from specviz.ui.runs import RunStore
from specviz.ui.scenes import Scene
from specviz.ui.theme import build_theme

RACE_QUEUE = "race"
"""All races, from pages and programs alike, wait in this one queue and run one at a time."""
_AT_ONCE: dict[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}


@dataclass(frozen=True, slots=True)
class _Starter:
    """A place where races are started: what starts and stops them, and what they are read from."""

    scene: Scene
    triggers: list[Any]
    stop: gr.Button
    inputs: list[gr.Component]
    read: Callable[..., RaceRequest]
    """Makes the request of the values of `inputs`."""
    status: gr.HTML


def build_page(start_race: StartRace, options: PageOptions) -> gr.Blocks:
    """Build the page; `start_race` runs a race and yields its events."""
    serve_assets()
    runs = RunStore()

    def replay(arguments: list[Any]) -> list[str]:
        """Give the packets of a run from a number on: [run id, number]."""
        return runs.replay(*arguments) if len(arguments) == 2 else []

    with gr.Blocks(title="specviz: speculative decoding, seen", analytics_enabled=False) as page:
        bus = views.bus(replay)
        ticket = gr.State(None, time_to_live=1_800)
        views.header(f"{options.device}, {options.dtype}")
        with gr.Tabs(elem_id="sv-tabs"):
            with gr.Tab("Race"):
                race = _race_tab(options)
            with gr.Tab("Compare"):
                comparison = _compare_tab(options)
        desk = RaceDesk(start_race, runs, options.limits.deadline_seconds)
        _wire_races(desk, [race, comparison], bus, ticket)
        add_api(start_race, options, RACE_QUEUE)
    page.queue(max_size=options.limits.queue_size, default_concurrency_limit=1)
    return page


def launch_settings() -> dict[str, Any]:
    """Return the arguments of `launch` that make the page's look and leave out what it lacks.

    The styles go into the head as they are: the argument `css` would rewrite their selectors.
    """
    return {
        "theme": build_theme(),
        "head": f"<style>{read_css()}</style>",
        "ssr_mode": False,
        "run_history": False,
        "footer_links": ["api"],
        "max_file_size": "100kb",
        "show_error": False,
    }


def _race_tab(options: PageOptions) -> _Starter:
    controls = build_controls(options)
    _wire_models(controls, options)

    def read(*values: object) -> RaceRequest:
        return request_from_form(FormValues(*values), options)

    triggers = [controls.race.click, controls.prompt.submit]
    status = _watch(Scene.RACE)
    return _Starter(Scene.RACE, triggers, controls.stop, controls.inputs(), read, status)


def _compare_tab(options: PageOptions) -> _Starter:
    controls = build_compare_controls(options)

    def read(*values: object) -> RaceRequest:
        return request_from_comparison(CompareValues(*values), options)

    triggers = [controls.race.click]
    with gr.Column(visible=bool(options.fitted)):
        status = _watch(Scene.COMPARE)
    return _Starter(Scene.COMPARE, triggers, controls.stop, controls.inputs(), read, status)


def _watch(scene: Scene) -> gr.HTML:
    """Lay out all that shows a scene's race; its status strip is returned."""
    status = views.status(scene)
    views.figures(scene)
    views.stage(scene)
    views.charts(scene)
    return status


def _wire_races(desk: RaceDesk, starters: list[_Starter], bus: gr.HTML, ticket: gr.State) -> None:
    races = [_wire_start(desk, starter, bus, ticket) for starter in starters]
    for starter in starters:
        stopping = starter.stop.click(desk.stop, inputs=[ticket], outputs=[bus], **_AT_ONCE)
        stopping.then(fn=None, cancels=races)


def _wire_start(desk: RaceDesk, starter: _Starter, bus: gr.HTML, ticket: gr.State) -> Any:
    """Wire what starts a race; the event that streams it is returned."""

    def enter(place: Any, *values: object) -> tuple[Any, Any]:
        return desk.enter(place, starter.scene, lambda: starter.read(*values))

    entering = gr.on(
        starter.triggers,
        enter,
        inputs=[ticket, *starter.inputs],
        outputs=[bus, ticket],
        **_AT_ONCE,
    )
    racing = entering.then(
        desk.stream,
        inputs=[ticket],
        outputs=[bus],
        concurrency_id=RACE_QUEUE,
        concurrency_limit=1,
        show_progress="minimal",
        show_progress_on=[starter.status],
        api_visibility="private",
    )
    racing.failure(desk.leave, inputs=[ticket], outputs=[bus], **_AT_ONCE)
    return racing


def _wire_models(controls: Controls, options: PageOptions) -> None:
    def show_choices(target: str, method: str) -> tuple[Any, Any]:
        pair = options.pair(target) or options.pairs[0]
        methods = [item.value for item in pair.methods]
        chosen = method if method in methods else methods[0]
        has_choice = chosen == Method.DRAFT_MODEL and len(pair.drafts) > 1
        return gr.update(value=chosen), gr.update(visible=has_choice)

    gr.on(
        [controls.target.change, controls.method.change],
        show_choices,
        inputs=[controls.target, controls.method],
        outputs=[controls.method, controls.draft],
        **_AT_ONCE,
    )
    controls.examples.change(
        fn=None, inputs=[controls.examples], outputs=[controls.prompt], js="(prompt) => prompt"
    )
