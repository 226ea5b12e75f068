"""What a page offers of the model hub: pairs of a catalogue, ids of a visitor's own, or nothing.

A pair can be raced once somebody has looked at it: the report says what it takes before anything
large is downloaded, and a pair against which nothing speaks joins the menu of all visitors.
"""

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from specviz.texts import Text
from specviz.ui.pair_option import PairOption, join_options
from specviz.ui.request_values import read_integer, shown
from specviz.ui.strings import PageError

HUB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9][A-Za-z0-9_.-]{0,95}")
MAX_LOOKS = 2
"""How many pairs are looked at side by side: each asks the hub and builds models as shapes."""
LONGEST_WAIT_SECONDS = 30.0


class HubAccess(StrEnum):
    """What of the hub a page may use."""

    OFF = "off"
    CATALOGUE = "catalogue"
    ANY = "any"
    """The catalogue, and every id that a visitor names."""


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A number that somebody published about a pair, or about one like it."""

    figure: str
    """`alpha`, `speedup` or `tau`."""
    value: float
    setting: str
    source: str


@dataclass(frozen=True, slots=True)
class HubPairOption:
    """A pair of the catalogue, as far as a table can know it."""

    target: str
    draft: str | None
    """None for a target with a head, or one that guesses by layers of its own."""
    exits: tuple[int, ...]
    num_parameters: tuple[int, ...]
    """Of the target, and of the draft or head where there is one and somebody has counted."""
    stored_bytes: int
    """Weights of both as the hub stores them."""
    licences: tuple[str, ...]
    is_gated: bool
    story: Mapping[str, str]
    """What is worth knowing of the pair, by language."""
    published: tuple[PublishedFigure, ...]
    is_checked: bool
    """Whether somebody held the entry against the models' pages."""
    head: str | None = None
    """An EAGLE-3 head in the place of a draft."""


@dataclass(frozen=True, slots=True)
class PairAsked:
    """A pair that somebody wants to race, and how."""

    target: str
    draft: str | None
    prompt: str
    max_new_tokens: int
    gamma: int
    head: str | None = None
    """An EAGLE-3 head in the place of a draft."""


@dataclass(frozen=True, slots=True)
class PairLook:
    """What was found of a pair before it is downloaded."""

    findings: tuple[tuple[str, Text], ...]
    """Each with what it means for the pair: `ok`, `warn` or `refuse`."""
    download_bytes: int
    option: PairOption | None
    """What a race of this pair may choose from; None where something speaks against it."""


LookAtPair = Callable[[PairAsked], PairLook]
"""Reads what the hub says of a pair; it may take a while, and raises no SpecvizError for what can
be found of a pair."""


class HubOffer:
    """The catalogue, what of the hub may be used, and the pairs that were looked at."""

    def __init__(
        self,
        pairs: tuple[HubPairOption, ...],
        access: HubAccess,
        look: LookAtPair,
        *,
        takes_sign_in: bool = False,
    ) -> None:
        self.pairs = pairs
        self.access = access
        self.takes_sign_in = takes_sign_in
        """Whether visitors may sign in to the hub, for gated models."""
        self._look = look
        self._known: dict[str, PairOption] = {}
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(MAX_LOOKS)

    def look(self, asked: PairAsked) -> PairLook:
        """Look at a pair; one against which nothing speaks is offered from then on.

        Raises:
            PageError: The page does not offer this pair, or too many are looked at just now.
        """
        self._check_offered(asked)
        if not self._turns.acquire(timeout=LONGEST_WAIT_SECONDS):
            raise PageError("error.hub_busy")
        try:
            found = self._look(asked)
        finally:
            self._turns.release()
        if found.option is None:
            return found
        return replace(found, option=self._add(found.option))

    def option(self, target: str) -> PairOption | None:
        """Return what was found for a target; None where nobody has looked at it yet."""
        return self._known.get(target)

    def refusal(self, target: str) -> PageError | None:
        """Say why a target that nobody has looked at cannot be raced; None where it is no id."""
        if HUB_ID.fullmatch(target) is None:
            return None
        if self.access is HubAccess.OFF:
            return PageError("error.hub_off", found=target)
        if self._is_listed(target):
            return PageError("error.hub_not_looked", found=target)
        return PageError("error.hub_not_listed", found=target)

    def _is_listed(self, target: str) -> bool:
        return self.access is HubAccess.ANY or any(pair.target == target for pair in self.pairs)

    def _check_offered(self, asked: PairAsked) -> None:
        for name in (asked.target, asked.draft, asked.head):
            if name is not None and HUB_ID.fullmatch(name) is None:
                raise PageError("error.hub_id", found=shown(name))
        if self.access is HubAccess.OFF:
            raise PageError("error.hub_off", found=asked.target)
        wanted = (asked.target, asked.draft, asked.head)
        is_listed = any((x.target, x.draft, x.head) == wanted for x in self.pairs)
        if self.access is HubAccess.CATALOGUE and not is_listed:
            raise PageError("error.hub_not_listed", found=asked.target)

    def _add(self, option: PairOption) -> PairOption:
        """Join a pair with what is known of its target; the newest draft comes first."""
        with self._lock:
            known = self._known.get(option.target)
            joined = option if known is None else join_options(option, known)
            self._known[option.target] = joined
            return joined


def read_pair(
    target: object,
    draft: object,
    prompt: object,
    tokens: object,
    gamma: object,
    limits: tuple[int, int, int],
    head: object = None,
) -> PairAsked:
    """Read what a page sent about a pair; `limits` are those of prompt, new tokens and γ.

    Raises:
        PageError: A value is of the wrong kind or beyond its limit.
    """
    max_chars, max_tokens, max_gamma = limits
    if not isinstance(target, str):
        raise PageError("error.hub_id", found=shown(target))
    for name in (draft, head):
        if not isinstance(name, str | None):
            raise PageError("error.hub_id", found=shown(name))
    assert isinstance(draft, str | None)
    assert isinstance(head, str | None)
    if draft is not None and head is not None:
        raise PageError("error.wrong_call")
    if not isinstance(prompt, str) or len(prompt) > max_chars:
        raise PageError("error.wrong_call")
    return PairAsked(
        target=target,
        draft=draft,
        prompt=prompt,
        max_new_tokens=read_integer(tokens, "max_new_tokens", 1, max_tokens),
        gamma=read_integer(gamma, "gamma", 1, max_gamma),
        head=head,
    )
