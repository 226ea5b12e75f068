"""Fits a draft to a target, from names and prompts to a folder that is a better draft.

The target writes after the prompts, the draft is trained towards its laws where it wrote, and both
are compared before and after on what the target writes after prompts that were held out. Positions
of the prompts themselves are not trained on: a draft never guesses them. After each held-out prompt
the target writes twice: one text says on the way which weights are the best, and the other judges,
since a text that weights were chosen by no longer judges them fairly. Where that judge finds no
gain nothing is written.
"""

import hashlib
import json
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import torch

from specviz.distill.agreement import measuring, pool
from specviz.distill.batches import TextBatches
from specviz.distill.draft_learner import DraftLearner
from specviz.distill.draft_training import DraftTraining, Schedule
from specviz.distill.fit_news import (
    FitBegun,
    FitNews,
    FitOutcome,
    FitPhase,
    FitProgress,
    LearningEnded,
    PromptsLeftOut,
    run_noting,
)
from specviz.distill.folder import (
    WORK,
    digest_of,
    leave,
    open_work,
    publish,
    stored_dtype,
    write_model,
)
from specviz.distill.learning import Learning, LearningPlan
from specviz.distill.model_reader import ModelReader, TargetReader
from specviz.distill.new_draft import build_new_draft
from specviz.distill.optimizers import optimizers_for_draft
from specviz.distill.prompts import read_split
from specviz.distill.report import Trained, Written, build_fit, write_fit
from specviz.distill.request import TRAINING_SHARE, FitRequest, check_fit_request
from specviz.distill.target_writing import TargetWriting
from specviz.distill.texts import SharedLimits, encode_prompts, shared_limits
from specviz.distill.writing import Writer
from specviz.models.compatibility import check_pair, check_rollback
from specviz.models.loading import LoadedModel, ModelPool
from specviz.trace.fits import FitScore

TEXTS_FORM = 3
"""Unfinished work of another one is not taken up."""
FITTED_ALPHA = 0.5
"""A draft that agrees with its target this much is taken to be fitted to it already."""


def fit_draft(request: FitRequest, note: Callable[[FitNews], None]) -> FitOutcome:
    """Fit the draft, going on with an interrupted fit, and return what it brought; see `Fitting`.

    Args:
        note: Takes the news on the way; where it raises, the work is left so that it goes on.
    """
    outcome = run_noting(Fitting(request).run(), note)
    assert outcome is not None
    return outcome


class Fitting:
    """One fit that is done in short pieces, between which others may have the device."""

    def __init__(
        self,
        request: FitRequest,
        should_stop: Callable[[], bool] = bool,
        load_target: Callable[[], LoadedModel] | None = None,
    ) -> None:
        """Begin nothing yet.

        Args:
            should_stop: Whether to learn no more; what was learned so far is then judged.
            load_target: Gives the target where somebody has it already; it is only read.
        """
        self._request, self._should_stop = request, should_stop
        pool_of_own = ModelPool(request.device, request.dtype)
        self._load_target = load_target or (lambda: pool_of_own.get(request.target))

    def run(self) -> Generator[FitNews, None, FitOutcome | None]:
        """Fit, with news between two pieces of at most about a second; returns what it brought, or
        None where it was stopped before anything was learned.

        Raises:
            RequestError: A value, the prompts or the folder cannot be used.
            ModelLoadError: A model cannot be loaded.
            IncompatibleModelError: The two models do not belong together.
        """
        request = self._request
        check_fit_request(request)
        if request.num_threads is not None:
            torch.set_num_threads(request.num_threads)
        learned, held_out = read_split(request.prompts_file, request.held_out_file)
        target = self._load_target()
        check_rollback(target)
        draft = _load_draft(request, target)
        limits = shared_limits(target, draft)
        is_resumed = open_work(request.folder, _plan(request, target, draft, learned, held_out))
        yield FitBegun(len(learned), len(held_out), is_resumed)
        written = yield from self._let_write(target, limits, (learned, held_out))
        if written is None:
            leave(request.folder)
            return None
        model, trained = yield from self._train(target, draft, limits, written)
        fit = build_fit(request, held_out, written, trained)
        has_helped = trained.best_step > 0 and fit.after.alpha > fit.before.alpha
        if has_helped:
            write_fit(fit, model)
            publish(request.folder, model, keeps_work=request.keeps_work)
        elif not request.keeps_work:
            leave(request.folder)
        return FitOutcome(fit, has_helped)

    def _let_write(
        self,
        target: LoadedModel,
        limits: SharedLimits,
        prompts: tuple[Sequence[str], Sequence[str]],
    ) -> Generator[FitNews, None, Written | None]:
        request = self._request
        learned, held_out = (
            encode_prompts(part, target, limits, uses_chat=request.uses_chat) for part in prompts
        )
        if left_out := sum(map(len, prompts)) - len(learned) - len(held_out):
            yield PromptsLeftOut(left_out, limits.context)
        writer = Writer(target.model, limits.vocab_size, target.eos_ids)
        writing = TargetWriting(request, writer, limits.context, self._should_stop)
        return (yield from writing.run(learned, held_out))

    def _train(
        self, target: LoadedModel, draft: LoadedModel, limits: SharedLimits, written: Written
    ) -> Generator[FitNews, None, tuple[Path, Trained]]:
        """Train, and write the model into the work folder."""
        request = self._request
        theirs = ModelReader(target.model, limits.vocab_size)
        ours = ModelReader(draft.model, limits.vocab_size)
        readers = [
            TargetReader(theirs, texts)
            for texts in (written.held_out, written.watched, written.learned)
        ]
        for reader in readers:
            for num_read in reader.keeping():
                yield FitProgress(FitPhase.READING, num_read, len(reader.texts), None)
        judging, watched, learned = readers
        before = yield from _judge(ours, judging)
        is_fitted = pool(before).alpha >= FITTED_ALPHA
        ours.model.requires_grad_(True)
        optimizers = optimizers_for_draft(
            ours.model, is_new=request.draft is None, is_fitted=is_fitted
        )
        folder = request.folder / WORK / "training"
        batches = TextBatches(learned, request.seed)
        training = DraftTraining(ours, batches, optimizers, folder, Schedule())
        minutes = TRAINING_SHARE * request.minutes
        plan = LearningPlan(request.num_steps, minutes, written.seconds)
        learning = Learning(DraftLearner(training, watched), plan, self._should_stop)
        yield from learning.run()
        state = training.run.state
        yield LearningEnded(learning.end, state.steps, learning.best_step)
        model = request.folder / WORK / "model"
        write_model(draft, stored_dtype(request.draft or request.target), model)
        # Judged as it will be used: rounded to the dtype on disk, and read back.
        stored = ModelPool(request.device, "float32").get(str(model))
        check_pair(target, stored)
        after = yield from _judge(ModelReader(stored.model, limits.vocab_size), judging)
        num_steps = learning.num_steps or state.steps
        return model, Trained(before, after, state, num_steps, learning.best_step)


def _judge(draft: ModelReader, judging: TargetReader) -> Generator[FitNews, None, list[FitScore]]:
    scores: list[FitScore] = []
    for found in measuring(draft, judging):
        scores += found
        yield FitProgress(FitPhase.JUDGING, len(scores), len(judging.texts), None)
    return scores


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
        **request.options,
        "form of texts on disk": TEXTS_FORM,
    }
