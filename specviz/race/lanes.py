"""Builds one decoder from a lane's spec and loaded models."""

from dataclasses import replace

from specviz.decoding.clock import Clock, DeviceClock
from specviz.decoding.decoder import Decoder, Limits
from specviz.decoding.draft_lengths import lengths_of
from specviz.decoding.flipped_coins import FlippedCoins
from specviz.decoding.forms import MakeRunner, RaceForm
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.mtp_pass import MtpPass
from specviz.decoding.play import RecordedPlay
from specviz.decoding.positions import context_of, declared_context
from specviz.decoding.proposal import Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.eagle3 import Eagle3
from specviz.decoding.proposers.early_exit import EarlyExit
from specviz.decoding.proposers.mtp import Mtp
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.recorded_rounds import RecordedRounds
from specviz.decoding.recorder import Recorder
from specviz.decoding.sampling import SeededChance
from specviz.decoding.split_runner import SplitRunner
from specviz.decoding.static_chain import ChainKind
from specviz.decoding.static_runner import StaticRunner
from specviz.decoding.trees import TreeSize
from specviz.decoding.wrong_rules import WrongRounds
from specviz.errors import PromptError
from specviz.models.chat import encode_turn, has_chat_template
from specviz.models.compatibility import check_rollback
from specviz.models.detokenizer import IncrementalDetokenizer
from specviz.models.exits import default_exit
from specviz.models.loading import LoadedModel
from specviz.models.mtp_weights import read_mtp
from specviz.models.source import ModelSource
from specviz.race.eagle_heads import read_head
from specviz.race.translations import translated_draft, translation_of
from specviz.texts import message
from specviz.trace.values import LaneSpec, Method, RaceRequest, Rule, Schedule, Tree


def encode_prompt(
    request: RaceRequest, target: LoadedModel, max_tokens: int | None = None
) -> tuple[int, ...]:
    """Turn the prompt into ids: as a turn of a conversation where the target has a chat template
    and the request does not say otherwise, else with whatever the tokenizer puts before a text.

    Raises:
        PromptError: The prompt holds no token, or one that the target does not know, or more than
            `max_tokens`, or leaves no room in the target's context, or the target's chat template
            refuses it.
    """
    if request.uses_chat and has_chat_template(target.tokenizer):
        ids = encode_turn(target.tokenizer, request.prompt, target.name)
    else:
        ids = tuple(target.tokenizer(request.prompt)["input_ids"])
    if not ids:
        raise PromptError(message("refusal.no_token"))
    if max_tokens is not None and len(ids) > max_tokens:
        raise PromptError(message("refusal.prompt_tokens", tokens=len(ids), most=max_tokens))
    # Where tokens were added to a tokenizer but no rows to the model, CUDA would end the process.
    num_rows = target.model.get_input_embeddings().weight.shape[0]
    if max(ids) >= num_rows:
        piece = target.tokenizer.convert_ids_to_tokens(max(ids))
        raise PromptError(
            message(
                "refusal.unknown_token",
                piece=repr(piece),
                number=str(max(ids)),
                target=target.name,
                highest=str(num_rows - 1),
            )
        )
    _check_room(len(ids), target)
    return ids


def _check_room(num_tokens: int, target: LoadedModel) -> None:
    context = context_of(target.model)
    if context is None or num_tokens < context:
        return
    is_shortened = context != declared_context(target.model)
    raise PromptError(
        message(
            "refusal.prompt_too_long_longrope" if is_shortened else "refusal.prompt_too_long",
            tokens=num_tokens,
            target=target.name,
            context=context,
        )
    )


def build_decoder(
    spec: LaneSpec,
    pool: ModelSource,
    request: RaceRequest,
    form: RaceForm | None = None,
    num_prompt: int = 0,
    chance: SeededChance | None = None,
) -> Decoder:
    """Build the decoder of one lane; lanes share weights, never caches.

    Args:
        form: The form that the race has; None: the plain one.
        num_prompt: Tokens of the prompt.
        chance: What the lane draws from; None: a stream of the request's seed, the same for every
            text.

    Raises:
        ModelLoadError: A model cannot be loaded.
        IncompatibleModelError: A model cannot do what the lane asks.
    """
    target = pool.get(spec.target)
    check_rollback(target)
    form = form or RaceForm()
    num_tokens = num_prompt + request.max_new_tokens + spec.budget
    runner = _target_runner(spec, target, num_tokens, form.make_runner)
    proposer = _proposer(spec, pool, runner, request, form.make_runner, num_tokens)
    chance = chance or SeededChance(request.sampling.seed)
    thrown = FlippedCoins(chance, spec.flipped_coins) if spec.flipped_coins else chance
    clock = DeviceClock(runner.device)
    recorded: RecordedPlay | None = None
    if spec.rule is not Rule.RIGHT:
        recorded = WrongRounds(spec.rule, proposer, runner, request.sampling, thrown, clock)
    elif (
        _is_recordable(spec)
        and isinstance(proposer, DraftModel)
        and isinstance(runner, StaticRunner)
    ):
        sampling = replace(request.sampling, seed=0)
        kind = ChainKind(spec.gamma, sampling, runner.vocab_size, target.eos_ids)
        recorded = _recorded(kind, proposer, runner, form, chance, clock)
    return Decoder(
        runner,
        proposer,
        gamma=spec.gamma,
        sampling=request.sampling,
        limits=Limits(request.max_new_tokens, target.eos_ids, runner.context),
        chance=thrown,
        clock=clock,
        recorder=Recorder(
            request.sampling,
            IncrementalDetokenizer(target.tokenizer),
            record_top=request.record_top,
        ),
        recorded=recorded,
        lengths=lengths_of(spec),
    )


