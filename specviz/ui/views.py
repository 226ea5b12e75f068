"""Factories of the parts that the browser draws: static templates that one script each fills.

No template ever holds a prompt, a token or a model's name: such text travels as data, in packets or
in a literal of the script, and reaches the page only as text.
"""

import json
from collections.abc import Sequence

import gradio as gr

from specviz.trace.outcomes import outcome_table
from specviz.ui.assets import JS_FOLDER, file_address, plotly_js
from specviz.ui.doors import Door
from specviz.ui.figures import FIGURES
from specviz.ui.scenes import Scene, waiting_lanes


def bus(doors: Sequence[Door]) -> gr.HTML:
    """The hidden way in: its value is the newest packet; what scripts ask for goes through it."""
    return gr.HTML(
        value="",
        html_template="<i></i>",
        js_on_load=_script("connectBus(props, server, watch)"),
        server_functions=list(doors),
        visible="hidden",
        elem_id="sv-bus",
    )


def page_part(name: str, data: object = None) -> gr.HTML:
    """A part that belongs to the whole page: the script `main.js` knows it by its name."""
    return _part(name, f"mountPart('{name}', element, {_literal(data)})", f"sv-{name}")


def scene_part(name: str, scene: Scene, data: object = None) -> gr.HTML:
    """A part that follows the races of one scene."""
    call = f"mountInScene('{name}', '{scene}', element, {_literal(data)})"
    return _part(name, call, f"sv-{scene}-{name}")


def choice(name: str, first: str, data: object = None) -> gr.HTML:
    """A part in which something is chosen, which becomes its value."""
    call = f"mountChoice('{name}', element, props, trigger, {_literal(data)})"
    return _part(name, call, f"sv-{name}", first)


def race_parts(scene: Scene) -> gr.HTML:
    """Lay out all that shows a scene's race; its status strip is returned."""
    lanes = waiting_lanes(scene)
    status = scene_part("status", scene)
    scene_part("figures", scene, {"figures": FIGURES, "lanes": lanes})
    scene_part("stage", scene, {"outcomes": outcome_table(), "lanes": lanes})
    scene_part("clock", scene)
    scene_part("charts", scene, {"plotly": plotly_address()})
    return status


def report_script(name: str) -> str:
    """Return what an event runs to tell the page's settings the value that a control took."""
    script = _script(f"noteSetting('{name}', value)")
    return f"(value) => {{ {script} }}"


def spread_script(names: Sequence[str]) -> str:
    """Return what an event runs to hand the named fields of a JSON object to its outputs."""
    fields = json.dumps(list(names))
    return (
        f"(text) => {{ const all = JSON.parse(text); return {fields}.map((name) => all[name]); }}"
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
