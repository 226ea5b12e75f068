"""Lets races run one at a time, fairly by who asks, and says how long one will wait.

Races run in the order in which they came, but that the second race of an address waits behind the
first ones of all others, and so on: who sends many waits behind themselves.

The estimate is a sum that anybody can check: the tokens asked for before a race and not written
yet, times the median time that recent races of this server took for each token asked for.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from specviz.trace.values import (
    Event,
    LaneFinished,
    RaceRequest,
    RaceStarted,
    RoundFinished,
    StopReason,
)

NUM_RECENT = 8
"""How many races are recent."""
MAX_OVERTAKEN = 8
"""How often a race may be overtaken, so that many newcomers hold nobody up for good."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """How a race in the queue stands."""

    position: int
    """From 1: the race that runs next."""
    num_tokens: int
    """Asked for by the races before it, in all lanes, and not written yet."""
    token_ms: float | None
    """What a token took; None where no race of this server has written one."""
    num_races: int
    """How many recent races `token_ms` is the median of; 0 where it is the running one's so far."""
    held_seconds: float | None
    """How much longer the race that runs may be held at most; None where it is not held."""

    @property
    def seconds(self) -> float | None:
        """How long the race will wait, at most where one is held; None where nothing is known."""
        if self.token_ms is None:
            return None
        return self.num_tokens * self.token_ms / 1000 + (self.held_seconds or 0.0)


class Place:
    """One race's place in the queue, from joining it to the race's end."""

    def __init__(
        self, queue: "RaceQueue", tokens: Sequence[int], owner: str | None, turn: int
    ) -> None:
        self._queue = queue
        self.owner = owner
        """The address whose race it is; None where nobody's turn is counted."""
        self.turn = turn
        """How many races of the same owner were before it when it came."""
        self.num_overtaken = 0
        self._tokens_left = list(tokens)
        self._num_asked = sum(self._tokens_left)
        self._started_at: float | None = None
        self._held = 0.0
        self._may_hold: float | None = None
        self.num_wakes_seen = 0
        """How many wakes of the queue this place has looked up for."""

    def wait_for_turn(self, seconds: float) -> bool:
        """Wait until the race may run; False where that took longer than `seconds`.

        A wake since the last call ends the wait at once: what woke may have come between the two.
        """
        return self._queue.wait(self, seconds)

    def outlook(self) -> Outlook | None:
        """Say how the race stands among those before it; None where its turn has just come."""
        return self._queue.outlook(self)

    def others_wait(self) -> bool:
        """Whether another race waits for this one to end."""
        return self._queue.has_behind(self)

    def note(self, event: Event) -> None:
        """Count what the race has written; a lane that ended writes nothing more."""
        match event:
            case RaceStarted():
                self._started_at = self._queue.clock()
            case RoundFinished():
                left = self._tokens_left[event.lane] - len(event.round.emitted)
                self._tokens_left[event.lane] = max(0, left)
            case LaneFinished() if event.stop_reason is not StopReason.CANCELLED:
                self._tokens_left[event.lane] = 0

    def hold(self, seconds: float) -> None:
        """Note that the race is held, and for how much longer at most."""
        self._may_hold = seconds

    def release(self) -> None:
        """Note that the race goes on."""
        self._may_hold = None

    def extend(self, held: float) -> None:
        """Leave seconds in which the race was held out of what it took."""
        self._held += held

    @property
    def num_left(self) -> int:
        """Tokens asked for and not written yet, in all lanes."""
        return sum(self._tokens_left)

    @property
    def held_seconds(self) -> float | None:
        """How much longer the race may be held at most; None where it is not held."""
        return self._may_hold

    def token_ms(self) -> float | None:
        """What each token asked for took so far; None before the first."""
        num_done = self._num_asked - self.num_left
        if self._started_at is None or num_done == 0:
            return None
        return 1000 * (self._queue.clock() - self._started_at - self._held) / num_done


class RaceQueue:
    """All races that run or wait, from pages and programs alike, the one that runs first."""

    def __init__(self, max_waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._max_waiting = max_waiting
        self._places: list[Place] = []
        self._recent: deque[float] = deque(maxlen=NUM_RECENT)
        self._changed = threading.Condition()
        self._num_wakes = 0

    def join(self, request: RaceRequest, owner: str | None = None) -> Place | None:
        """Take a place, which must be left again; None where the queue is full.

        It is the last one for who has races here already, or where no owner is named.
        """
        return self._join([request.max_new_tokens for _ in request.lanes], owner)

    def join_work(self, num_tokens: int) -> Place | None:
        """Take the last place for work that takes about as long as so many tokens; as `join`."""
        return self._join([num_tokens], None)

    def leave(self, place: Place) -> None:
        """Give a place up, and keep what the race took if it has run."""
        with self._changed:
            took = place.token_ms()
            if took is not None:
                self._recent.append(took)
            self._places.remove(place)
            self._changed.notify_all()

    def _join(self, tokens: Sequence[int], owner: str | None) -> Place | None:
        with self._changed:
            if len(self._places) > self._max_waiting:
                return None
            turn = sum(each.owner == owner for each in self._places)
            place = Place(self, tokens, owner, turn)
            place.num_wakes_seen = self._num_wakes
            index = len(self._places) if owner is None else self._fair_index(turn)
            for overtaken in self._places[index:]:
                overtaken.num_overtaken += 1
            self._places.insert(index, place)
            return place

    def _fair_index(self, turn: int) -> int:
        """Where a race comes in: before later turns of others, never before the one that runs."""
        index = len(self._places)
        while index > 1:
            before = self._places[index - 1]
            is_passed = before.owner is not None and before.turn > turn
            if not is_passed or before.num_overtaken >= MAX_OVERTAKEN:
                break
            index -= 1
        return index

    def wake(self) -> None:
        """Let all who wait look again, for instance because one of them was stopped."""
        with self._changed:
            self._num_wakes += 1
            self._changed.notify_all()

    def wait(self, place: Place, seconds: float) -> bool:
        """Wait until it is a place's turn or something changes; gives whether it is its turn."""
        with self._changed:
            if self._places[0] is not place and place.num_wakes_seen == self._num_wakes:
                self._changed.wait(seconds)
            place.num_wakes_seen = self._num_wakes
            return self._places[0] is place

    def has_behind(self, place: Place) -> bool:
        """Whether somebody waits behind a place."""
        with self._changed:
            return self._places[-1] is not place

    def outlook(self, place: Place) -> Outlook | None:
        """Say how a place that waits stands; None where its turn has just come."""
        with self._changed:
            before = self._places[: self._places.index(place)]
            if not before:
                return None
            running = before[0]
            token_ms = median(self._recent) if self._recent else running.token_ms()
            return Outlook(
                len(before),
                sum(each.num_left for each in before),
                token_ms,
                len(self._recent),
                running.held_seconds,
            )
