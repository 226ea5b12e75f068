"""What a page is built from: the models it offers, where they run, and the limits it enforces."""

from dataclasses import dataclass, field

from specviz.texts import Text
from specviz.trace.fits import FittedDraft
from specviz.trace.reading import Reading
from specviz.ui.hub_offer import HubOffer
from specviz.ui.new_fits import NewFits
from specviz.ui.page_limits import LOCAL, PageLimits
from specviz.ui.pair_option import PairOption, join_options


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
    limits: PageLimits = LOCAL
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
