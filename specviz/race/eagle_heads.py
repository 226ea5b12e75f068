"""From an EAGLE-3 head's files to what drafts for a target, read as it agrees with it best."""

from dataclasses import dataclass
from typing import Any

from specviz.decoding.eagle3_head import Eagle3Head
from specviz.decoding.eagle3_pass import Eagle3Pass
from specviz.decoding.head_doctor import Diagnosis, diagnose
from specviz.decoding.positions import context_of
from specviz.decoding.taps import check_taps, num_layers_of
from specviz.errors import ModelLoadError, RequestError
from specviz.models.eagle_form import Reading
from specviz.models.eagle_head import (
    LoadedHead,
    TargetShape,
    draft_ids_of,
    head_form,
    head_weights,
)
from specviz.models.loading import LoadedModel
from specviz.models.location import one_line
from specviz.texts import message

STARTS = (
    "Once upon a time, there was a",
    "def count(items):\n    ",
    "The city lies on a river, and its",
    "Question: Why is the sky blue?\nAnswer:",
)
"""Texts after which the target writes for the doctor."""
MAX_START = 512


@dataclass(frozen=True, slots=True, eq=False)
class ReadHead:
    """A head that is ready to draft for one target."""

    drafting: Eagle3Pass
    diagnosis: Diagnosis | None
    """None where somebody has said how it is to be read."""


def read_head(loaded: LoadedHead, target: LoadedModel, reading: str | None = None) -> ReadHead:
    """Build a head for a target, once for all lanes that run it.

    Args:
        reading: How it is to be read, as `Reading.text`; None: as it agrees best with the target.

    Raises:
        ModelLoadError: Its files are not those of an EAGLE-3 head for this target.
        IncompatibleModelError: The target has no such layers as the head takes states from.
        RequestError: There is no such reading.
    """
    known: dict[str | None, ReadHead] = loaded.built.setdefault(target.model, {})
    if reading not in known:
        head = build_head(loaded, target)
        if reading is None:
            diagnosis = diagnose(head, target.model, _starts(target))
            known[None] = ReadHead(Eagle3Pass(head), diagnosis)
        else:
            head.form = head.form.read_as(_parsed(reading))
            known[reading] = ReadHead(Eagle3Pass(head), None)
    return known[reading]


def head_facts(read: ReadHead) -> dict[str, Any]:
    """Give what the doctor found as plain JSON, for `models --doctor` and the page.

    `readings` holds each with `num_same` of `num_tokens` tokens and its share `agreement`; `used`
    names the one that lanes take, and `taps` are that one's.
    """
    diagnosis, form = read.diagnosis, read.drafting.form
    assert diagnosis is not None
    return {
        "num_tokens": diagnosis.num_tokens,
        "used": diagnosis.used.text,
        "is_as_stated": diagnosis.is_as_stated,
        "taps": list(form.taps),
        "draft_vocab_size": form.draft_vocab_size,
        "vocab_size": form.vocab_size,
        "readings": [
            {
                "reading": score.reading.text,
                "num_same": score.num_same,
                "agreement": diagnosis.agreement(score.reading),
            }
            for score in diagnosis.scores
        ],
    }


def build_head(loaded: LoadedHead, target: LoadedModel) -> Eagle3Head:
    """Build a head as its files state it, with weights of the target's dtype beside the target's.

    Raises: as `read_head`.
    """
    model = target.model
    embeddings: Any = model.get_input_embeddings().weight
    num_rows = len(model.get_output_embeddings().weight)
    width = model.config.get_text_config().hidden_size
    shape = TargetShape(target.name, num_layers_of(model), width, num_rows)
    form = head_form(loaded.files, shape)
    check_taps(target.name, shape.num_layers, form.taps)
    if not form.owns_embedding and embeddings.shape[1] != form.hidden_size:
        raise ModelLoadError(
            message(
                "refusal.head_width", head=loaded.name, tensor="hidden_norm", target=target.name
            )
        )
    weights, draft_ids = head_weights(loaded.files, form), draft_ids_of(loaded.files, shape)
    try:
        return Eagle3Head.of_weights(form, model, weights, draft_ids)
    except RuntimeError as error:
        raise ModelLoadError(
            message("refusal.head_tensors", head=loaded.name, tensor=one_line(error))
        ) from error


def _starts(target: LoadedModel) -> list[list[int]]:
    num_rows = len(target.model.get_input_embeddings().weight)
    longest = (context_of(target.model) or MAX_START) // 2
    starts = [list(target.tokenizer(text)["input_ids"])[:longest] for text in STARTS]
    return [ids for ids in starts if len(ids) > 1 and max(ids) < num_rows] or [[0, 0]]


def _parsed(text: str) -> Reading:
    reading = Reading.parse(text)
    if reading is None:
        raise RequestError(message("refusal.head_reading", found=repr(text)))
    return reading