def build_proposer(
    spec: LaneSpec, pool: ModelSource, request: RaceRequest, form: RaceForm, num_prompt: int
) -> Proposer:
    """Build what drafts for a lane, by itself and with caches of its own.

    Raises: as `build_decoder`.
    """
    num_tokens = num_prompt + request.max_new_tokens + spec.budget
    runner = _target_runner(spec, pool.get(spec.target), num_tokens, form.make_runner)
    return _proposer(spec, pool, runner, request, form.make_runner, num_tokens)


def _is_recordable(spec: LaneSpec) -> bool:
    """Whether all rounds of a lane draft chains of one length and throw its coins as they fall: a
    device records them so."""
    is_chain = spec.schedule is Schedule.FIXED and spec.tree is Tree.NONE
    return is_chain and not spec.flipped_coins


def _recorded(
    kind: ChainKind,
    draft: DraftModel,
    target: StaticRunner,
    form: RaceForm,
    chance: SeededChance,
    clock: Clock,
) -> RecordedRounds | None:
    assert isinstance(draft.runner, StaticRunner)
    recorded = form.record_chain(draft.runner, kind, target.model.dtype)
    if recorded is None:
        return None
    drafted, judge = recorded
    return RecordedRounds(drafted, judge, draft, target, chance, clock)


def _target_runner(
    spec: LaneSpec, target: LoadedModel, room: int, make_runner: MakeRunner
) -> ModelRunner:
    if spec.method is not Method.EARLY_EXIT:
        return _made(make_runner, target, room, spec)
    exit_layer = spec.exit_layer
    if exit_layer is None:
        exit_layer = default_exit(target.model.config)
    return SplitRunner(target.model, exit_layer, room)


def _made(make_runner: MakeRunner, loaded: LoadedModel, room: int, spec: LaneSpec) -> ModelRunner:
    """Make a model's runner, which can read what the lane drafts: found out before any clock
    runs."""
    runner = make_runner(loaded.model, room)
    if spec.tree is not Tree.NONE:
        runner.check_reads_trees(room)
    return runner


def _proposer(
    spec: LaneSpec,
    pool: ModelSource,
    runner: ModelRunner,
    request: RaceRequest,
    make_runner: MakeRunner,
    num_tokens: int,
) -> Proposer:
    target = pool.get(spec.target)
    least_confidence = spec.confidence if spec.schedule is Schedule.CONFIDENCE else 0.0
    tree = TreeSize.of(spec)
    match spec.method:
        case Method.BASELINE:
            return NoDraft()
        case Method.PROMPT_LOOKUP:
            return PromptLookup(spec.max_ngram, target.eos_ids)
        case Method.EARLY_EXIT:
            assert isinstance(runner, SplitRunner)
            return EarlyExit(runner, request.sampling, target.eos_ids, least_confidence)
        case Method.EAGLE3:
            assert spec.head is not None
            head = read_head(pool.get_head(spec.head), target, spec.head_reading)
            return Eagle3(
                head.drafting,
                runner,
                request.sampling,
                target.eos_ids,
                num_tokens,
                least_confidence,
                tree,
            )
        case Method.MTP:
            return Mtp(
                MtpPass(read_mtp(target)),
                runner,
                request.sampling,
                target.eos_ids,
                num_tokens,
                spec.gamma,
                least_confidence,
            )
        case Method.DRAFT_MODEL:
            assert spec.draft is not None
            draft = pool.get(spec.draft)
            check_rollback(draft)
            translation = translation_of(spec, target, draft, request.sampling)
            if translation is not None:
                return translated_draft(
                    spec,
                    translation,
                    target,
                    draft,
                    runner,
                    request.sampling,
                    make_runner,
                    num_tokens,
                    least_confidence,
                )
            return DraftModel(
                _made(make_runner, draft, num_tokens, spec),
                request.sampling,
                runner.vocab_size,
                target.eos_ids,
                least_confidence,
                tree,
            )
