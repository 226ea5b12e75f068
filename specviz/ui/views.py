"""Factories of the parts that the browser draws: static templates that one script each fills.

No template ever holds a prompt, a token or a model's name: such text travels as data, in packets or
in a literal of the script, and reaches the page only as text.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import gradio as gr

from specviz.ui.assets import JS_FOLDER, ExampleGroup, file_address, plotly_js
from specviz.ui.figures import FIGURES
from specviz.ui.fitted_view import fitted_views
from specviz.ui.options import PageOptions
from specviz.ui.outcomes import outcome_table
from specviz.ui.scenes import IDLE_TEXTS, Scene, waiting_lanes


def bus(replay: Callable[[list[Any]], list[str]]) -> gr.HTML:
    """The hidden way in: its value is the newest packet, and missed ones are asked for again."""
    return gr.HTML(
        value="",
        html_template="<i></i>",
        js_on_load=_script("connectBus(props, server, watch)"),
        server_functions=[replay],
        visible="hidden",
        elem_id="sv-bus",
    )


def header(options_line: str) -> gr.HTML:
    """Title, one line of what this is, and the switch between light and dark."""
    return _view("header", Scene.RACE, {"place": options_line})


def examples(groups: tuple[ExampleGroup, ...], first: str) -> gr.HTML:
    """Example prompts with hints; its value becomes the prompt that was picked.

    `first` is the prompt that the field holds at the start.
    """
    return _choice("examples", "", {"groups": [asdict(group) for group in groups], "first": first})


def fitted_drafts(options: PageOptions) -> gr.HTML:
    """What fitting brought; its value names the fitted draft and the held-out prompt chosen."""
    data = fitted_views(options) | {"plotly": file_address(plotly_js())}
    return _choice("fitted", "0:0", data)


def status(scene: Scene) -> gr.HTML:
    """One line: what the race is doing, or what went wrong."""
    return _view("status", scene, {"idle": IDLE_TEXTS[scene]})


def figures(scene: Scene) -> gr.HTML:
    """The key figures of every lane that guesses, with the counts behind them."""
    table = [{"id": f.id, "label": f.label, "meaning": f.meaning} for f in FIGURES]
    return _view("figures", scene, {"figures": table, "lanes": waiting_lanes(scene)})


def stage(scene: Scene) -> gr.HTML:
    """The lanes, the legend, and the card of the token that is pointed at."""
    return _view("stage", scene, {"outcomes": outcome_table(), "lanes": waiting_lanes(scene)})


def charts(scene: Scene) -> gr.HTML:
    """The live charts; plotly.js is loaded when they come into sight."""
    return _view("charts", scene, {"plotly": file_address(plotly_js())})


def _view(name: str, scene: Scene, data: object) -> gr.HTML:
    """A part that follows the races of one scene."""
    return gr.HTML(
        html_template=f'<div class="sv-view sv-{name}-view"></div>',
        js_on_load=_script(f"mount('{name}', '{scene}', element, {_literal(data)})"),
        elem_id=f"sv-{scene}-{name}",
        elem_classes=f"sv-{name}-part",
        apply_default_css=False,
    )


def _choice(name: str, first: str, data: object) -> gr.HTML:
    """A part in which something is chosen, which becomes its value."""
    return gr.HTML(
        value=first,
        html_template=f'<div class="sv-view sv-{name}-view"></div>',
        js_on_load=_script(f"mountChoice('{name}', element, props, trigger, {_literal(data)})"),
        elem_id=f"sv-{name}",
        apply_default_css=False,
    )


def _script(call: str) -> str:
    address = json.dumps(file_address(JS_FOLDER / "main.js"))
    root = "(window.gradio_config?.root ?? '')"
    return f"import({root} + {address}).then((page) => page.{call});"


def _literal(data: object) -> str:
    """Write data as a JavaScript literal that is safe inside a script."""
    return json.dumps(data).replace("<", "\\u003c")
