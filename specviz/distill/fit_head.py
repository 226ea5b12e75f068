"""Trains an EAGLE-3 head for a target, from names and prompts to a folder that `race` takes.

The target writes after the prompts, and the head learns from the target's states where it wrote.
After each held-out prompt the target writes twice: one text says on the way which weights are the
best, and the other judges the head as it is stored.
"""

import hashlib
import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from specviz.decoding.eagle3_head import Eagle3Head
from specviz.decoding.model_runner import ModelRunner
from specviz.distill.fit_news import (
    FitBegun,
    FitNews,
    FitPhase,
    FitProgress,
    LearningEnded,
    PromptsLeftOut,
    run_noting,
)
from specviz.distill.folder import WORK, digest_of, leave, open_work, publish, stored_dtype
from specviz.distill.head_files import write_head
from specviz.distill.head_report import HeadFit, write_head_fit
from specviz.distill.head_texts import HeadTexts, choose_draft_ids
from specviz.distill.head_training import HeadAgreement, HeadTraining, measuring_head
from specviz.distill.learning import Learning, LearningPlan
from specviz.distill.new_head import new_head
from specviz.distill.prompts import read_split
from specviz.distill.report import Written
from specviz.distill.request import (
    TRAINING_SHARE,
    FitRequest,
    check_fit_request,
    command_of,
    short_name,
)
from specviz.distill.target_writing import TargetWriting
from specviz.distill.texts import NO_LIMIT, SharedLimits, Text, encode_prompts
from specviz.distill.writing import Writer
from specviz.errors import IncompatibleModelError
from specviz.models.compatibility import check_rollback
from specviz.models.eagle_files import read_head_files
from specviz.models.eagle_form import MIN_LAYERS
from specviz.models.eagle_head import TargetShape, draft_ids_of, head_form, head_weights
from specviz.models.loading import LoadedModel, ModelPool

BATCH_TOKENS = 1024
TEXTS_FORM = 1
"""Unfinished work of another one is not taken up."""


def fit_head(request: FitRequest, note: Callable[[FitNews], None]) -> HeadFit:
    """Train a head and write it, going on with an interrupted training; see `HeadFitting`.

    Args:
        note: Takes the news on the way; where it raises, the work is left so that it goes on.
    """
    fit = run_noting(HeadFitting(request).run(), note)
    assert fit is not None
    return fit


@dataclass(frozen=True, slots=True)
class _Trained:
    head: Eagle3Head
    training: HeadTraining
    learning: Learning


