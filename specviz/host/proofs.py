"""Gives the page proofs as long work: by draws, or at temperature 0 by texts of the gallery."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from specviz.bench.greedy_suite import GreedyText, compare_greedy
from specviz.bench.plan import read_gallery
from specviz.race.validation import check_request
from specviz.trace.proofs import LEVEL, MIN_SAMPLES, Finding, Proof, ProofRequest, StartProof
from specviz.trace.telltale import find_telltale
from specviz.trace.typed_json import encode
from specviz.trace.values import FetchModels, ModelLoading, RaceRequest, StartRace
from specviz.trace.verdict import Agreement
from specviz.ui.assets import PROMPTS_FOLDER
from specviz.ui.options import PageOptions
from specviz.ui.page_tasks import ReadWork, Work
from specviz.ui.request_form import build_request
from specviz.ui.request_values import read_integer, read_mapping
from specviz.ui.turns import Turns

TURN_TOKENS = 250
"""As many written tokens take about as long as one turn of a proof."""
GREEDY_TOKENS = 48
"""Tokens of each text that is compared at temperature 0."""
_KEYS = {"prompt", "lane", "sampling", "samples", "uses_chat"}

News = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProofParts:
    """What proofs of a page are run by."""

    start_race: StartRace
    start_proof: StartProof
    fetch_models: FetchModels


def make_read_proof(parts: ProofParts, options: PageOptions) -> ReadWork:
    """Make what reads the form of a proof: `prompt`, `lane`, `sampling`, `samples`, `uses_chat`.

    Its news are objects with a `kind`: `begun` (what is proved), `loading` (a model), `progress` (a
    `ProofProgress`), `proof` (what was found, and the bar that shows it), or at temperature 0
    `text` (a `GreedyText`) and `greedy` (what was found).
    """

    def read(form: Any) -> Work:
        fields = read_mapping(form, "proof", _KEYS)
        most = options.limits.max_proof_samples
        samples = read_integer(fields.get("samples"), "samples", MIN_SAMPLES, most)
        race = build_request(
            fields.get("prompt"),
            [fields.get("lane")],
            fields.get("sampling"),
            GREEDY_TOKENS,
            options,
            uses_chat=fields.get("uses_chat", True),
        )
        check_request(race)

        def work(turns: Turns) -> Iterator[News]:
            yield _begun(race)
            # Nobody waits for files of the hub but this proof.
            for event in parts.fetch_models(race, turns.should_stop):
                yield {"kind": "loading", "model": event.model}
            if race.sampling.temperature == 0:
                yield from _greedy(parts.start_race, race, turns)
            else:
                yield from _sampled(parts.start_proof, race, samples, turns)

        return work

    return read


def _begun(race: RaceRequest) -> News:
    lane = race.lanes[1]
    is_greedy = race.sampling.temperature == 0
    return {
        "kind": "begun",
        "rule": str(lane.rule),
        "is_greedy": is_greedy,
        "num_tokens": lane.gamma + 2,
    }


def _sampled(start: StartProof, race: RaceRequest, samples: int, turns: Turns) -> Iterator[News]:
    request = ProofRequest(race.prompt, race.lanes[1], race.sampling, samples, race.uses_chat)
    events = start(request, turns.should_stop)
    while True:
        with turns.take(TURN_TOKENS):
            event = next(events, None)
        if event is None:
            return
        if isinstance(event, ModelLoading):
            yield {"kind": "loading", "model": event.model}
        elif isinstance(event, Proof):
            yield {"kind": "progress", **encode(event.last)}
            yield _verdict(event)
        else:
            yield {"kind": "progress", **encode(event)}


def _verdict(proof: Proof) -> News:
    telltale = find_telltale(proof.last)
    return {
        "kind": "proof",
        "finding": str(proof.finding),
        "p_value": proof.p_value,
        "level": LEVEL,
        "num_tokens": proof.num_tokens,
        "num_done": proof.last.num_done,
        "seconds": proof.seconds,
        "telltale": None if telltale is None else encode(telltale),
    }


def _greedy(start_race: StartRace, race: RaceRequest, turns: Turns) -> Iterator[News]:
    """Compare behind every prompt of the gallery; the visitor's own one comes first."""
    prompts = read_gallery(PROMPTS_FOLDER)
    own = [each for each in prompts if each.text == race.prompt]
    if not own:
        own = [replace(prompts[0], group="own", id="own", text=race.prompt)]
    ordered = [*own, *(each for each in prompts if each not in own)]
    found: list[GreedyText] = []
    for text in compare_greedy(turns.racing(start_race), race, ordered):
        found.append(text)
        yield {"kind": "text", "num_texts": len(ordered), **encode(text)}
    is_different = any(each.verdict.agreement is Agreement.DIVERGENT for each in found)
    yield {
        "kind": "greedy",
        "finding": str(Finding.DIFFERENT if is_different else Finding.CONSISTENT),
        "num_texts": len(found),
        "num_tokens": sum(each.verdict.num_compared for each in found),
        "counts": {
            str(agreement): sum(each.verdict.agreement is agreement for each in found)
            for agreement in Agreement
        },
    }
