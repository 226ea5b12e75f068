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

from specviz.distill.agreement import Agreement, measure_texts, pool
from specviz.distill.fitting import Fitting
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
    write_jobs,
)
from specviz.models.compatibility import check_pair, check_rollback
from specviz.models.loading import LoadedModel, ModelPool
from specviz.trace.fits import Fit

WRITING_SHARE = 0.45
TRAINING_SHARE = 0.45
"""Of the minutes; the rest goes by with reading and judging."""
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

    def write(jobs: list[Job], number: int, title: str) -> tuple[list[Text], float]:
        folder, seed = request.folder / WORK / f"texts-{number}", 3 * request.seed + number
        return write_jobs(target, limits.vocab_size, jobs, seed, folder, title)

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
    fitting = Fitting(
        ours,
        TargetReader(theirs, written.learned),
        held_out,
        request.folder / WORK / "training",
        is_new=request.draft is None,
        seed=request.seed,
    )
    fitting.train(request.num_steps, TRAINING_SHARE * request.minutes)
    model = request.folder / WORK / "model"
    write_model(draft, stored_dtype(request.draft or request.target), model)
    # Judged as it will be used: rounded to the dtype on disk, and read back.
    stored = ModelPool(request.device, "float32").get(str(model))
    check_pair(target, stored)
    after = measure_texts(ModelReader(stored.model, limits.vocab_size), held_out)
    tell(f"Held-out prompts after: {_told(after)}.")
    return model, Trained(before, after, fitting.run.state)


def _told(found: Sequence[Agreement]) -> str:
    pooled = pool(found)
    return (
        f"alpha {pooled.alpha:.3f}, same first choice {pooled.greedy:.3f} "
        f"({pooled.num_tokens} tokens)"
    )
