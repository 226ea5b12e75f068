"""Builds what drafts for a target with a model of another tokenizer."""

from specviz.decoding.forms import MakeRunner
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposer
from specviz.decoding.proposers.retokenised_draft import RetokenisedDraft
from specviz.decoding.proposers.shared_draft import SharedDraft
from specviz.errors import IncompatibleModelError
from specviz.models.compatibility import translation_for
from specviz.models.loading import LoadedModel
from specviz.models.shared_tokens import shared_tokens, tokens_a_token
from specviz.models.text_bridge import TextBridge, end_id
from specviz.texts import message
from specviz.trace.values import LaneSpec, Rule, Sampling, Translation, Tree

ROOM = 1.5
"""By how much a text may take more tokens of the draft than an ordinary one does."""


def translation_of(
    spec: LaneSpec, target: LoadedModel, draft: LoadedModel, sampling: Sampling
) -> Translation | None:
    """Return how a lane's draft model is translated: as the lane says, else as suits the pair; None
    where both have the same tokenizer."""
    return spec.translation or translation_for(target, draft, sampling.temperature)


def translated_draft(
    spec: LaneSpec,
    translation: Translation,
    target: LoadedModel,
    draft: LoadedModel,
    runner: ModelRunner,
    sampling: Sampling,
    make_runner: MakeRunner,
    num_tokens: int,
    least_confidence: float,
) -> Proposer:
    """Build the proposer of a lane whose draft has another tokenizer.

    Args:
        runner: The target's.
        num_tokens: Of the target's, in the longest text.

    Raises:
        IncompatibleModelError: They share no token, the lane's wrong rule needs the draft's
            probabilities, or the lane is to draft trees.
    """
    names = {"draft": draft.name, "target": target.name}
    if spec.tree is not Tree.NONE:
        raise IncompatibleModelError(message("refusal.tree_of_translation", **names))
    bridge = TextBridge(target.tokenizer, draft.tokenizer, target.eos_ids, draft.eos_ids)
    length = max(1.0, tokens_a_token(target.tokenizer, draft.tokenizer))
    drafting = make_runner(draft.model, round(ROOM * length * num_tokens))
    if translation is Translation.TEXT:
        if spec.rule is Rule.ARGMAX_SOFTMAX:
            raise IncompatibleModelError(message("refusal.rule_without_law", **names))
        return RetokenisedDraft(drafting, bridge, least_confidence)
    shared = shared_ids(target, draft, runner.vocab_size)
    if not shared:
        raise IncompatibleModelError(message("refusal.no_shared_tokens", **names))
    return SharedDraft(
        drafting,
        bridge,
        shared,
        sampling,
        runner.vocab_size,
        target.eos_ids,
        least_confidence,
    )


def shared_ids(target: LoadedModel, draft: LoadedModel, vocab_size: int) -> dict[int, int]:
    """Map the draft's ids to the target's that mean the same, one end token of each among them.

    Args:
        vocab_size: Rows of the target's output layer; ids beyond have none.
    """
    shared = shared_tokens(target.tokenizer, draft.tokenizer)
    theirs, ours = (end_id(each.tokenizer, each.eos_ids) for each in (draft, target))
    if theirs is not None and ours is not None:
        shared[theirs] = ours
    num_rows = draft.model.get_output_embeddings().weight.shape[0]
    return {a: b for a, b in shared.items() if a < num_rows and b < vocab_size}
