"""The controls of the race page, and what they read out as."""

from dataclasses import dataclass

import gradio as gr

from specviz.trace import Method
from specviz.ui import views
from specviz.ui.assets import read_examples
from specviz.ui.options import PageOptions, PairOption
from specviz.ui.request_form import MAX_SEED, METHOD_LABELS
from specviz.ui.scenes import Scene


@dataclass(frozen=True, slots=True)
class Controls:
    """Handles of the controls that events are wired to."""

    prompt: gr.Textbox
    target: gr.Dropdown
    method: gr.Radio
    draft: gr.Dropdown
    gamma: gr.Slider
    temperature: gr.Slider
    top_k: gr.Slider
    top_p: gr.Slider
    seed: gr.Number
    max_new_tokens: gr.Slider
    examples: gr.HTML
    race: gr.Button
    stop: gr.Button

    def inputs(self) -> list[gr.Component]:
        """Return the controls in the order of the fields of `FormValues`."""
        return [
            self.prompt,
            self.target,
            self.method,
            self.draft,
            self.gamma,
            self.temperature,
            self.top_k,
            self.top_p,
            self.seed,
            self.max_new_tokens,
        ]


def build_controls(options: PageOptions) -> Controls:
    """Lay out the prompt with its examples and buttons, and the settings beside them."""
    limits, shown = options.limits, options.defaults
    with gr.Row(elem_id="sv-controls", equal_height=False):
        with gr.Column(min_width=300, elem_id="sv-ask"):
            prompt = gr.Textbox(
                label="Prompt",
                value=shown.prompt,
                placeholder="The beginning of a story, of a function, a question …",
                lines=3,
                max_lines=8,
                max_length=limits.max_prompt_chars,
                interactive=True,
                elem_id="sv-prompt",
            )
            examples = views.examples(read_examples(), shown.prompt)
            race, stop = race_buttons("▶ Race", Scene.RACE)
        with gr.Column(min_width=300, elem_id="sv-settings"):
            target, method, draft = _models(options)
            with gr.Row():
                gamma = make_slider(
                    "Draft length γ", (1, limits.max_gamma, 1), shown.gamma, "gamma"
                )
                temperature = make_slider(
                    "Temperature", (0, 2, 0.05), shown.temperature, "temperature"
                )
                most = limits.max_new_tokens
                tokens = make_slider("New tokens", (8, most, 8), shown.max_new_tokens, "tokens")
            top_k, top_p, seed = _sampling_controls(shown.seed)
    return Controls(
        prompt, target, method, draft, gamma, temperature, top_k, top_p, seed, tokens, examples,
        race, stop,
    )  # fmt: skip


def _models(options: PageOptions) -> tuple[gr.Dropdown, gr.Radio, gr.Dropdown]:
    first = options.pairs[0]
    target = gr.Dropdown(
        [pair.target for pair in options.pairs],
        value=first.target,
        label="Target",
        visible=len(options.pairs) > 1,
        interactive=True,
        elem_id="sv-target",
    )
    with gr.Row():
        method = _methods(first)
        draft = _drafts(first)
    return target, method, draft


def _methods(pair: PairOption) -> gr.Radio:
    return gr.Radio(
        [(METHOD_LABELS[method], method.value) for method in pair.methods],
        value=pair.methods[0].value,
        label="Guesses come from",
        interactive=True,
        scale=5,
        min_width=280,
        elem_id="sv-method",
    )


def _drafts(pair: PairOption) -> gr.Dropdown:
    return gr.Dropdown(
        list(pair.drafts),
        value=pair.drafts[0] if pair.drafts else None,
        label="Draft model",
        visible=len(pair.drafts) > 1 and pair.methods[0] is Method.DRAFT_MODEL,
        interactive=True,
        scale=2,
        min_width=130,
        elem_id="sv-draft",
    )


def _sampling_controls(first_seed: int) -> tuple[gr.Slider, gr.Slider, gr.Number]:
    with gr.Accordion("More: top-k, top-p, seed", open=False, elem_id="sv-more"):
        with gr.Row():
            top_k = make_slider("Top-k (0 = off)", (0, 200, 1), 0, "top-k")
            top_p = make_slider("Top-p (1 = off)", (0.05, 1, 0.05), 1, "top-p")
        seed = gr.Number(
            label="Seed",
            value=first_seed,
            precision=0,
            minimum=0,
            maximum=MAX_SEED,
            interactive=True,
            elem_id="sv-seed",
        )
    return top_k, top_p, seed


def race_buttons(text: str, scene: Scene) -> tuple[gr.Button, gr.Button]:
    """Make the button that starts a race, reading `text`, and the one that stops it."""
    with gr.Row(elem_classes="sv-buttons"):
        start = gr.Button(
            text, variant="primary", scale=3, elem_id=f"sv-{scene}", elem_classes="sv-start"
        )
        stop = gr.Button(
            "■ Stop", scale=1, min_width=100, elem_id=f"sv-{scene}-stop", elem_classes="sv-stop"
        )
    return start, stop


def make_slider(label: str, span: tuple[float, float, float], value: float, name: str) -> gr.Slider:
    """Make a slider over (lowest, highest, step)."""
    low, high, step = span
    return gr.Slider(
        low,
        high,
        value=value,
        step=step,
        label=label,
        interactive=True,
        min_width=140,
        elem_id=f"sv-{name}",
    )
