"""The controls of the race page, and what they read out as."""

import json
from dataclasses import asdict, dataclass
from typing import Any

import gradio as gr

from specviz.ui import views
from specviz.ui.assets import read_examples
from specviz.ui.options import PageOptions
from specviz.ui.page_data import hub_data, limits_data, prompt_data
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.settings_data import Span, first_lanes, settings_data, spans
from specviz.ui.sign_in import sign_in_button
from specviz.ui.strings import label


@dataclass(frozen=True, slots=True)
class Controls:
    """Handles of the controls that events are wired to."""

    prompt: gr.Textbox
    lanes: gr.HTML
    temperature: gr.Slider
    top_k: gr.Slider
    top_p: gr.Slider
    seed: gr.Number
    max_new_tokens: gr.Slider
    chat: gr.Checkbox
    wish: gr.HTML
    """Its value is a JSON object of settings that the page's scripts wish for."""
    race: gr.Button

    def inputs(self) -> list[gr.Component]:
        """Return the controls in the order of the fields of `FormValues`."""
        return [
            self.prompt,
            self.lanes,
            self.temperature,
            self.top_k,
            self.top_p,
            self.seed,
            self.max_new_tokens,
            self.chat,
        ]

    def settings(self) -> dict[str, gr.Component]:
        """Return Gradio's own controls by the names of the settings that they hold."""
        return {
            "prompt": self.prompt,
            "temperature": self.temperature,
            "top_k": self.top_k,
            "top_p": self.top_p,
            "seed": self.seed,
            "tokens": self.max_new_tokens,
            "chat": self.chat,
        }


def build_controls(options: PageOptions) -> Controls:
    """Lay out the prompt with its examples and buttons, and the lanes and their law beside them."""
    limits, shown = options.limits, options.defaults
    data = settings_data(options)
    with gr.Row(elem_id="sv-controls", equal_height=False):
        with gr.Column(min_width=300, elem_id="sv-ask"):
            prompt = _prompt_field(shown.prompt, limits.max_prompt_chars)
            views.page_part("prompt", prompt_data(options))
            views.choice("examples", "", {"groups": [asdict(g) for g in read_examples()]})
            race = race_button(label("control.race"), Panel.RACE)
            wish = views.choice("settings", "", data)
        with gr.Column(min_width=300, elem_id="sv-race-settings"):
            lanes = views.choice("lanes", json.dumps(first_lanes(options)), data)
            views.page_part("hub", hub_data(options))
            if options.takes_sign_in:
                sign_in_button()
            chat = _chat_switch()
            span = spans(limits)
            with gr.Row():
                temperature = make_slider(
                    label("control.temperature"),
                    span["temperature"],
                    shown.temperature,
                    "temperature",
                )
                tokens = make_slider(
                    label("control.tokens"), span["tokens"], shown.max_new_tokens, "tokens"
                )
            top_k, top_p, seed = _sampling_controls(shown.seed, limits)
            views.page_part("limits", limits_data(limits))
    return Controls(prompt, lanes, temperature, top_k, top_p, seed, tokens, chat, wish, race)


def _prompt_field(prompt: str, max_chars: int) -> gr.Textbox:
    return gr.Textbox(
        label=label("control.prompt"),
        value=prompt,
        placeholder=label("control.prompt_placeholder"),
        lines=3,
        max_lines=8,
        max_length=max_chars,
        interactive=True,
        elem_id="sv-prompt",
    )


def _chat_switch() -> gr.Checkbox:
    """Make the switch of the chat template, which scripts show where the target has one."""
    return gr.Checkbox(
        label=label("control.chat"),
        info=label("control.chat_about"),
        value=True,
        interactive=True,
        elem_id="sv-chat",
    )


def _sampling_controls(
    first_seed: int, limits: PageLimits
) -> tuple[gr.Slider, gr.Slider, gr.Number]:
    span = spans(limits)
    with gr.Accordion(label("control.more"), open=False, elem_id="sv-more"):
        with gr.Row():
            top_k = make_slider(label("control.top_k"), span["top_k"], 0, "top-k")
            top_p = make_slider(label("control.top_p"), span["top_p"], 1, "top-p")
        low, high, _ = span["seed"]
        seed = gr.Number(
            label=label("control.seed"),
            value=first_seed,
            precision=0,
            minimum=low,
            maximum=high,
            interactive=True,
            elem_id="sv-seed",
        )
    return top_k, top_p, seed


def race_button(text: Any, panel: Panel) -> gr.Button:
    """Make the button that starts a race, reading `text`, and beside it how fast it is shown."""
    with gr.Row(elem_classes="sv-buttons"):
        start = gr.Button(
            text, variant="primary", elem_id=f"sv-{panel}", elem_classes="sv-start", min_width=100
        )
        views.panel_part("speed", panel)
    return start


def make_slider(text: Any, span: Span, value: float, name: str) -> gr.Slider:
    """Make a slider that is labelled `text`."""
    low, high, step = span
    return gr.Slider(
        low,
        high,
        value=value,
        step=step,
        label=text,
        interactive=True,
        min_width=140,
        elem_id=f"sv-{name}",
    )
