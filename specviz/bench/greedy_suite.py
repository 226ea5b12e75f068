"""Compares a lane's greedy texts with the baseline's, token by token, over many prompts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from specviz.bench.plan import GalleryPrompt
from specviz.bench.repeats import finish_race
from specviz.errors import DecodingError
from specviz.trace.values import RaceRequest, StartRace
from specviz.trace.verdict import Verdict, race_verdicts


@dataclass(frozen=True, slots=True)
class GreedyText:
    """One prompt, and how the lane's text behind it compares with the baseline's."""

    prompt: str
    """Its id in the gallery."""
    verdict: Verdict
    tokens: tuple[str, ...]
    """Text of each token that the lane wrote."""
    tokens_alone: tuple[str, ...]
    """Of each that the target alone wrote."""


def compare_greedy(
    start_race: StartRace, request: RaceRequest, prompts: Iterable[GalleryPrompt]
) -> Iterator[GreedyText]:
    """Race the request's first two lanes at temperature 0 behind each prompt.

    Raises:
        DecodingError: A lane failed, or there was nothing to compare.
    """
    request = replace(request, lanes=request.lanes[:2], record_top=False)
    for prompt in prompts:
        trace = finish_race(start_race, replace(request, prompt=prompt.text))
        if failed := [lane.error for lane in trace.lanes if lane.error is not None]:
            raise DecodingError(failed[0])
        verdict = race_verdicts(trace)[1]
        if verdict is None:
            raise DecodingError(f"nothing to compare behind the prompt {prompt.id!r}")
        alone, lane = (tuple(token.text for token in each.emitted) for each in trace.lanes)
        yield GreedyText(prompt.id, verdict, lane, alone)
