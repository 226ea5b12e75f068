"""Factories of the parts that the browser draws: static templates that one script each fills.

No template ever holds a prompt, a token or a model's name: such text travels as data, in packets or
in a literal of the script, and reaches the page only as text.
"""

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from specviz.ui.assets import JS_FOLDER, file_address, plotly_js
from specviz.ui.panels import Panel
from specviz.ui.server_functions import ServerFunction


def bus(functions: Sequence[ServerFunction]) -> gr.HTML:
    """The hidden way in: its value is the newest packet; what scripts ask for goes through it."""
    return gr.HTML(
        value="",
        html_template="<i></i>",
        js_on_load=_script("connectBus(props, server, watch)"),
        server_functions=list(functions),
        visible="hidden",
        elem_id="sv-bus",
    )


def page_part(name: str, data: object = None) -> gr.HTML:
    """A part that belongs to the whole page: the script `main.js` knows it by its name."""
    return _part(name, f"mountPart('{name}', element, {_literal(data)})", f"sv-{name}")


def panel_part(name: str, panel: Panel, data: object = None) -> gr.HTML:
    """A part that follows the races of one panel."""
    call = f"mountInPanel('{name}', '{panel}', element, {_literal(data)})"
    return _part(name, call, f"sv-{panel}-{name}")


def choice(name: str, first: str, data: object = None) -> gr.HTML:
    """A part in which something is chosen, which becomes its value."""
    call = f"mountChoice('{name}', element, props, trigger, {_literal(data)})"
    return _part(name, call, f"sv-{name}", first)


def race_parts(panel: Panel, data: object) -> None:
    """Lay out all that shows a panel's race, as one scene; its status strip takes `data`."""
    plotly = {"plotly": plotly_address()}
    with gr.Column(elem_classes="sv-scene"):
        panel_part("status", panel, data)
        panel_part("figures", panel)
        panel_part("stage", panel, plotly)
        panel_part("clock", panel)
        panel_part("charts", panel, plotly)


def call_script(call: str) -> dict[str, Any]:
    """Return the arguments of an event that only calls a function of `main.js`."""
    script = f"(value) => {{ {_script(call)} }}"
    return {"fn": None, "js": script, "api_visibility": "private"}


def spread_script(names: Sequence[str]) -> str:
    """Return what an event runs to hand the named fields of a JSON object to its outputs.

    A field that the object lacks leaves its output as it is.
    """
    fields = json.dumps(list(names))
    return (
        "(text, ...shown) => { const wish = JSON.parse(text);"
        f" return {fields}.map((name, index) => wish[name] ?? shown[index]); }}"
    )


def plotly_address() -> str:
    """Return where the page's scripts find plotly.js."""
    return file_address(plotly_js())


def _part(name: str, call: str, elem_id: str, value: str = "") -> gr.HTML:
    return gr.HTML(
        value=value,
        html_template=f'<div class="sv-view sv-{name}-view"></div>',
        js_on_load=_script(call),
        elem_id=elem_id,
        elem_classes=f"sv-{name}-part",
        apply_default_css=False,
    )


def _script(call: str) -> str:
    address = json.dumps(file_address(JS_FOLDER / "main.js"))
    root = "(window.gradio_config?.root ?? '')"
    return f"import({root} + {address}).then((page) => page.{call});"


def _literal(data: object) -> str:
    """Write data as a JavaScript literal that is safe inside a script."""
    return json.dumps(data).replace("<", "\\u003c")
