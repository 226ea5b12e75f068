"""The places of the page where races run, each with lanes, figures and a status strip of its own.

A packet names the scene of its race, so that one bus feeds them all and none shows another's race.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum


class Scene(StrEnum):
    """A place of the page where races run."""

    RACE = "race"
    COMPARE = "compare"


@dataclass(frozen=True, slots=True)
class WaitingLane:
    """What a lane shows before its first race."""

    name: str
    about: str
    hint: str
    plain: bool = False
    """Whether it is the target alone."""


_ALONE = WaitingLane(
    "target alone",
    "one token a pass",
    "The target model writes here by itself: every token costs one pass through it.",
    plain=True,
)
WAITING_LANES: dict[Scene, tuple[WaitingLane, ...]] = {
    Scene.RACE: (
        _ALONE,
        WaitingLane(
            "target + guesses",
            "several tokens a pass, where the guesses are good",
            "The same target writes here with help. Something cheap guesses the next γ tokens, the "
            "target checks all of them in one pass, keeps the first ones that fit, and puts its "
            "own token after them. The text stays the target’s own; only the number of passes "
            "changes.",
        ),
    ),
    Scene.COMPARE: (
        _ALONE,
        WaitingLane(
            "before fitting",
            "the draft as it was",
            "The draft as it was guesses for the target here. Where it was never taught what this "
            "target writes, most guesses are thrown away.",
        ),
        WaitingLane(
            "after fitting",
            "the same draft, fitted to the target",
            "The same draft guesses here after it was fitted: same size, same cost of a guess. "
            "What is faster now is faster because more guesses are kept.",
        ),
    ),
}
IDLE_TEXTS: dict[Scene, str] = {
    Scene.RACE: "Press Race: the target alone and the target with guesses start together.",
    Scene.COMPARE: "Choose a held-out prompt and race the draft before and after fitting.",
}


def waiting_lanes(scene: Scene) -> list[dict[str, object]]:
    """Return the lanes of a scene before its first race, as plain values for the browser."""
    return [asdict(lane) for lane in WAITING_LANES[scene]]
