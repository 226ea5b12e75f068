"""The command `distill`: fits a draft to a target, and says what that brought."""

import shlex
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.cli.fit_display import FitDisplay
from specviz.cli.gentle_end import GentleEnd
from specviz.cli.race_report import one_line
from specviz.distill.fit_news import FitNews
from specviz.distill.head_report import HEAD_FILE
from specviz.distill.request import (
    MINUTES,
    NEW_SIZES,
    NEW_TOKENS,
    FitRequest,
    check_fit_request,
    short_name,
)
from specviz.models.catalogue import FITTED_FOLDER, FITTED_PREFIX, fitted_places
from specviz.trace.fits import FIT_FILE, Fit, HeldOutPrompt

if TYPE_CHECKING:
    from specviz.distill.head_report import HeadFit

MAX_PROMPTS_SHOWN = 12
PROMPT_WIDTH = 48
NOT_WRITTEN = (
    "Fitting did not help: α on the held-out prompts is no higher than before, so nothing was "
    "written and the draft stays as it was. Give more prompts, or more --minutes."
)


def add_distill_options(parser: ArgumentParser) -> None:
    """Add what `distill` takes."""
    add = parser.add_argument
    add("--target", required=True, metavar="ID", help="shipped name, folder or hub id")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--draft", metavar="ID", help="the draft to begin with, likewise")
    sizes = ", ".join(NEW_SIZES)
    head = "train a head on the target's own states instead, which `race --lane head=…` takes"
    which.add_argument("--head", choices=("eagle3",), help=head)
    which.add_argument("--new", choices=NEW_SIZES, metavar="SIZE", help=f"a new draft: {sizes}")
    prompts = "text with one prompt a line (\\n is a line break), or .jsonl with prompt or turns"
    add("--prompts", required=True, type=Path, metavar="FILE", help=prompts)
    held_out = "prompts to judge by (default: a fifth of --prompts, never trained on)"
    add("--held-out", type=Path, metavar="FILE", help=held_out)
    add("--out", type=Path, metavar="DIR", help="default: fitted/DRAFT-for-TARGET, which is listed")
    minutes = f"time for writing and training (default {MINUTES:g})"
    add("--minutes", type=float, default=MINUTES, metavar="M", help=minutes)
    add("--texts", type=int, metavar="N", help="texts after each prompt, instead of by time")
    add("--steps", type=int, metavar="N", help="training steps, instead of by time")
    length = "longest text that the target writes (default %(default)s)"
    add("--new-tokens", type=int, default=NEW_TOKENS, metavar="N", help=length)
    add("--chat", action="store_true", help="put the target's chat template around prompts")
    add("--seed", type=int, default=0, metavar="N", help="default 0")
    add("--device", default="cpu", metavar="D", help="cpu (default), cuda, cuda:1, mps, …")
    dtype = "of the target; the draft is trained in float32 (default float32)"
    add("--dtype", default="float32", metavar="D", help=dtype)
    add("--threads", type=int, metavar="N", help="processor threads (default: all cores)")
    add("--keep-work", action="store_true", help="keep what the target wrote and the checkpoint")


def run_distill(args: Namespace, console: Console) -> int:
    """Fit a draft, print what that brought, and return the exit status: 1 where it did not help.

    Raises: SpecvizError for what cannot be fitted.
    """
    request = build_fit_request(args)
    check_fit_request(request)
    # Imported here, so that help and refusals do not wait for torch.
    from transformers.utils import logging

    from specviz.distill.fit_draft import fit_draft
    from specviz.distill.fit_head import fit_head

    logging.disable_progress_bar()
    try:
        with FitDisplay(request, console) as display, GentleEnd() as end:

            def note(news: FitNews) -> None:
                display.note(news)
                end.look()

            if request.head is not None:
                head = fit_head(request, note)
            else:
                outcome = fit_draft(request, note)
    except KeyboardInterrupt:
        console.print(Text("What was done is kept: the same command goes on from here."))
        raise
    if request.head is not None:
        _print_head_fit(console, head, request)
        return 0
    print_fit(console, outcome.fit, request.folder if outcome.has_helped else None)
    return 0 if outcome.has_helped else 1


def build_fit_request(args: Namespace) -> FitRequest:
    """Build the request; without `--out` the folder is named after draft and target."""
    draft = short_name(args.draft) if args.draft else args.head or f"new-{args.new}"
    own_name = "-for-".join(name.split("/")[-1] for name in (draft, short_name(args.target)))
    return FitRequest(
        target=args.target,
        draft=args.draft,
        new_size=args.new,
        prompts_file=args.prompts,
        held_out_file=args.held_out,
        folder=args.out or FITTED_FOLDER / own_name,
        new_tokens=args.new_tokens,
        num_texts=args.texts,
        num_steps=args.steps,
        minutes=args.minutes,
        seed=args.seed,
        uses_chat=args.chat,
        device=args.device,
        dtype=args.dtype,
        num_threads=args.threads,
        keeps_work=args.keep_work,
        head=args.head,
    )


