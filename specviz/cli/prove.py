"""The command `prove`: does a lane write what its target would?

Above temperature 0 by statistics over many continuations of one prompt, at temperature 0 token by
token over the gallery. Exit status 0 where they are consistent, 1 where they differ.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.bench.greedy_suite import GreedyText, compare_greedy
from specviz.bench.plan import GalleryPrompt, read_gallery
from specviz.cli.race_report import one_line
from specviz.errors import RequestError
from specviz.trace.names import lane_names
from specviz.trace.proofs import (
    DEFAULT_SAMPLES,
    LEVEL,
    CheckName,
    Finding,
    Proof,
    ProofProgress,
    ProofRequest,
    StartProof,
)
from specviz.trace.values import RaceRequest, Rule, StartRace
from specviz.trace.verdict import Agreement

PROMPTS_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "prompts"
DEFAULT_PROMPT_ID = "story_fox_and_turtle"
"""Its next token is open, so that one position already says much."""
FALSE_ALARMS = 0.05
"""Share of several seeds that may be called different before the lane is."""
_CHECKS = {
    CheckName.NEXT_TOKEN: "next token",
    CheckName.CONTINUATION: "whole continuation",
    CheckName.FAVOURED: "tokens that the draft favours, by position",
    CheckName.PROBABILITY: "probability under the target, by position",
}


def add_prove_options(parser: ArgumentParser) -> None:
    """Add the options that other commands do not have."""
    add = parser.add_argument
    rules = "by which rule the lane keeps its drafts; all but the first are wrong"
    add("--rule", choices=[str(rule) for rule in Rule], help=rules)
    samples = "continuations to write (default %(default)s)"
    add("--samples", type=int, default=DEFAULT_SAMPLES, metavar="N", help=samples)
    seeds = "repeat with N seeds, from --seed on, and count how many say different"
    add("--seeds", type=int, default=1, metavar="N", help=seeds)
    prompts = "text to go on from (default: one of the gallery; at temperature 0 all of it)"
    add("--prompt", metavar="TEXT", help=prompts)


def run_prove(
    args: Namespace,
    request: RaceRequest,
    start_race: Callable[[], StartRace],
    start_proof: Callable[[], StartProof],
    console: Console,
) -> tuple[int, dict[str, Any]]:
    """Prove, print a report unless JSON was asked for, and return exit status and JSON.

    Args:
        request: The race of the options: the baseline and one lane.

    Raises:
        RequestError: More lanes than one, or what a race or proof refuses.
    """
    if len(request.lanes) != 2:
        raise RequestError(
            f"prove holds one lane against its target, got {len(request.lanes) - 1}; "
            "prove them one by one"
        )
    if args.seeds < 1:
        raise RequestError(f"--seeds must be 1 or more, got {args.seeds}")
    lane = request.lanes[1]
    if lane.flipped_coins:
        raise RequestError("a proof throws its coins as they fall; leave flipped_coins out")
    if args.rule is not None:
        lane = replace(lane, rule=Rule(args.rule))
    request = replace(request, lanes=(request.lanes[0], lane))
    shared = {"lane": lane_names(request.lanes)[1], "rule": str(lane.rule)}
    show = None if args.json else console
    if request.sampling.temperature == 0:
        texts = _compared(start_race(), request, _prompts(args))
        status, content = _greedy(texts, show)
    else:
        proofs = _proved(start_proof(), args, _proof_request(args, request))
        status, content = _sampled(proofs, show)
    return status, content | shared | {"temperature": request.sampling.temperature}


def _prompts(args: Namespace) -> tuple[GalleryPrompt, ...]:
    if args.prompt is not None:
        return (GalleryPrompt("own", "own", args.prompt),)
    return read_gallery(PROMPTS_FOLDER)


def _proof_request(args: Namespace, request: RaceRequest) -> ProofRequest:
    prompt = args.prompt
    if prompt is None:
        gallery = {prompt.id: prompt.text for prompt in read_gallery(PROMPTS_FOLDER)}
        prompt = gallery[DEFAULT_PROMPT_ID]
    return ProofRequest(prompt, request.lanes[1], request.sampling, args.samples, request.uses_chat)


def _proved(start: StartProof, args: Namespace, request: ProofRequest) -> Iterator[Proof]:
    seed = request.sampling.seed
    for number in range(args.seeds):
        sampling = replace(request.sampling, seed=seed + number)
        for event in start(replace(request, sampling=sampling)):
            if isinstance(event, ProofProgress):
                _tell(f"seed {seed + number}: {event.num_done} of {event.num_samples}")
            elif isinstance(event, Proof):
                _tell("")
                yield event


def _compared(
    start_race: StartRace, request: RaceRequest, prompts: Sequence[GalleryPrompt]
) -> Iterator[GreedyText]:
    for text in compare_greedy(start_race, request, prompts):
        _tell(f"{text.prompt}: {text.verdict.agreement}")
        yield text
    _tell("")


def _tell(text: str) -> None:
    """Say how far it is; one line that is written over."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def _sampled(proofs: Iterator[Proof], console: Console | None) -> tuple[int, dict[str, Any]]:
    found: list[Proof] = []
    for proof in proofs:
        found.append(proof)
        if console is not None:
            _print_proof(console, proof, is_first=len(found) == 1)
    num_different = sum(proof.finding is Finding.DIFFERENT for proof in found)
    is_different = num_different > FALSE_ALARMS * len(found)
    first = found[0]
    content: dict[str, Any] = {
        "verdict": str(Finding.DIFFERENT if is_different else Finding.CONSISTENT),
        "p_value": first.p_value,
        "total_variation": first.last.total_variation,
        "bound": first.last.bound,
        "samples": first.last.num_done,
        "level": LEVEL,
        "tokens": first.num_tokens,
        "checks": [asdict(check) for check in first.checks],
        "next_token": [asdict(bar) for bar in first.last.bars],
        "seconds": first.seconds,
    }
    if len(found) > 1:
        runs = [_run(proof) for proof in found]
        content |= {"num_different": num_different, "runs": runs}
        if console is not None:
            console.print(f"{num_different} of {len(found)} seeds: different")
    return int(is_different), content


