"""Fits a draft to a target, from names and prompts to a folder that is a better draft.

The target writes after the prompts, the draft is trained towards its laws where it wrote, and both
are compared before and after on what the target writes after prompts that were held out. Positions
of the prompts themselves are not trained on: a draft never guesses them. The last weights are kept,
not those that did best on the held-out prompts, for then these would no longer judge fairly.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from rich import get_console

from specviz.distill.agreement import measure_texts, pool
from specviz.distill.batches import TextBatches
from specviz.distill.draft_training import DraftTraining, Schedule
from specviz.distill.folder import (
    WORK,
    digest_of,
    open_work,
    publish,
    stored_dtype,
    write_model,
)
from specviz.distill.model_reader import ModelReader, TargetReader
from specviz.distill.new_draft import build_new_draft
from specviz.distill.optimizers import optimizers_for_draft
from specviz.distill.prompts import MIN_HELD_OUT, read_prompts, split_prompts
from specviz.distill.report import Trained, Written, build_fit, write_fit
from specviz.distill.request import FitRequest, check_fit_request
from specviz.distill.texts import (
    Job,
    SharedLimits,
    Text,
    encode_prompts,
    plan_held_out,
    plan_jobs,
    shared_limits,
)
from specviz.distill.training_run import TrainingState
from specviz.distill.writing import Writer, write_jobs
from specviz.models.compatibility import check_pair, check_rollback
from specviz.models.loading import LoadedModel, ModelPool
from specviz.trace.fits import Fit, FitScore

WRITING_SHARE = 0.45
TRAINING_SHARE = 0.45
"""Of the minutes; the rest goes by with reading and judging."""
TEXTS_FORM = 2
"""Unfinished work of another one is not taken up."""
FIRST_TEXTS = 2
"""Texts after each prompt that are timed, to know how many more there is time for."""


def fit_draft(request: FitRequest, tell: Callable[[str], None]) -> Fit:
    """Fit the draft, going on with an interrupted fit, and return what it brought.

    Args:
        tell: Takes a sentence on what was found or is done.

    Raises:
        RequestError: A value, the prompts or the folder cannot be used.
        ModelLoadError: A model cannot be loaded.
        IncompatibleModelError: The two models do not belong together.
    """
    check_fit_request(request)
    if request.num_threads is not None:
        torch.set_num_threads(request.num_threads)
    held_out_file = request.held_out_file
    learned, held_out = split_prompts(
        read_prompts(request.prompts_file),
        read_prompts(held_out_file, MIN_HELD_OUT) if held_out_file else (),
    )
    target = ModelPool(request.device, request.dtype).get(request.target)
    check_rollback(target)
    draft = _load_draft(request, target)
    limits = shared_limits(target, draft)
    tell(
        f"Fitting {request.draft_name} to {request.target}: {len(learned)} prompts to learn from, "
        f"{len(held_out)} held out, which are never trained on."
    )
    if open_work(request.folder, _plan(request, target, draft, learned, held_out)):
        tell(f"Going on with the fit that {request.folder / WORK} holds.")
    written = _let_write(request, target, limits, (learned, held_out), tell)
    model, trained = _train(request, target, draft, limits, written, tell)
    fit = build_fit(request, held_out, written, trained)
    write_fit(fit, model)
    publish(request.folder, model, keeps_work=request.keeps_work)
    return fit


def _load_draft(request: FitRequest, target: LoadedModel) -> LoadedModel:
    if request.draft is None:
        return build_new_draft(target, str(request.new_size), request.seed)
    # A pool of its own: these weights are going to be changed.
    draft = ModelPool(request.device, "float32").get(request.draft)
    check_rollback(draft)
    check_pair(target, draft)
    return draft


def _plan(
    request: FitRequest,
    target: LoadedModel,
    draft: LoadedModel,
    learned: Sequence[str],
    held_out: Sequence[str],
) -> dict[str, Any]:
    def digest(prompts: Sequence[str]) -> str:
        return hashlib.sha1(json.dumps(list(prompts)).encode()).hexdigest()[:16]

    return {
        "target": digest_of(target.model),
        "draft": digest_of(draft.model),
        "prompts": digest(learned),
        "held-out prompts": digest(held_out),
        "--new-tokens": request.new_tokens,
        "--texts": request.num_texts,
        "--steps": request.num_steps,
        "--minutes": request.minutes,
        "--seed": request.seed,
        "--chat": request.uses_chat,
        "--dtype": request.dtype,
        "form of texts on disk": TEXTS_FORM,
    }


def _let_write(
    request: FitRequest,
    target: LoadedModel,
    limits: SharedLimits,
    prompts: tuple[Sequence[str], Sequence[str]],
    tell: Callable[[str], None],
) -> Written:
    learned, held_out = (
        encode_prompts(part, target, limits, uses_chat=request.uses_chat) for part in prompts
    )
    if left_out := sum(map(len, prompts)) - len(learned) - len(held_out):
        tell(f"{left_out} prompts are left out: no room in a context of {limits.context}.")

    writer = Writer(target.model, limits.vocab_size, target.eos_ids)

    def write(jobs: list[Job], number: int, title: str) -> tuple[list[Text], float]:
        folder, seed = request.folder / WORK / f"texts-{number}", 3 * request.seed + number
        return write_jobs(writer, jobs, seed, folder, title)

    length, context = request.new_tokens, limits.context
    judged, judged_seconds = write(plan_held_out(held_out, length, context), 0, "held out")
    first = range(min(FIRST_TEXTS, request.num_texts or FIRST_TEXTS))
    texts, seconds = write(plan_jobs(learned, first, length, context), 1, "writing")
    allowed = 60 * request.minutes * WRITING_SHARE / max(seconds / len(first), 1e-3)
    num_texts = request.num_texts or max(len(first), int(allowed))
    more = plan_jobs(learned, range(len(first), num_texts), length, context)
    others, other_seconds = write(more, 2, "writing more")
    return Written(texts + others, judged, num_texts, judged_seconds + seconds + other_seconds)


def _train(
    request: FitRequest,
    target: LoadedModel,
    draft: LoadedModel,
    limits: SharedLimits,
    written: Written,
    tell: Callable[[str], None],
) -> tuple[Path, Trained]:
    """Train, and write the model into the work folder."""
    theirs = ModelReader(target.model, limits.vocab_size)
    held_out = TargetReader(theirs, written.held_out)
    ours = ModelReader(draft.model, limits.vocab_size)
    before = measure_texts(ours, held_out)
    tell(f"Held-out prompts before: {_told(before)}.")
    state = _run_training(request, ours, TargetReader(theirs, written.learned), held_out)
    model = request.folder / WORK / "model"
    write_model(draft, stored_dtype(request.draft or request.target), model)
    # Judged as it will be used: rounded to the dtype on disk, and read back.
    stored = ModelPool(request.device, "float32").get(str(model))
    check_pair(target, stored)
    after = measure_texts(ModelReader(stored.model, limits.vocab_size), held_out)
    tell(f"Held-out prompts after: {_told(after)}.")
    return model, Trained(before, after, state)


def _run_training(
    request: FitRequest, draft: ModelReader, learned: TargetReader, held_out: TargetReader
) -> TrainingState:
    def report(when: str) -> None:
        found = pool(measure_texts(draft, held_out))
        get_console().print(f"{when}: held-out alpha {found.alpha:.3f}")

    draft.model.requires_grad_(True)
    optimizers = optimizers_for_draft(draft.model, is_new=request.draft is None)
    folder = request.folder / WORK / "training"
    batches = TextBatches(learned, request.seed)
    training = DraftTraining(draft, batches, optimizers, folder, Schedule(), report)
    if request.num_steps is None:
        training.train_for(TRAINING_SHARE * request.minutes)
    else:
        training.train(request.num_steps)
    return training.run.state


def _told(found: Sequence[FitScore]) -> str:
    pooled = pool(found)
    return (
        f"alpha {pooled.alpha:.3f}, same first choice {pooled.greedy:.3f} "
        f"({pooled.num_tokens} tokens)"
    )