def _print_head_fit(console: Console, fit: "HeadFit", request: FitRequest) -> None:
    """Print what a head comes to, and how it races."""
    shares = ", ".join(f"{share:.3f}" for share in fit.agreement)
    lines = [
        f"On {fit.num_tokens:,} held-out tokens the head's first choice is the target's own, 1 to "
        f"{len(fit.agreement)} tokens ahead and on its own states from the second on: {shares}.",
        f"A round of {len(fit.agreement)} guesses would bring {fit.tau:.2f} tokens at temperature "
        f"0; the weights of step {fit.best_step} of {fit.num_steps} did best on other texts.",
        f"It drafts {fit.draft_vocab_size:,} of the target's tokens with "
        f"{fit.num_parameters / 1e6:.2f}M weights; learning from {fit.num_tokens_written:,} tokens "
        f"took {_duration(fit.seconds)}.",
        f"Written to {request.folder}, with all of this in {HEAD_FILE}; "
        f"{request.folder / 'speculators'} holds it as vLLM's speculators read it. "
        f"{_where_listed(request.folder)} Try:",
    ]
    for line in lines:
        console.print(Text(line))
    head = _listed_as(request.folder) or request.folder
    lane = f"method=eagle3,head={head},gamma=5"
    words = ["python", "-m", "specviz", "race", "--target", short_name(request.target)]
    console.print(Text(f"  {shlex.join([*words, '--lane', lane, '--prompt', 'Once upon a time'])}"))


def print_fit(console: Console, fit: Fit, folder: Path | None) -> None:
    """Print before and after, in all and prompt by prompt, and what to try next.

    Args:
        folder: Where the draft was written; None where fitting did not help.
    """
    console.print()
    console.print(_table(fit))
    num_better = sum(row.alpha_after > row.alpha_before for row in fit.held_out)
    lines = [
        f"α rose on {num_better} of {fit.num_held_out} held-out prompts. α is the mean of "
        "Σ min(p, q), the chance that a sampled guess is kept.",
        f"The target wrote {fit.num_tokens_written:,} tokens to learn from; the draft was trained "
        f"on {fit.num_tokens_trained:,} in all; that took {_duration(fit.seconds)}.",
    ]
    if folder is None:
        lines.append(NOT_WRITTEN)
    else:
        lines.append(
            f"Written to {folder}, with all of this in {FIT_FILE}. {_where_listed(folder)}"
        )
        lines.append("Try:")
    for line in lines:
        console.print(Text(line))
    if folder is not None:
        console.print(Text(f"  {_next_command(fit, folder)}"), soft_wrap=True)


def _table(fit: Fit) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column("held-out prompt")
    for name in ("tokens", "before", "after", "change"):
        table.add_column(name, justify="right")
    before, after = fit.before, fit.after
    for label, old, new in (
        ("all: α", before.alpha, after.alpha),
        ("all: same first choice", before.greedy, after.greedy),
    ):
        table.add_row(label, str(after.num_tokens), *_change(old, new), style="bold")
    for row in fit.held_out[:MAX_PROMPTS_SHOWN]:
        table.add_row(_short(row), str(row.num_tokens), *_change(row.alpha_before, row.alpha_after))
    num_more = len(fit.held_out) - MAX_PROMPTS_SHOWN
    if num_more > 0:
        table.add_row(Text(f"… and {num_more} more in {FIT_FILE}", style="dim"))
    return table


def _change(before: float, after: float) -> tuple[str, str, str]:
    return f"{before:.3f}", f"{after:.3f}", f"{after - before:+.3f}"


def _short(row: HeldOutPrompt) -> Text:
    text = one_line(row.prompt)
    return Text(text if len(text) <= PROMPT_WIDTH else f"{text[: PROMPT_WIDTH - 1]}…")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _where_listed(folder: Path) -> str:
    if _listed_as(folder):
        return "The app lists it from its next start."
    return "The app lists drafts and heads in fitted/ and in the folder that SPECVIZ_MODELS names."


def _listed_as(folder: Path) -> str | None:
    places = [place.resolve() for place in fitted_places()]
    folder = folder.resolve()
    return f"{FITTED_PREFIX}{folder.name}" if folder.parent in places else None


def _next_command(fit: Fit, folder: Path) -> str:
    on_one_line = [row for row in fit.held_out if row.prompt.isprintable()] or fit.held_out
    best = max(on_one_line, key=lambda row: row.alpha_after - row.alpha_before)
    words = ["python", "-m", "specviz", "race", "--target", fit.target]
    words += ["--draft", _listed_as(folder) or str(folder), "--prompt", best.prompt]
    if fit.draft_before is not None:
        words += ["--lane", f"name=before,draft={fit.draft_before}", "--lane", "name=after"]
    return shlex.join(words)
