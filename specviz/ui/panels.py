"""The panels of the page: where races run, each with lanes, figures and a status strip of its own.

A packet names the panel of its race, so that one bus feeds them all and none shows another's race.
"""

from enum import StrEnum


class Panel(StrEnum):
    """A place of the page where races run."""

    RACE = "race"
    COMPARE = "compare"
