"""The controls of the Compare tab."""

from dataclasses import dataclass

import gradio as gr

from specviz.ui import views
from specviz.ui.controls import make_slider, race_button
from specviz.ui.fitted_view import fitted_views
from specviz.ui.options import PageOptions
from specviz.ui.panels import Panel
from specviz.ui.settings_data import spans
from specviz.ui.strings import label


@dataclass(frozen=True, slots=True)
class CompareControls:
    """Handles of the controls that events are wired to."""

    choice: gr.HTML
    gamma: gr.Slider
    temperature: gr.Slider
    race: gr.Button

    def inputs(self) -> list[gr.Component]:
        """Return the controls in the order of the fields of `CompareValues`."""
        return [self.choice, self.gamma, self.temperature]


def build_compare_controls(options: PageOptions) -> CompareControls:
    """Lay out what fitting brought, and below it what its race needs."""
    shown, span = options.defaults, spans(options.limits)
    choice = views.choice(
        "fitted", "0:0", fitted_views(options) | {"plotly": views.plotly_address()}
    )
    with gr.Row(elem_id="sv-compare-controls", equal_height=False, visible=may_have_fits(options)):
        with gr.Column(scale=3, min_width=280, elem_id="sv-compare-settings"), gr.Row():
            gamma = make_slider(label("compare.gamma"), span["gamma"], shown.gamma, "compare-gamma")
            temperature = make_slider(
                label("compare.temperature"),
                span["temperature"],
                shown.temperature,
                "compare-temperature",
            )
        with gr.Column(scale=2, min_width=280):
            race = race_button(label("compare.race"), Panel.COMPARE)
    return CompareControls(choice, gamma, temperature, race)


def may_have_fits(options: PageOptions) -> bool:
    """Whether there is, or may be while the page is open, a fitted draft to race; the page's script
    hides what is for races as long as there is none."""
    return bool(options.fitted) or options.limits.allows_fits