class HeadFitting:
    """One training of a head that is done in short pieces, between which it can be left."""

    def __init__(self, request: FitRequest, should_stop: Callable[[], bool] = bool) -> None:
        """Begin nothing yet.

        Args:
            should_stop: Whether to learn no more; what was learned so far is then judged.
        """
        self._request, self._should_stop = request, should_stop

    def run(self) -> Generator[FitNews, None, HeadFit | None]:
        """Train, with news between two pieces of at most about a second; returns what it brought,
        or None where it was stopped before anything was learned.

        Raises:
            RequestError: A value, the prompts or the folder cannot be used.
            ModelLoadError: The target cannot be loaded.
            IncompatibleModelError: It has too few layers, or its states cannot be put back.
        """
        request = self._request
        check_fit_request(request)
        if request.num_threads is not None:
            torch.set_num_threads(request.num_threads)
        learned, held_out = read_split(request.prompts_file, request.held_out_file)
        target = ModelPool(request.device, request.dtype).get(request.target)
        check_rollback(target)
        _check_layers(target)
        is_resumed = open_work(request.folder, _plan(request, target, learned, held_out))
        yield FitBegun(len(learned), len(held_out), is_resumed)
        written = yield from self._let_write(target, learned, held_out)
        if written is None:
            leave(request.folder)
            return None
        trained = yield from self._train(target, written)
        model = request.folder / WORK / "model"
        write_head(trained.head, short_name(request.target), stored_dtype(request.target), model)
        found = yield from self._judge(target, model, written.held_out)
        fit = self._report(trained, written, found, len(learned) + len(held_out))
        write_head_fit(fit, model)
        publish(request.folder, model, keeps_work=request.keeps_work)
        return fit

    def _let_write(
        self, target: LoadedModel, learned: Sequence[str], held_out: Sequence[str]
    ) -> Generator[FitNews, None, Written | None]:
        request = self._request
        context = ModelRunner(target.model).context or NO_LIMIT
        limits = SharedLimits(min(_num_rows(target), len(target.tokenizer)), context)
        encoded = [
            encode_prompts(part, target, limits, uses_chat=request.uses_chat)
            for part in (learned, held_out)
        ]
        if left_out := len(learned) + len(held_out) - sum(map(len, encoded)):
            yield PromptsLeftOut(left_out, context)
        writer = Writer(target.model, limits.vocab_size, target.eos_ids)
        writing = TargetWriting(request, writer, context, self._should_stop)
        return (yield from writing.run(*encoded))

    def _train(self, target: LoadedModel, written: Written) -> Generator[FitNews, None, _Trained]:
        """Train; the head then has its best weights."""
        request = self._request
        draft_ids = choose_draft_ids(written.learned, _num_rows(target), target.eos_ids)
        head = new_head(target.model, draft_ids, request.seed)
        learned, watched = (
            HeadTexts(target.model, texts, draft_ids, BATCH_TOKENS)
            for texts in (written.learned, written.watched)
        )
        for texts in (watched, learned):
            for num_read in texts.keeping():
                yield FitProgress(FitPhase.READING, num_read, texts.num_texts, None)
        folder = request.folder / WORK / "training"
        training = HeadTraining(head, learned, watched, folder, request.seed)
        minutes = TRAINING_SHARE * request.minutes
        plan = LearningPlan(request.num_steps, minutes, written.seconds)
        learning = Learning(training, plan, self._should_stop)
        yield from learning.run()
        yield LearningEnded(learning.end, training.run.state.steps, learning.best_step)
        return _Trained(head, training, learning)

    def _judge(
        self, target: LoadedModel, model: Path, texts: Sequence[Text]
    ) -> Generator[FitNews, None, HeadAgreement]:
        """Judge it as it will be used: rounded to the dtype on disk, and read back."""
        stored = _read_back(model, target)
        batches = HeadTexts(target.model, texts, stored.draft_ids, BATCH_TOKENS)
        pieces, num_done = measuring_head(stored, batches), 0
        while True:
            try:
                next(pieces)
            except StopIteration as ended:
                found: HeadAgreement = ended.value
                return found
            num_done += 1
            yield FitProgress(FitPhase.JUDGING, num_done, len(batches), None)

    def _report(
        self, trained: _Trained, written: Written, found: HeadAgreement, num_prompts: int
    ) -> HeadFit:
        state, learning = trained.training.run.state, trained.learning
        num_steps = learning.num_steps or state.steps
        return HeadFit(
            target=short_name(self._request.target),
            made_by=command_of(self._request, written.num_texts, num_steps),
            tau=found.tau,
            agreement=found.agreement,
            num_tokens=found.num_tokens,
            num_prompts=num_prompts,
            num_held_out=len(written.held_out),
            num_tokens_written=sum(text.num_written for text in written.learned),
            num_tokens_trained=state.tokens,
            num_steps=state.steps,
            best_step=learning.best_step,
            end=str(learning.end),
            dtype=str(trained.training.dtype).removeprefix("torch."),
            num_threads=torch.get_num_threads(),
            draft_vocab_size=trained.head.form.draft_vocab_size,
            num_parameters=sum(weight.numel() for weight in trained.head.parameters()),
            seconds=round(written.seconds + state.seconds, 1),
        )


def _plan(
    request: FitRequest, target: LoadedModel, learned: Sequence[str], held_out: Sequence[str]
) -> dict[str, Any]:
    def digest(prompts: Sequence[str]) -> str:
        return hashlib.sha1(json.dumps(list(prompts)).encode()).hexdigest()[:16]

    return {
        "--head": request.head,
        "target": digest_of(target.model),
        "prompts": digest(learned),
        "held-out prompts": digest(held_out),
        **request.options,
        "form of texts on disk": TEXTS_FORM,
    }


def _read_back(folder: Path, target: LoadedModel) -> Eagle3Head:
    """Read a head that was written, as its files state."""
    files = read_head_files(str(folder), allow_hub=False)
    config = target.model.config.get_text_config()
    shape = TargetShape(
        target.name, config.num_hidden_layers, config.hidden_size, _num_rows(target)
    )
    form, draft_ids = head_form(files, shape), draft_ids_of(files, shape)
    return Eagle3Head.of_weights(form, target.model, head_weights(files, form), draft_ids)


def _num_rows(target: LoadedModel) -> int:
    return len(target.model.get_output_embeddings().weight)


def _check_layers(target: LoadedModel) -> None:
    num_layers = target.model.config.get_text_config().num_hidden_layers
    if num_layers < MIN_LAYERS:
        raise IncompatibleModelError(
            f"{target.name} has {num_layers} layers, and an EAGLE-3 head takes states at three "
            f"places of at least {MIN_LAYERS}; take a deeper target"
        )
