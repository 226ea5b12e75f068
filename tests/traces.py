"""Small hand-made traces for tests: every number in them is easy to recompute in the head."""

from collections.abc import Sequence
from dataclasses import replace

from specviz.trace.values import (
    DraftToken,
    EmittedToken,
    Environment,
    LaneSpec,
    LaneTrace,
    Method,
    Outcome,
    Round,
    Sampling,
    Source,
    StopReason,
    TopToken,
    Trace,
    TraceRequest,
)

ENVIRONMENT = Environment(
    device="cpu",
    device_name="a test",
    dtype="float32",
    num_threads=2,
    torch="2.13.0",
    transformers="5.23.0",
    specviz="0.1.0",
    recorded_at="2026-01-02T03:04:05+00:00",
    logit_noise=1e-5,
)


def text_of(token_id: int) -> str:
    """Text of a made-up token."""
    return f" t{token_id}"


def top(*pairs: tuple[int, float]) -> tuple[TopToken, ...]:
    """A list of most probable tokens from ids and probabilities."""
    return tuple(TopToken(token_id, text_of(token_id), prob) for token_id, prob in pairs)


def drafted(
    token_id: int, outcome: Outcome, parent: int = -1, *, overlap: float | None = None
) -> DraftToken:
    """A greedily judged draft."""
    is_judged = outcome is not Outcome.DISCARDED
    verdict = float(outcome is Outcome.ACCEPTED)
    return DraftToken(
        id=token_id,
        text=text_of(token_id),
        parent=parent,
        outcome=outcome,
        draft_prob=0.5,
        target_prob=0.25 if is_judged else None,
        accept_prob=verdict if is_judged else None,
        draw=None,
        overlap=overlap if is_judged else None,
        top_draft=top((token_id, 0.5), (7, 0.25)),
        top_target=top((token_id, 0.25), (8, 0.125)) if is_judged else (),
    )


def emitted(
    token_id: int, source: Source, *, margin: float | None = 1.5, runner_up: int | None = None
) -> EmittedToken:
    """A token of the output."""
    has_own_law = source in (Source.BONUS, Source.TARGET)
    return EmittedToken(
        id=token_id,
        text=text_of(token_id),
        source=source,
        target_prob=0.5,
        margin=margin,
        top_target=top((token_id, 0.5)) if has_own_law else (),
        runner_up=runner_up,
    )


def chain(
    draft_ids: Sequence[int],
    num_accepted: int,
    next_id: int | None,
    *,
    margin: float | None = 1.5,
    overlap: float | None = None,
    draft_ms: float = 0.0,
    verify_ms: float = 10.0,
    other_ms: float = 0.0,
) -> Round:
    """A round of a chain, placed by `lane`.

    `next_id` is the correction, bonus or target token; None where an accepted token ended the text,
    so that nothing after it was judged.
    """
    outcomes = [
        Outcome.ACCEPTED
        if place < num_accepted
        else Outcome.REJECTED
        if place == num_accepted and next_id is not None
        else Outcome.DISCARDED
        for place in range(len(draft_ids))
    ]
    tokens = [emitted(i, Source.DRAFT, margin=margin) for i in draft_ids[:num_accepted]]
    if next_id is not None:
        is_full = num_accepted == len(draft_ids)
        source = Source.BONUS if is_full else Source.CORRECTION
        source = source if draft_ids else Source.TARGET
        tokens.append(emitted(next_id, source, margin=margin))
    return Round(
        index=0,
        position=0,
        gamma=len(draft_ids),
        drafted=tuple(
            drafted(token_id, outcome, place - 1, overlap=overlap)
            for place, (token_id, outcome) in enumerate(zip(draft_ids, outcomes, strict=True))
        ),
        emitted=tuple(tokens),
        draft_ms=draft_ms,
        verify_ms=verify_ms,
        other_ms=other_ms,
    )


def plain(*ids: int, margin: float | None = 1.5, ms: float = 10.0) -> list[Round]:
    """Rounds of a baseline that emits these ids."""
    return [chain((), 0, token_id, margin=margin, verify_ms=ms) for token_id in ids]


def lane(
    rounds: Sequence[Round],
    method: Method = Method.DRAFT_MODEL,
    *,
    name: str | None = None,
    gamma: int | None = None,
    stop_reason: StopReason = StopReason.LENGTH,
    error: str | None = None,
) -> LaneTrace:
    """A lane of these rounds, numbered and placed one after the other."""
    placed: list[Round] = []
    for round_ in rounds:
        position = sum(len(before.emitted) for before in placed)
        placed.append(replace(round_, index=len(placed), position=position))
    longest = max((round_.gamma for round_ in rounds), default=0)
    spec = LaneSpec(
        name=name,
        method=method,
        target="shipped-target",
        draft="shipped-draft" if method is Method.DRAFT_MODEL else None,
        gamma=longest if gamma is None else gamma,
    )
    return LaneTrace(
        spec=spec,
        prefill_ms=5.0,
        rounds=tuple(placed),
        stop_reason=stop_reason,
        error=error,
    )


def trace(*lanes: LaneTrace, temperature: float = 0.0, max_new_tokens: int = 64) -> Trace:
    """A race of these lanes."""
    return Trace(
        request=TraceRequest(
            prompt="Once upon a time",
            prompt_ids=(1, 2, 3),
            max_new_tokens=max_new_tokens,
            sampling=Sampling(temperature=temperature, seed=7),
        ),
        environment=ENVIRONMENT,
        lanes=lanes,
    )


def small_race() -> Trace:
    """Eight tokens twice: a baseline of 10 ms a token, and three drafted rounds of 12 + 3·1 ms.

    The drafting lane: all of three accepted and a bonus, one of three accepted and a correction,
    one of one accepted and a bonus.
    """
    return trace(
        lane(plain(10, 11, 12, 13, 14, 15, 16, 17), Method.BASELINE),
        lane(
            [
                chain((10, 11, 12), 3, 13, draft_ms=3.0, verify_ms=12.0),
                chain((14, 90, 91), 1, 15, draft_ms=3.0, verify_ms=12.0),
                chain((16,), 1, 17, draft_ms=1.0, verify_ms=12.0, other_ms=1.0),
            ],
            gamma=3,
        ),
        max_new_tokens=8,
    )
