"""Builds the race page: lays the parts out and wires the buttons to a race."""

from typing import Any

import gradio as gr

from specviz.trace import Method, StartRace
from specviz.ui import views
from specviz.ui.api import add_api
from specviz.ui.assets import read_css, serve_assets
from specviz.ui.controls import Controls, build_controls
from specviz.ui.options import PageOptions
from specviz.ui.race_desk import RaceDesk
from specviz.ui.runs import RunStore
from specviz.ui.theme import build_theme

RACE_QUEUE = "race"
"""All races, from pages and programs alike, wait in this one queue and run one at a time."""


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
        controls = build_controls(options)
        status = views.status()
        views.figures()
        views.stage()
        views.charts()
        _wire_models(controls, options)
        _wire_race(RaceDesk(start_race, options, runs), controls, bus, ticket, status)
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


def _wire_race(
    desk: RaceDesk, controls: Controls, bus: gr.HTML, ticket: gr.State, status: gr.HTML
) -> None:
    at_once: dict[str, Any] = {
        "queue": False,
        "show_progress": "hidden",
        "api_visibility": "private",
    }
    entering = gr.on(
        [controls.race.click, controls.prompt.submit],
        desk.enter,
        inputs=[ticket, *controls.inputs()],
        outputs=[bus, ticket],
        **at_once,
    )
    racing = entering.then(
        desk.stream,
        inputs=[ticket],
        outputs=[bus],
        concurrency_id=RACE_QUEUE,
        concurrency_limit=1,
        show_progress="minimal",
        show_progress_on=[status],
        api_visibility="private",
    )
    racing.failure(desk.leave, inputs=[ticket], outputs=[bus], **at_once)
    stopping = controls.stop.click(desk.stop, inputs=[ticket], outputs=[bus], **at_once)
    stopping.then(fn=None, cancels=[racing])


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
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
    controls.examples.change(
        fn=None, inputs=[controls.examples], outputs=[controls.prompt], js="(prompt) => prompt"
    )
