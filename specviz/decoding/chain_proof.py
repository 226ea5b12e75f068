"""Proves on a few texts that a recorded chain may stand in for drafting and judging by steps."""

from collections.abc import Sequence

import torch

from specviz.decoding.clock import DeviceClock
from specviz.decoding.probes import is_same_but_for_rounding
from specviz.decoding.proposers.autoregressive import draft_chain
from specviz.decoding.sampling import SeededChance, invert, over_vocab, to_probs
from specviz.decoding.static_chain import FIRST_WIDTH, ChainKind, StaticChain
from specviz.decoding.static_judge import Judged, StaticJudge
from specviz.decoding.static_proof import (
    FAILURES,
    OFFSETS,
    STRIDE,
    StaticProof,
    time_ratio,
)
from specviz.decoding.static_runner import StaticRunner
from specviz.decoding.verify import verify, verify_greedy
from specviz.errors import DecodingError
from specviz.trace.values import Sampling


@torch.inference_mode()
def prove_chain(
    runner: StaticRunner, kind: ChainKind, dtype: torch.dtype, *, must_be_faster: bool
) -> StaticProof:
    """Record a chain and hold each part of it against what it stands for, then its times.

    The laws of the drafts are held against those of one block that reads the same tokens, the
    tokens against the inverted laws, the judgement against `verify` of the same laws.

    Args:
        dtype: Of the target's logits.
        must_be_faster: Whether a chain that is right but not faster is a problem.
    """
    try:
        drafted, judge = runner.record_chain(kind, dtype)
        if not _is_same(runner, drafted, judge):
            return StaticProof("chain_differs")
        ratio = _time_ratio(runner, drafted)
    except (DecodingError, *FAILURES):
        return StaticProof("chain_failed")
    finally:
        runner.reset()
    is_slower = must_be_faster and ratio >= 1.0
    return StaticProof("chain_slower" if is_slower else None, ratio)


def _is_same(runner: StaticRunner, drafted: StaticChain, judge: StaticJudge) -> bool:
    """Whether chains behind texts of several lengths are right, and the judgement of each, with
    from no draft to all of them accepted."""
    kind = drafted.kind
    room = min(runner.capacity, runner.context or runner.capacity) - kind.gamma
    for number, offset in enumerate(OFFSETS):
        length = max(FIRST_WIDTH, min(offset, room))
        text = [(STRIDE * index + 1) % runner.vocab_size for index in range(length)]
        chance = SeededChance(offset)
        draws = [] if kind.is_greedy else chance.peek(kind.num_draws)
        runner.reset()
        ids = _draft(runner, drafted, text, draws)
        runner.reset()
        logits = over_vocab(runner.forward([*text, *ids[:-1]], kind.gamma), kind.vocab_size)
        num_known = min(runner.vocab_size, kind.vocab_size)
        laws = drafted.rows[:, :num_known]
        if not (
            _are_laws_same(laws, logits[:, :num_known], kind.sampling)
            and _are_drawn(drafted, ids, draws)
        ):
            return False
        # A target of one mind with the draft at first, and of the opposite one then.
        num_alike = (2 * number) % (kind.gamma + 1)
        believed = torch.cat([logits, logits[-1:]])
        is_contrary = believed.isfinite()
        is_contrary[:num_alike] = False
        judge.logits.copy_(torch.where(is_contrary, -believed, believed))
        if not _is_judged_alike(judge.judge(draws), judge.logits, kind.sampling, chance):
            return False
    return True


def _draft(
    runner: StaticRunner, drafted: StaticChain, text: list[int], draws: Sequence[float]
) -> list[int]:
    runner.read_up_to_chain(text)
    drafted.fill(text, text[-1], draws)
    drafted.run()
    ids: list[int] = drafted.ids.tolist()
    runner.note([*text, *ids[:-1]])
    return ids


def _are_laws_same(laws: torch.Tensor, logits: torch.Tensor, sampling: Sampling) -> bool:
    """Whether the laws, or at temperature 0 logits, are those of `logits` `[gamma, vocab]` but for
    rounding."""
    if sampling.temperature == 0:
        return is_same_but_for_rounding(laws, logits)
    expected = to_probs(logits, sampling)
    # Rounding decides which of two tied tokens top-k and top-p leave out, and the rest is scaled
    # by it: compared is what both keep, beside the most probable token.
    best = expected.argmax(dim=-1, keepdim=True)
    both = (laws > 0) & (expected > 0)
    if not bool(both.gather(1, best).all()):
        return False
    heights, expected_heights = (
        (each.log() - each.gather(1, best).log()).masked_fill(~both, 0.0) * sampling.temperature
        for each in (laws, expected)
    )
    return is_same_but_for_rounding(heights, expected_heights.to(logits.dtype))


def _are_drawn(drafted: StaticChain, ids: list[int], draws: Sequence[float]) -> bool:
    """Whether each token is what its own law says."""
    if drafted.kind.is_greedy:
        return ids == drafted.rows.argmax(dim=-1).tolist()
    pairs = zip(drafted.rows, draws[: len(ids)], strict=True)
    return ids == [int(invert(row, draw)) for row, draw in pairs]


def _is_judged_alike(
    judged: Judged, logits: torch.Tensor, sampling: Sampling, chance: SeededChance
) -> bool:
    proposal, found = judged.proposal, judged.verification
    logits = logits[: len(proposal) + 1]
    if sampling.temperature == 0:
        expected = verify_greedy(proposal, logits.argmax(dim=-1).tolist())
    else:
        chance.skip(len(proposal))
        expected = verify(proposal, to_probs(logits, sampling), chance)
    return (found.path, found.next_token) == (expected.path, expected.next_token)


def _time_ratio(runner: StaticRunner, drafted: StaticChain) -> float:
    """Median over pairs of a chain and of as many drafts, each read back."""
    kind, chance = drafted.kind, SeededChance(0)
    text = [1] * OFFSETS[-1]
    draws = [] if kind.is_greedy else chance.peek(kind.num_draws)

    def prepare() -> None:
        runner.forward(text[:-1], 1)

    def step() -> None:
        draft_chain(
            lambda ids: over_vocab(runner.forward(ids, 1), kind.vocab_size),
            text,
            kind.gamma,
            kind.sampling,
            frozenset(),
            chance,
        )

    return time_ratio(
        DeviceClock(runner.device),
        (prepare, step),
        (prepare, lambda: (_draft(runner, drafted, text, draws), None)[1]),
    )
