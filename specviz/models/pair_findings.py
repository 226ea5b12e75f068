"""What can be found about a pair of models before it is downloaded: do they fit together?"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from specviz.errors import IncompatibleModelError
from specviz.models.compatibility import check_rollback
from specviz.models.cut_text import TextCutter
from specviz.models.loading import LoadedModel
from specviz.models.model_facts import ModelFacts
from specviz.models.shared_tokens import (
    ORDINARY,
    are_cut_alike,
    share_cut_alike,
    tokens_a_token,
)
from specviz.models.vocabulary import SharedVocabulary, compare_vocabularies
from specviz.texts import Message, Text, message

SMALL_RATIO = 5.0
"""From here on a draft counts as small enough; about ten times smaller is the rule of thumb."""
TRANSLATED = ("pair.translated_text", "pair.translated_shared")
"""What is found of a draft with another tokenizer than the target's."""
SPECIAL_TOKENS = ("bos_token", "eos_token")


class Level(StrEnum):
    """What a finding means for the pair."""

    OK = "ok"
    WARN = "warn"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what was found."""

    level: Level
    text: Message


@dataclass(frozen=True, slots=True)
class PairRequest:
    """What the pair is to do, and what is free for it."""

    prompt_tokens: int = 0
    max_new_tokens: int = 128
    gamma: int = 4
    dtype: str = "float32"
    quantize: str | None = None
    """`8bit` or `4bit` for weights that are made smaller while they are read."""
    free_memory_bytes: int | None = None
    """None where nobody knows."""
    free_disk_bytes: int | None = None
    disk_folder: Path | None = None

    @property
    def num_tokens(self) -> int:
        """Longest text that both caches hold: a last round may draft beyond the end."""
        return self.prompt_tokens + self.max_new_tokens + self.gamma


def refusal(problem: Text) -> Finding:
    """What a race would refuse, as a finding."""
    return Finding(Level.REFUSE, message("pair.refused", problem=problem))


def pair_findings(
    target: ModelFacts, draft: ModelFacts | None, request: PairRequest
) -> Iterator[Finding]:
    """Look at both models, at their vocabularies, contexts and sizes, in this order.

    Without a draft, at what concerns the target.
    """
    if draft is None:
        yield from model_findings(target)
        yield from own_context(target, request)
        yield from _hard_to_draft_for(target)
        return
    for model in (target, draft):
        yield from model_findings(model)
    shared = compare_vocabularies(target.name, target.tokenizer, draft.name, draft.tokenizer)
    if shared.problem is None:
        yield Finding(Level.OK, _vocabulary_text(target, draft, shared))
        yield _special_tokens(target, draft)
    else:
        yield from translation_findings(target, draft)
    yield from _context(target, draft, request)
    yield from _rules_of_thumb(target, draft)


def model_findings(model: ModelFacts) -> Iterator[Finding]:
    """Look at one model by itself: whether it can be read, and can take back what it has read."""
    if model.is_gated:
        yield Finding(Level.OK, message("pair.gated_open", model=short_name(model)))
    if not model.has_safetensors:
        yield refusal(message("refusal.hub_no_safetensors", model=model.name))
    try:
        check_rollback(LoadedModel(model.name, model.shapes, model.tokenizer, frozenset()))
    except IncompatibleModelError as error:
        yield refusal(error.text)
    num_tokens = len(model.tokenizer)
    if num_tokens > model.vocab_rows:
        yield Finding(
            Level.WARN,
            message(
                "pair.rows_short", model=short_name(model), tokens=num_tokens, rows=model.vocab_rows
            ),
        )


def _vocabulary_text(target: ModelFacts, draft: ModelFacts, shared: SharedVocabulary) -> Message:
    names = {"draft": short_name(draft), "target": short_name(target), "tokens": shared.num_shared}
    if shared.num_only_one:
        return message("pair.vocab_extra", **names, n=shared.num_only_one)
    if target.vocab_rows == draft.vocab_rows:
        return message("pair.vocab_equal", **names, rows=target.vocab_rows)
    return message(
        "pair.vocab_padded", **names, draft_rows=draft.vocab_rows, target_rows=target.vocab_rows
    )


def translation_findings(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """Say how a draft of another tokenizer drafts, and what that costs."""
    ours, theirs = target.tokenizer, draft.tokenizer
    names = {"draft": short_name(draft), "target": short_name(target)}
    share, length = share_cut_alike(ours, theirs), tokens_a_token(ours, theirs)
    kind = TRANSLATED[are_cut_alike(ours, theirs)]
    values = {"percent": round(100 * share), "length": round(length, 1)}
    yield Finding(Level.WARN, message(kind, **names, **values))
    for model in (target, draft):
        cutter = TextCutter(model.tokenizer)
        if cutter.text(cutter.begin(ORDINARY)) != ORDINARY:
            yield Finding(Level.WARN, message("pair.translated_lossy", model=short_name(model)))


def _special_tokens(target: ModelFacts, draft: ModelFacts) -> Finding:
    for kind in SPECIAL_TOKENS:
        ours, theirs = (getattr(each.tokenizer, kind, None) for each in (target, draft))
        if ours != theirs:
            return Finding(
                Level.WARN,
                message(
                    "pair.special_differ",
                    kind=kind,
                    ours=str(ours or "–"),
                    theirs=str(theirs or "–"),
                    target=short_name(target),
                    draft=short_name(draft),
                ),
            )
    return Finding(Level.OK, message("pair.special_equal"))


def _context(target: ModelFacts, draft: ModelFacts, request: PairRequest) -> Iterator[Finding]:
    asked = request.prompt_tokens + request.max_new_tokens
    if target.context is None or draft.context is None:
        return
    values = {"tokens": asked, "target": short_name(target), "draft": short_name(draft)}
    if asked > target.context:
        del values["draft"]
        text = message("pair.context_target", **values, context=target.context)
        yield Finding(Level.REFUSE, text)
    elif asked > draft.context:
        del values["target"]
        yield Finding(Level.WARN, message("pair.context_draft", **values, context=draft.context))
    else:
        contexts = {"target_context": target.context, "draft_context": draft.context}
        yield Finding(Level.OK, message("pair.context_fits", **values, **contexts))


def own_context(target: ModelFacts, request: PairRequest) -> Iterator[Finding]:
    """Hold a request against what a target without a draft can read."""
    asked = request.prompt_tokens + request.max_new_tokens
    if target.context is None:
        return
    values = {"tokens": asked, "target": short_name(target), "context": target.context}
    if asked > target.context:
        yield Finding(Level.REFUSE, message("pair.context_target", **values))
    else:
        yield Finding(Level.OK, message("pair.context_target_fits", **values))


def _rules_of_thumb(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    names = {"draft": short_name(draft), "target": short_name(target)}
    ratio = target.num_parameters / max(draft.num_parameters, 1)
    rounded = round(ratio, 1 if ratio < 10 else None)
    if ratio <= 1:
        yield Finding(Level.WARN, message("pair.size_reversed", **names))
    elif ratio < SMALL_RATIO:
        yield Finding(Level.WARN, message("pair.size_close", **names, ratio=rounded))
    else:
        yield Finding(Level.OK, message("pair.size_small", **names, ratio=rounded))
    yield from _hard_to_draft_for(target)
    if draft.state_types:
        yield _hybrid(draft)


def _hard_to_draft_for(target: ModelFacts) -> Iterator[Finding]:
    yield from mixture_findings(target)
    if target.state_types:
        yield _hybrid(target)


def _hybrid(model: ModelFacts) -> Finding:
    types = ", ".join(model.state_types)
    return Finding(Level.WARN, message("pair.hybrid", model=short_name(model), types=types))


def mixture_findings(target: ModelFacts) -> Iterator[Finding]:
    """Warn of a target of which only a part works on each token."""
    if target.is_mixture:
        yield Finding(Level.WARN, message("pair.mixture", target=short_name(target)))


def short_name(model: ModelFacts) -> str:
    """The last part of a name: sentences with two whole hub ids are hard to read."""
    return model.name.rstrip("/").rsplit("/", 1)[-1]
