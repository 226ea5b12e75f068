"""The look of Gradio's own controls: system fonts, and colours of enough contrast in both modes."""

import gradio as gr

_INK = gr.themes.Color(
    name="ink",
    c50="#f7f9fc",
    c100="#eef2f7",
    c200="#dde4ed",
    c300="#c3cedb",
    c400="#93a3b8",
    c500="#64748b",
    c600="#475569",
    c700="#334155",
    c800="#1e293b",
    c900="#111a2e",
    c950="#0b1220",
)
_BLUE = gr.themes.Color(
    name="deep-blue",
    c50="#eef6fc",
    c100="#d3e8f8",
    c200="#a8d1f0",
    c300="#9fd3ff",
    c400="#5fb0ee",
    c500="#1473bd",
    c600="#00528f",
    c700="#004478",
    c800="#123f63",
    c900="#0c2e49",
    c950="#081f33",
)

_SURFACES = {
    "body_background_fill": "#f4f6fa",
    "body_background_fill_dark": "#0a101d",
    "block_background_fill": "transparent",
    "block_background_fill_dark": "transparent",
    "block_border_width": "0px",
    "block_border_width_dark": "0px",
    "block_shadow": "none",
    "block_shadow_dark": "none",
    "block_padding": "0px",
}
_TEXTS = {
    "body_text_color": "#111a2e",
    "body_text_color_dark": "#f1f5f9",
    "body_text_color_subdued": "#475569",
    "body_text_color_subdued_dark": "#a9b7ca",
    "block_label_text_color": "#334155",
    "block_label_text_color_dark": "#dde4ed",
    "block_title_text_color": "#1e293b",
    "block_title_text_color_dark": "#eef2f7",
    "block_title_text_weight": "600",
    "block_info_text_color": "#475569",
    "block_info_text_color_dark": "#a9b7ca",
}
_INPUTS = {
    "input_background_fill": "#ffffff",
    "input_background_fill_dark": "#0d1526",
    "input_background_fill_focus": "#ffffff",
    "input_background_fill_focus_dark": "#0d1526",
    "input_border_color": "#8494a9",
    "input_border_color_dark": "#5b6b82",
    "input_border_color_focus": "#00528f",
    "input_border_color_focus_dark": "#9fd3ff",
    "input_border_width": "1px",
    "input_placeholder_color": "#5b6b82",
    "input_placeholder_color_dark": "#93a3b8",
    "slider_color": "#00528f",
    "slider_color_dark": "#5fb0ee",
}
_BUTTONS = {
    "button_primary_background_fill": "#00528f",
    "button_primary_background_fill_hover": "#003f70",
    "button_primary_background_fill_dark": "#9fd3ff",
    "button_primary_background_fill_hover_dark": "#c3e3ff",
    "button_primary_text_color": "#ffffff",
    "button_primary_text_color_dark": "#081f33",
    "button_secondary_background_fill": "#ffffff",
    "button_secondary_background_fill_hover": "#eef2f7",
    "button_secondary_background_fill_dark": "#1a2438",
    "button_secondary_background_fill_hover_dark": "#263349",
    "button_secondary_text_color": "#1e293b",
    "button_secondary_text_color_dark": "#f1f5f9",
    "button_secondary_border_color": "#8494a9",
    "button_secondary_border_color_dark": "#5b6b82",
}
_CHOICES = {
    "checkbox_label_background_fill": "#ffffff",
    "checkbox_label_background_fill_dark": "#0d1526",
    "checkbox_label_background_fill_selected": "#d3e8f8",
    "checkbox_label_background_fill_selected_dark": "#123f63",
    "checkbox_label_text_color_selected": "#003f70",
    "checkbox_label_text_color_selected_dark": "#d3ebff",
    "checkbox_label_border_color": "#8494a9",
    "checkbox_label_border_color_dark": "#5b6b82",
    "checkbox_background_color_selected": "#00528f",
    "checkbox_background_color_selected_dark": "#5fb0ee",
    "checkbox_border_color": "#64748b",
    "checkbox_border_color_dark": "#93a3b8",
}


def build_theme() -> gr.themes.Base:
    """Return the theme that `launch` is given."""
    theme = gr.themes.Base(
        primary_hue=_BLUE,
        secondary_hue=_BLUE,
        neutral_hue=_INK,
        text_size=_in_rem(gr.themes.sizes.text_md),
        radius_size=_in_rem(gr.themes.sizes.radius_lg),
        spacing_size=_in_rem(gr.themes.sizes.spacing_md),
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "DejaVu Sans Mono", "monospace"],
    )
    return theme.set(**_SURFACES, **_TEXTS, **_INPUTS, **_BUTTONS, **_CHOICES)


def _in_rem(sizes: gr.themes.Size) -> gr.themes.Size:
    """Return Gradio's pixels in units of the root's size, with which the whole page grows."""
    steps = [float(step.removesuffix("px")) / 16 for step in sizes.expand()]
    return gr.themes.Size(*(f"{step:g}rem" for step in steps), name=f"{sizes.name}_rem")
