"""One file holds every colour, and what is written can be read on what it stands on."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from specviz.ui import theme
from specviz.ui.assets import CSS_FOLDER, PALETTE, read_palette

PALETTES = {"light": read_palette().light, "dark": read_palette().dark}
TEXT = 4.5
"""WCAG 2.2, 1.4.3 (AA), for texts of any size."""
MARK = 3.0
"""WCAG 2.2, 1.4.11 (AA), for the outlines of controls and for marks."""

GROUNDS = ("surface", "surface-soft", "page")
ON_ANY_GROUND = ("ink", "ink-soft", "accent", "good", "bad", "discarded-ink", "rejected-ink")
TEXTS = [
    *((ink, ground) for ink in ON_ANY_GROUND for ground in GROUNDS),
    ("plain-ink", "surface"),
    ("accepted-ink", "accepted-fill"),
    ("chosen-ink", "accepted-fill"),
    ("correction-ink", "correction-fill"),
    ("bonus-ink", "bonus-fill"),
    ("warn-ink", "warn-fill"),
    ("ink", "round-fill"),
    ("ink-soft", "round-fill"),
    ("surface", "accent"),
    ("surface", "good"),
    ("surface", "target"),
    ("accent-ink", "accent"),
    ("accent-ink", "accent-hover"),
    ("label", "surface"),
    ("label", "button"),
    ("label", "button-hover"),
    ("ink", "field"),
    ("placeholder", "field"),
]
MARKS = [
    (mark, "surface")
    for mark in ("focus", "draft", "target", "residual", "filled", "checkbox-line", "control-line")
] + [(f"lane-{lane}", "surface") for lane in range(4)]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(palette: Mapping[str, str], ink: str, fill: str) -> float:
    darker, lighter = sorted(luminance(palette[name]) for name in (ink, fill))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_measured_as_the_standard_does() -> None:
    assert contrast({"ink": "#000000", "fill": "#ffffff"}, "ink", "fill") == pytest.approx(21)
    assert contrast({"ink": "#767676", "fill": "#ffffff"}, "ink", "fill") == pytest.approx(
        4.54, abs=0.005
    )


@pytest.mark.parametrize("mode", PALETTES)
@pytest.mark.parametrize(
    ("ink", "fill", "least"),
    [(*pair, TEXT) for pair in TEXTS] + [(*pair, MARK) for pair in MARKS],
)
def test_what_is_written_can_be_read(ink: str, fill: str, least: float, mode: str) -> None:
    assert contrast(PALETTES[mode], ink, fill) >= least


def test_dark_mode_changes_every_colour_but_the_steps_and_one_ink() -> None:
    light, dark = PALETTES["light"], PALETTES["dark"]
    kept = {name for name in light if light[name] == dark[name]}
    assert {name for name in kept if not re.fullmatch(r"(blue|neutral)-\d+", name)} == {
        "correction-ink"
    }


def test_no_other_file_names_a_colour() -> None:
    colour = re.compile(r"#[0-9a-fA-F]{3,8}\b(?![^;{}]*\{)")
    files = [sheet for sheet in CSS_FOLDER.glob("*.css") if sheet != PALETTE]
    for file in [*files, Path(theme.__file__)]:
        assert colour.findall(file.read_text(encoding="utf-8")) == [], file.name


def test_gradio_gets_the_palette_in_both_modes() -> None:
    built = theme.build_theme()
    assert built.body_text_color == PALETTES["light"]["ink"]
    assert built.body_text_color_dark == PALETTES["dark"]["ink"]
    assert built.primary_600 == PALETTES["light"]["blue-600"]
