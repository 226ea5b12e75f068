"""One file holds every colour, and what is written can be read on what it stands on."""

import itertools
import math
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

LANES = tuple(f"lane-{index}" for index in range(4))
TAKEN = (
    *("accepted-ink", "accepted-fill", "rejected-ink", "discarded-ink", "correction-fill"),
    *("bonus-fill", "draft", "target", "residual"),
)
"""Colours that mean a fate, or one of the laws p, q and residual."""
APART, APART_FOR_THE_COLOUR_BLIND, LANES_APART = 10, 6, 12
"""Least distances in OKLab, whose L is taken from 0 to 100; about 2 can just be seen."""
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
] + [(lane, ground) for lane in LANES for ground in GROUNDS]


def linear(colour: str) -> tuple[float, float, float]:
    """The light of each channel, from 0 to 1."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return red, green, blue


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(palette: Mapping[str, str], ink: str, fill: str) -> float:
    darker, lighter = sorted(luminance(palette[name]) for name in (ink, fill))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_measured_as_the_standard_does() -> None:
    assert contrast({"ink": "#000000", "fill": "#ffffff"}, "ink", "fill") == pytest.approx(21)
    assert contrast({"ink": "#767676", "fill": "#ffffff"}, "ink", "fill") == pytest.approx(
        4.54, abs=0.005
    )


Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]
SEEN_BY: dict[str, Matrix] = {
    "most": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB."""
TO_LMS: Matrix = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
TO_OKLAB: Matrix = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
"""Ottosson 2020, from linear RGB by cube roots."""


def _times(matrix: Matrix, values: Triple) -> Triple:
    first, second, third = (
        sum(factor * value for factor, value in zip(row, values, strict=True)) for row in matrix
    )
    return first, second, third


def oklab(colour: str, eyes: str) -> Triple:
    """A colour in OKLab, as those eyes see it."""
    red, green, blue = (min(1.0, max(0.0, each)) for each in _times(SEEN_BY[eyes], linear(colour)))
    long, middle, short = _times(TO_LMS, (red, green, blue))
    lightness, a, b = _times(TO_OKLAB, (math.cbrt(long), math.cbrt(middle), math.cbrt(short)))
    return 100 * lightness, 100 * a, 100 * b


def distance(one: str, other: str, eyes: str = "most") -> float:
    return math.dist(oklab(one, eyes), oklab(other, eyes))


def test_distances_are_those_of_oklab_and_shrink_for_the_colour_blind() -> None:
    assert distance("#ffffff", "#000000") == pytest.approx(100, abs=0.01)
    assert distance("#ff0000", "#00ff00") == pytest.approx(51.98, abs=0.05)
    assert distance("#ff0000", "#00ff00", "deuteranopia") < 30
    assert distance("#b8770a", "#5a8a00", "protanopia") < 8 < distance("#b8770a", "#5a8a00")


@pytest.mark.parametrize("mode", PALETTES)
@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("lane", LANES)
def test_a_lane_has_no_colour_that_means_something_else(lane: str, taken: str, mode: str) -> None:
    one, other = PALETTES[mode][lane], PALETTES[mode][taken]
    assert distance(one, other) >= APART
    for eyes in SEEN_BY:
        assert distance(one, other, eyes) >= APART_FOR_THE_COLOUR_BLIND, eyes


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize("mode", PALETTES)
def test_all_eyes_tell_lanes_apart(mode: str, eyes: str) -> None:
    for one, other in itertools.combinations(LANES, 2):
        far = distance(PALETTES[mode][one], PALETTES[mode][other], eyes)
        assert far >= LANES_APART, (one, other)


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
