"""What a fit brought, as the `fit.json` beside the draft's weights (specviz/trace/fits.py)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specviz.distill.agreement import pool
from specviz.distill.request import FitRequest, command_of
from specviz.distill.texts import Text
from specviz.distill.training_run import TrainingState
from specviz.models.catalogue import listed_name
from specviz.trace.fits import FIT_FILE, FORMAT, Fit, FitScore, HeldOutPrompt
from specviz.trace.typed_json import encode


@dataclass(frozen=True, slots=True)
class Written:
    """What the target wrote, and in how many seconds."""

    learned: list[Text]
    held_out: list[Text]
    """Those that judge."""
    watched: list[Text]
    """Held-out texts too, by which the best weights are chosen."""
    num_texts: int
    """Texts after each prompt to learn from."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Trained:
    """How the draft agreed with each held-out text before and after, and what training took."""

    before: list[FitScore]
    after: list[FitScore]
    state: TrainingState
    num_steps: int
    """For which learning was planned, though it may have ended before."""
    best_step: int
    """The weights of which are kept."""


def build_fit(
    request: FitRequest, held_out: Sequence[str], written: Written, trained: Trained
) -> Fit:
    """Put together what is reported; a text names its prompt by its index in `held_out`."""
    num_learned = len({text.prompt for text in written.learned})
    return Fit(
        target=listed_name(request.target) or request.target,
        draft_before=request.draft and (listed_name(request.draft) or request.draft),
        made_by=command_of(request, written.num_texts, trained.num_steps),
        num_prompts=num_learned + len(written.held_out),
        num_held_out=len(written.held_out),
        num_tokens_written=sum(text.num_written for text in written.learned),
        num_tokens_trained=trained.state.tokens,
        seconds=round(written.seconds + trained.state.seconds, 1),
        before=pool(trained.before),
        after=pool(trained.after),
        held_out=tuple(
            HeldOutPrompt(held_out[text.prompt], before.alpha, after.alpha, after.num_tokens)
            for text, before, after in zip(
                written.held_out, trained.before, trained.after, strict=True
            )
        ),
    )


def write_fit(fit: Fit, folder: Path) -> None:
    """Write the report beside the weights."""
    content = {"format": FORMAT, **encode(fit)}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (folder / FIT_FILE).write_text(f"{text}\n", encoding="utf-8")
