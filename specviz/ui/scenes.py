"""The places of the page where races run, each with lanes, figures and a status strip of its own.

A packet names the scene of its race, so that one bus feeds them all and none shows another's race.
"""

from enum import StrEnum

from specviz.ui.strings import message
from specviz.ui.view_models import Item


class Scene(StrEnum):
    """A place of the page where races run."""

    RACE = "race"
    COMPARE = "compare"


WAITING_LANES: dict[Scene, tuple[str, ...]] = {
    Scene.RACE: ("alone", "guesses"),
    Scene.COMPARE: ("alone", "before", "after"),
}
"""Lanes before their first race; the texts are `waiting.KEY`, `waiting.KEY_about` and `_hint`."""


def waiting_lanes(scene: Scene) -> list[Item]:
    """Return the lanes of a scene before its first race, as plain values for the browser."""
    return [
        {
            "name": message(f"waiting.{key}"),
            "about": message(f"waiting.{key}_about"),
            "hint": message(f"waiting.{key}_hint"),
            "plain": key == "alone",
        }
        for key in WAITING_LANES[scene]
    ]