def _run(proof: Proof) -> dict[str, Any]:
    return {
        "seed": proof.request.sampling.seed,
        "verdict": str(proof.finding),
        "p_value": proof.p_value,
        "total_variation": proof.last.total_variation,
        "seconds": proof.seconds,
    }


def _print_proof(console: Console, proof: Proof, *, is_first: bool) -> None:
    last = proof.last
    if is_first:
        table = Table(title="next token", title_justify="left", box=None, padding=(0, 1))
        for name in ("", "law", "target alone", "lane"):
            table.add_column(name, justify="right" if name else "left")
        for bar in last.bars:
            shares = (bar.target_prob, bar.num_alone / last.num_done, bar.num_lane / last.num_done)
            table.add_row(Text(repr(one_line(bar.text))), *(f"{share:.3f}" for share in shares))
        console.print(table)
        for check in proof.checks:
            about = f"χ² {check.statistic:.1f}, {check.degrees} degrees, p = {check.p_value:.2g}"
            console.print(f"{_CHECKS[check.name]}: {about}", markup=False)
    style = "bold red" if proof.finding is Finding.DIFFERENT else "bold green"
    text = Text(str(proof.finding), style=style)
    text.append(
        f": p = {proof.p_value:.2g} over {last.num_done} continuations of up to "
        f"{proof.num_tokens} tokens; total variation {last.total_variation:.3f} of at most "
        f"{last.bound:.3f}; seed {proof.request.sampling.seed}, {proof.seconds:.0f} s",
        style="",
    )
    console.print(text)


def _greedy(texts: Iterator[GreedyText], console: Console | None) -> tuple[int, dict[str, Any]]:
    found = list(texts)
    groups = {
        agreement: [text for text in found if text.verdict.agreement is agreement]
        for agreement in Agreement
    }
    is_different = bool(groups[Agreement.DIVERGENT])
    if console is not None:
        for text in found:
            if text.verdict.agreement is not Agreement.IDENTICAL:
                console.print(_told(text), markup=False)
        counts = [f"{len(members)} {agreement}" for agreement, members in groups.items()]
        console.print(f"{len(found)} texts: {', '.join(counts)}")
    return int(is_different), {
        "verdict": str(Finding.DIFFERENT if is_different else Finding.CONSISTENT),
        "p_value": None,
        "total_variation": None,
        "bound": None,
        "samples": len(found),
        "tokens": sum(text.verdict.num_compared for text in found),
        "identical": len(groups[Agreement.IDENTICAL]),
        "near_ties": [_place(text) for text in groups[Agreement.NEAR_TIE]],
        "divergent": [_place(text) for text in groups[Agreement.DIVERGENT]],
    }


def _place(text: GreedyText) -> dict[str, Any]:
    first, margin = text.verdict.first_difference, text.verdict.margin
    return {"prompt": text.prompt, "position": first, "margin": margin}


def _told(text: GreedyText) -> str:
    verdict = text.verdict
    assert verdict.first_difference is not None
    margin = "" if verdict.margin is None else f" (margin {verdict.margin:.1e})"
    return f"{text.prompt}: {verdict.agreement} at token {verdict.first_difference + 1}{margin}"
