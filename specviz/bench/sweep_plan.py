"""What a sweep is asked for: ways to draft, each at its draft lengths, on prompts of a suite."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from specviz.bench.plan import GalleryPrompt
from specviz.errors import RequestError
from specviz.texts import message
from specviz.trace.names import short_name
from specviz.trace.values import LaneSpec, Method, Sampling, Schedule, Tree

DEFAULT_MAX_NEW_TOKENS = 64
MAX_LANES = 24
"""Ways to draft in one sweep."""


@dataclass(frozen=True, slots=True)
class SweepLane:
    """One way to draft, at one temperature and several draft lengths."""

    draft: str
    """What tables call it: the draft model, or the method where there is none; unique."""
    spec: LaneSpec
    """What it runs; its gamma is that of each race."""
    gammas: tuple[int, ...]
    """Rising."""
    temperature: float = 0.0

    @property
    def coarse_gammas(self) -> tuple[int, ...]:
        """The draft lengths to begin with: every second one, and both ends.

        Example: of 1 to 10 these are 1, 3, 5, 7, 10.
        """
        return tuple(sorted({self.gammas[0], *self.gammas[:-2:2], self.gammas[-1]}))


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What to measure; two plans that are equal measure the same."""

    target: str
    lanes: tuple[SweepLane, ...]
    prompts: tuple[GalleryPrompt, ...]
    max_new_tokens: int = DEFAULT_MAX_NEW_TOKENS
    seed: int = 0
    uses_chat: bool = True

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of the prompts, in the order in which they come."""
        return tuple(dict.fromkeys(prompt.group for prompt in self.prompts))

    @property
    def temperatures(self) -> tuple[float, ...]:
        """The temperatures of the lanes, each once."""
        return tuple(dict.fromkeys(lane.temperature for lane in self.lanes))

    def sampling(self, temperature: float) -> Sampling:
        """Give the law of the races at a temperature."""
        return Sampling(temperature=temperature, seed=self.seed)

    def prompt_turns(self) -> tuple[tuple[GalleryPrompt, ...], ...]:
        """Divide the prompts into turns with one of each category, so that a sweep that ends early
        has seen all of them."""
        columns = [
            [prompt for prompt in self.prompts if prompt.group == category]
            for category in self.categories
        ]
        return tuple(
            tuple(prompt for prompt in turn if prompt is not None) for turn in zip_longest(*columns)
        )


def make_lanes(
    wanted: Iterable[tuple[LaneSpec, Sequence[int]]], temperatures: Sequence[float] = (0.0,)
) -> tuple[SweepLane, ...]:
    """Make the lanes of a sweep: every way to draft at every temperature, each with its own name.

    Args:
        wanted: Drafting lanes of one target, each with its draft lengths; the gamma of the lane
            itself is not looked at, and those that are otherwise the same are joined. A name that
            somebody gave is taken.

    Raises:
        RequestError: Nothing to measure, more than 24 lanes, or two of one name.
    """
    gammas: dict[LaneSpec, set[int]] = {}
    for spec, lengths in wanted:
        gammas.setdefault(replace(spec, gamma=0), set()).update(lengths)
    names = {spec: spec.name or _name(spec, gammas) for spec in gammas}
    laws = tuple(dict.fromkeys(temperatures))
    lanes = tuple(
        SweepLane(
            draft=names[spec] if len(laws) == 1 else f"{names[spec]} T={temperature:g}",
            spec=spec,
            gammas=tuple(sorted(lengths)),
            temperature=temperature,
        )
        for spec, lengths in gammas.items()
        for temperature in laws
    )
    if not 1 <= len(lanes) <= MAX_LANES:
        raise RequestError(message("sweep.num_lanes", most=MAX_LANES, found=len(lanes)))
    drafts = [lane.draft for lane in lanes]
    if len(set(drafts)) < len(drafts):
        raise RequestError(message("refusal.same_names", found=", ".join(drafts)))
    return lanes


def _name(spec: LaneSpec, specs: Iterable[LaneSpec]) -> str:
    """Name a way to draft by its draft model or method, by what else it differs in, by who chooses
    its draft lengths, and by its tree: "specviz-small dynamic 4x24"."""
    name = _name_of_draft(spec, specs)
    if spec.tree is not Tree.NONE:
        return f"{name} {spec.tree} {spec.branches}x{spec.budget}"
    return name if spec.schedule is Schedule.FIXED else f"{name} {spec.schedule}"


def _name_of_draft(spec: LaneSpec, specs: Iterable[LaneSpec]) -> str:
    if spec.method is Method.DRAFT_MODEL:
        translation = f" {spec.translation}" if spec.translation else ""
        return f"{short_name(spec.draft or '?')}{translation}"
    if spec.method is Method.EAGLE3:
        reading = f" {spec.head_reading}" if spec.head_reading else ""
        return f"{spec.method} {short_name(spec.head or '?')}{reading}"
    if spec.method is Method.EARLY_EXIT and spec.exit_layer is not None:
        return f"{spec.method} {spec.exit_layer}"
    matches = {other.max_ngram for other in specs if other.method is spec.method}
    if spec.method is Method.PROMPT_LOOKUP and len(matches) > 1:
        return f"{spec.method} {spec.max_ngram}"
    return str(spec.method)
