"""The look of Gradio's own controls: system fonts, the page's palette, sizes in rem."""

import gradio as gr

from specviz.ui.assets import Palette, read_palette

_SHAPES = {
    "block_background_fill": "transparent",
    "block_background_fill_dark": "transparent",
    "block_border_width": "0px",
    "block_border_width_dark": "0px",
    "block_shadow": "none",
    "block_shadow_dark": "none",
    "block_padding": "0px",
    "block_title_text_weight": "600",
    "input_border_width": "1px",
}
_COLOURS = {
    "body_background_fill": "page",
    "body_text_color": "ink",
    "body_text_color_subdued": "ink-soft",
    "block_label_text_color": "label",
    "block_title_text_color": "label",
    "block_info_text_color": "ink-soft",
    "input_background_fill": "field",
    "input_background_fill_focus": "field",
    "input_border_color": "control-line",
    "input_border_color_focus": "focus",
    "input_placeholder_color": "placeholder",
    "slider_color": "filled",
    "button_primary_background_fill": "accent",
    "button_primary_background_fill_hover": "accent-hover",
    "button_primary_text_color": "accent-ink",
    "button_secondary_background_fill": "button",
    "button_secondary_background_fill_hover": "button-hover",
    "button_secondary_text_color": "label",
    "button_secondary_border_color": "control-line",
    "checkbox_label_background_fill": "field",
    "checkbox_label_background_fill_selected": "accepted-fill",
    "checkbox_label_text_color_selected": "chosen-ink",
    "checkbox_label_border_color": "control-line",
    "checkbox_background_color_selected": "filled",
    "checkbox_border_color": "checkbox-line",
}
"""Gradio's variables and the palette's colours they take, in light and in dark."""

_STEPS = ("50", "100", "200", "300", "400", "500", "600", "700", "800", "900", "950")


def build_theme() -> gr.themes.Base:
    """Return the theme that `launch` is given."""
    palette = read_palette()
    blue = _ramp(palette, "blue")
    theme = gr.themes.Base(
        primary_hue=blue,
        secondary_hue=blue,
        neutral_hue=_ramp(palette, "neutral"),
        text_size=_in_rem(gr.themes.sizes.text_md),
        radius_size=_in_rem(gr.themes.sizes.radius_lg),
        spacing_size=_in_rem(gr.themes.sizes.spacing_md),
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "DejaVu Sans Mono", "monospace"],
    )
    light = {name: palette.light[colour] for name, colour in _COLOURS.items()}
    dark = {f"{name}_dark": palette.dark[colour] for name, colour in _COLOURS.items()}
    return theme.set(**_SHAPES, **light, **dark)


def _ramp(palette: Palette, name: str) -> gr.themes.Color:
    steps = {f"c{step}": palette.light[f"{name}-{step}"] for step in _STEPS}
    return gr.themes.Color(name=f"specviz-{name}", **steps)


def _in_rem(sizes: gr.themes.Size) -> gr.themes.Size:
    """Return Gradio's pixels in units of the root's size, with which the whole page grows."""
    steps = [float(step.removesuffix("px")) / 16 for step in sizes.expand()]
    return gr.themes.Size(*(f"{step:g}rem" for step in steps), name=f"{sizes.name}_rem")
