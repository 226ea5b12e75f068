"""Drafts that were fitted while the page is open: they join its menu without a new start."""

import threading
from dataclasses import replace

from specviz.trace.fits import FittedDraft
from specviz.trace.values import Method
from specviz.ui.pair_option import PairOption


class NewFits:
    """Keeps them in the order in which they were made; any thread may add one."""

    def __init__(self) -> None:
        self._drafts: tuple[FittedDraft, ...] = ()
        self._lock = threading.Lock()

    @property
    def drafts(self) -> tuple[FittedDraft, ...]:
        """All of them, the oldest first."""
        return self._drafts

    def add(self, draft: FittedDraft) -> None:
        """Offer one more."""
        with self._lock:
            self._drafts = (*self._drafts, draft)

    def added_to(self, pair: PairOption) -> PairOption:
        """Give a pair with the drafts that were fitted to its target."""
        names = [each.name for each in self._drafts if each.fit.target == pair.target]
        if not names:
            return pair
        return replace(
            pair,
            drafts=tuple(dict.fromkeys((*pair.drafts, *names))),
            methods=tuple(dict.fromkeys((*pair.methods, Method.DRAFT_MODEL))),
        )
