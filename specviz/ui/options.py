"""What a page is built from: the models it offers, where they run, and the limits it enforces."""

from dataclasses import dataclass, field

from specviz.texts import Text
from specviz.trace.fits import FittedDraft
from specviz.trace.limits import MAX_GAMMA, MAX_LANES
from specviz.trace.reading import Reading
from specviz.ui.hub_offer import HubOffer
from specviz.ui.new_fits import NewFits
from specviz.ui.pair_option import PairOption, join_options


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What one visitor may ask for; enforced on the server, whatever the browser sends.

    Where it names no limit, those of `specviz.trace.limits` hold.
    """

    max_prompt_chars: int = 2_000
    max_new_tokens: int = 192
    max_gamma: int = MAX_GAMMA
    max_lanes: int = MAX_LANES
    max_temperature: float = 2.0
    max_top_k: int = 1_000
    max_seed: int = 2**31 - 1
    """What every browser's number fields take."""
    max_lane_name_chars: int = 60
    deadline_seconds: float = 60.0
    pause_seconds: float = 600.0
    """How long a race may be held between its rounds, in all, before it is ended."""
    queued_pause_seconds: float = 30.0
    """How long a race may be held while others wait, in all, before it is run to its end."""
    max_trace_chars: int = 4_000_000
    """Longest trace file that the page opens."""
    max_trace_guesses: int = 64
    """Most guesses that a round of such a file may hold."""
    max_export_bytes: int = 2_000_000
    """Largest page of a race in one file that is sent to a browser."""
    queue_size: int = 32
    """How many races may wait; each that does keeps one of Gradio's 40 threads."""
    max_tasks: int = 4
    """How many pages may have long work done at once, such as a sweep."""
    max_proof_samples: int = 5_000
    """Most continuations of one proof."""
    allows_fits: bool = True
    """Whether visitors may fit drafts, which are written to this machine's disk."""
    max_fit_minutes: float = 30.0
    max_fit_prompts: int = 500
    max_sweep_lanes: int = 9
    """Ways to draft in one sweep."""
    max_sweep_minutes: float = 60.0
    max_sweep_prompts: int = 500
    max_sweep_chars: int = 8_000_000
    """Longest file of prompts, or of a saved sweep, that the page opens."""
    takes_own_prompts: bool = True
    """Whether a sweep may race other prompts than the gallery's."""
    max_downloads: int = 4
    """How many visitors may wait for downloads at once; each keeps one of those threads too."""


@dataclass(frozen=True, slots=True)
class PageDefaults:
    """What the controls show before anyone touches them."""

    prompt: str = (
        "Once upon a time, there was a quick little fox named Leo who lived in a big forest. "
        "He could run very fast. One day, Leo met a"
    )
    """One of the examples, so that its hint is there from the start."""
    gamma: int = 4
    temperature: float = 0.0
    max_new_tokens: int = 128
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Everything `build_page` needs besides the race itself; `pairs` holds at least one pair."""

    pairs: tuple[PairOption, ...]
    device: str
    """Where races run, as shown to the visitor."""
    dtype: str
    limits: PageLimits = PageLimits()
    defaults: PageDefaults = PageDefaults()
    fitted: tuple[FittedDraft, ...] = ()
    """Drafts that were fitted to a target; those that can race are among its pair's drafts too."""
    fit_problems: tuple[Text, ...] = ()
    """One sentence for each fitted draft that was left out."""
    hub: HubOffer | None = None
    """What is offered of the hub; None where the page does not speak of it."""
    new_fits: NewFits = field(default_factory=NewFits, compare=False)
    """Drafts that visitors fit while the page is open; they are offered too."""

    @property
    def takes_sign_in(self) -> bool:
        """Whether visitors may sign in to the hub."""
        return self.hub is not None and self.hub.takes_sign_in

    @property
    def all_fitted(self) -> tuple[FittedDraft, ...]:
        """Every fitted draft, those of this page's visitors last."""
        return (*self.fitted, *self.new_fits.drafts)

    @property
    def readings(self) -> dict[str, Reading]:
        """What the targets have read of which it is known, by their names."""
        return {pair.target: pair.reading for pair in self.pairs if pair.reading}

    @property
    def taught(self) -> PairOption:
        """The pair that the lessons race: the first of which it is known what it has read."""
        return next((pair for pair in self.pairs if pair.reading is not None), self.pairs[0])

    def pair(self, target: str) -> PairOption | None:
        """Return the pair with this target, or None where the page does not offer it.

        Pairs of the hub that somebody has looked at are offered too, and drafts fitted meanwhile.
        """
        offered = next((pair for pair in self.pairs if pair.target == target), None)
        found = None if self.hub is None else self.hub.option(target)
        pair = offered or found
        if offered is not None and found is not None:
            pair = join_options(found, offered)
        return pair and self.new_fits.added_to(pair)
