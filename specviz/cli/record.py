"""The command `record`: races the ones that ship with the page, and writes them down as traces."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from specviz.bench.plan import GalleryPrompt, read_gallery
from specviz.bench.repeats import finish_race
from specviz.errors import RequestError
from specviz.models.catalogue import DEFAULT_DRAFT, DEFAULT_TARGET
from specviz.trace import files
from specviz.trace.limits import DEFAULT_BRANCHES, DEFAULT_BUDGET
from specviz.trace.metrics import race_metrics
from specviz.trace.values import LaneSpec, Method, RaceRequest, Sampling, StartRace, Tree

ASSETS = Path(__file__).resolve().parents[2] / "assets"
_ALONE = LaneSpec(None, Method.BASELINE, DEFAULT_TARGET)


def _drafting(draft: str, gamma: int) -> LaneSpec:
    return LaneSpec(None, Method.DRAFT_MODEL, DEFAULT_TARGET, draft, gamma)


@dataclass(frozen=True, slots=True)
class Recording:
    """One race to write down: name of its file, id of its prompt in the gallery, and its lanes."""

    name: str
    prompt: str
    lanes: tuple[LaneSpec, ...]
    sampling: Sampling = field(default_factory=Sampling)
    max_new_tokens: int = 128


RECORDINGS: tuple[Recording, ...] = (
    Recording("1-greedy", "story_a_picnic", (_drafting(DEFAULT_DRAFT, 5),)),
    Recording(
        "2-sampled",
        "story_fox_and_turtle",
        (_drafting(DEFAULT_DRAFT, 5),),
        Sampling(temperature=0.8, seed=3),
    ),
    Recording(
        "3-methods",
        "edit_random_words",
        (
            _drafting(DEFAULT_DRAFT, 5),
            LaneSpec(None, Method.PROMPT_LOOKUP, DEFAULT_TARGET, gamma=8),
            LaneSpec(None, Method.EARLY_EXIT, DEFAULT_TARGET, gamma=4),
        ),
    ),
    Recording("4-slower", "story_yellow_butterfly", (_drafting("specviz-misfit", 5),)),
    Recording(
        "5-dear",
        "translate_words_never_seen",
        (LaneSpec(None, Method.EARLY_EXIT, DEFAULT_TARGET, gamma=8, exit_layer=8),),
        max_new_tokens=64,
    ),
    Recording(
        "6-lengths",
        "story_fox_and_turtle",
        (_drafting(DEFAULT_DRAFT, 16), _drafting(DEFAULT_DRAFT, 4)),
        Sampling(temperature=1.5),
        max_new_tokens=64,
    ),
    Recording(
        "7-tree",
        "story_fox_and_turtle",
        (
            _drafting(DEFAULT_DRAFT, 5),
            replace(
                _drafting(DEFAULT_DRAFT, 5),
                tree=Tree.DYNAMIC,
                branches=DEFAULT_BRANCHES,
                budget=DEFAULT_BUDGET,
            ),
        ),
        max_new_tokens=64,
    ),
)
"""A greedy race, a sampled one with coins, four lanes, a draft that does not pay, guesses that cost
too much, two draft lengths, and a tree beside a chain of its depth. Those that lose are what the
lesson on losing shows."""


def add_record_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("--name", action="append", choices=[recording.name for recording in RECORDINGS])
    add("--out", type=Path, default=ASSETS / "traces", metavar="FOLDER")
    add("--device", default="cpu", metavar="D", help="cpu (default), cuda, …")
    add("--dtype", default="float32", metavar="D", help="float32 (default), …")


def run_record(
    args: Namespace, start_race_on: Callable[[str, str], StartRace], console: Console
) -> int:
    """Race what was asked for, each once, after one race that is thrown away; write the traces.

    Raises:
        RequestError: a prompt is not in the gallery, or a file cannot be written.
    """
    prompts = {prompt.id: prompt for prompt in read_gallery(ASSETS / "prompts")}
    start_race = start_race_on(args.device, args.dtype)
    chosen = [each for each in RECORDINGS if args.name is None or each.name in args.name]
    args.out.mkdir(parents=True, exist_ok=True)
    for recording in chosen:
        request = _request(recording, prompts)
        finish_race(start_race, replace(request, max_new_tokens=16))
        trace = finish_race(start_race, request)
        files.write_trace(trace, args.out / f"{recording.name}.json")
        speedups = ", ".join(f"{each.speedup or 0:.2f}×" for each in race_metrics(trace)[1:])
        console.print(f"{recording.name}: {speedups}", markup=False)
    return 0


def _request(recording: Recording, prompts: dict[str, GalleryPrompt]) -> RaceRequest:
    if recording.prompt not in prompts:
        raise RequestError(f"the gallery has no prompt {recording.prompt!r}")
    text = prompts[recording.prompt].text
    lanes = (_ALONE, *recording.lanes)
    return RaceRequest(text, lanes, recording.sampling, recording.max_new_tokens)
