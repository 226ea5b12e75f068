"""Factories of the parts that the browser draws: static templates that one script each fills.

No template ever holds a prompt, a token or a model's name: such text travels in packets and reaches
the page only as text.
"""

import json
from collections.abc import Callable
from typing import Any

import gradio as gr

from specviz.ui.assets import JS_FOLDER, ExampleGroup, file_address, plotly_js
from specviz.ui.figures import FIGURES
from specviz.ui.outcomes import outcome_table


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
    return _view("header", {"place": options_line})


def examples(groups: tuple[ExampleGroup, ...]) -> gr.HTML:
    """Example prompts; its value becomes the prompt that was picked."""
    shown = [
        {
            "label": group.label,
            "examples": [{"label": e.label, "prompt": e.prompt} for e in group.examples],
        }
        for group in groups
    ]
    return gr.HTML(
        value="",
        html_template='<div class="sv-view sv-examples-view"></div>',
        js_on_load=_script(f"mountExamples(element, props, trigger, {_literal(shown)})"),
        elem_id="sv-examples",
        apply_default_css=False,
    )


def status() -> gr.HTML:
    """One line: what the race is doing, or what went wrong."""
    return _view("status", {})


def figures() -> gr.HTML:
    """The key figures with the counts behind them."""
    return _view("figures", [{"id": f.id, "label": f.label, "meaning": f.meaning} for f in FIGURES])


def stage() -> gr.HTML:
    """The lanes, the legend, and the card of the token that is pointed at."""
    return _view("stage", {"outcomes": outcome_table()})


def charts() -> gr.HTML:
    """The live charts; plotly.js is loaded when they come into sight."""
    return _view("charts", {"plotly": file_address(plotly_js())})


def _view(name: str, data: object) -> gr.HTML:
    return gr.HTML(
        html_template=f'<div class="sv-view sv-{name}-view"></div>',
        js_on_load=_script(f"mount('{name}', element, {_literal(data)})"),
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
