"""The one loop: propose, verify, commit, write down a round. The baseline runs it with a proposer
of nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from specviz.decoding.clock import Clock
from specviz.decoding.draft_lengths import DraftLengths, Fixed
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.play import Play, RecordedPlay
from specviz.decoding.proposal import Proposal, Proposer
from specviz.decoding.recorder import Recorder, RoundFacts
from specviz.decoding.sampling import Chance, check_finite, to_probs
from specviz.decoding.verify import Verification, verify, verify_greedy
from specviz.trace.values import Round, Sampling, StopReason


@dataclass(frozen=True, slots=True)
class Limits:
    """When a lane ends."""

    max_new_tokens: int
    eos_ids: frozenset[int]
    """Any of these ends the text; may be empty."""
    context: int | None
    """Most tokens, prompt included, that the target can read; None: unknown."""


class Decoder:
    """Decodes one lane, round by round."""

    def __init__(
        self,
        target: ModelRunner,
        proposer: Proposer,
        *,
        gamma: int,
        sampling: Sampling,
        limits: Limits,
        chance: Chance,
        clock: Clock,
        recorder: Recorder,
        recorded: RecordedPlay | None = None,
        lengths: DraftLengths | None = None,
    ) -> None:
        """Decode with a proposer's drafts.

        Args:
            gamma: Tokens to draft a round, where `lengths` does not choose.
            lengths: Chooses how many each round drafts at most; None: always `gamma`.
            recorded: Plays the rounds that fit it (what a device has recorded, or a wrong rule),
                all others are played step by step; None: all are.
        """
        self._target = target
        self._proposer = proposer
        self._lengths = lengths or Fixed(gamma)
        self._sampling = sampling
        self._limits = limits
        self._chance = chance
        self._clock = clock
        self._recorder = recorder
        self._recorded = recorded
        self._committed: list[int] = []
        self._num_prompt = 0
        self._num_rounds = 0
        self._last: Round | None = None
        self.stop_reason: StopReason | None = None

    @property
    def output_ids(self) -> tuple[int, ...]:
        """Tokens emitted so far."""
        return tuple(self._committed[self._num_prompt :])

    @torch.inference_mode()
    def prefill(self, prompt_ids: Sequence[int]) -> float:
        """Read the prompt, all but its last token, which the first round feeds; return
        milliseconds.

        Nothing is emitted here, so every emitted token is paid for by a round.
        """
        if not prompt_ids:
            raise ValueError("the prompt must hold at least one token")
        self._committed = list(prompt_ids)
        self._num_prompt = len(prompt_ids)
        self._num_rounds = 0
        self.stop_reason = None
        self._chance.reset()
        self._recorder.reset(prompt_ids)
        self._lengths.reset()
        self._last = None
        begun = self._clock.now_ms()
        self._target.reset()
        if len(prompt_ids) > 1:
            self._target.forward(prompt_ids[:-1], 1)
        self._proposer.reset(prompt_ids)
        return self._clock.now_ms() - begun

    @torch.inference_mode()
    def step(self) -> Round:
        """Run one round and return its record.

        Raises:
            DecodingError: The model returned logits that are not numbers.
            ValueError: The lane has ended.
        """
        if self.stop_reason is not None:
            raise ValueError(f"the lane has ended: {self.stop_reason}")
        begun = self._clock.now_ms()
        gamma = min(self._choose_length(), self._room() - 1)
        if self._recorded is not None and self._recorded.fits(self._committed, gamma):
            play = self._recorded.play(self._committed, gamma)
        else:
            play = self._play_step_by_step(gamma, begun)
        position = len(self._committed) - self._num_prompt
        emitted = self._commit(play.proposal, play.verification)
        took = self._clock.now_ms() - begun
        self._num_rounds += 1
        self._last = self._recorder.record(
            RoundFacts(
                index=self._num_rounds - 1,
                position=position,
                gamma=gamma,
                proposal=play.proposal,
                logits=play.logits,
                verification=play.verification,
                emitted_ids=emitted,
                draft_ms=play.draft_ms,
                verify_ms=play.verify_ms,
                other_ms=took - play.draft_ms - play.verify_ms,
            )
        )
        return self._last

    def _choose_length(self) -> int:
        """Most tokens to draft in this round, by what the rounds before it were: the lane pays for
        the choice."""
        if self._last is not None:
            self._lengths.observe(self._last)
        return self._lengths.next_gamma()

    def _play_step_by_step(self, gamma: int, begun: float) -> Play:
        """Draft, read and judge, and wait for the device after each; `begun` in milliseconds."""
        proposal = self._proposer.propose(self._committed, gamma, self._chance)
        drafted = self._clock.now_ms()
        logits = self._judge(proposal)
        judged = self._clock.now_ms()
        verification = self._verify(proposal, logits)
        return Play(proposal, logits, verification, drafted - begun, judged - drafted)

    def _room(self) -> int:
        """Tokens that may still be emitted."""
        asked = self._room_asked()
        if self._limits.context is None:
            return asked
        return min(asked, self._limits.context - len(self._committed))

    def _room_asked(self) -> int:
        """The same if the target's context had no end."""
        return self._limits.max_new_tokens - (len(self._committed) - self._num_prompt)

    def _judge(self, proposal: Proposal) -> torch.Tensor:
        if proposal.is_chain:
            return self._target.forward([*self._committed, *proposal.token_ids], len(proposal) + 1)
        return self._target.forward_tree(self._committed, proposal.token_ids, proposal.parents)

    def _verify(self, proposal: Proposal, logits: torch.Tensor) -> Verification:
        check_finite(logits)
        if self._sampling.temperature == 0:
            return verify_greedy(proposal, logits.argmax(dim=-1).tolist())
        return verify(proposal, to_probs(logits, self._sampling), self._chance)

    def _commit(self, proposal: Proposal, verification: Verification) -> tuple[int, ...]:
        """Add what survived to the text, cut at an end token, and roll the caches back to it."""
        path = verification.path
        emitted = [*(proposal.token_ids[node] for node in path), verification.next_token]
        for index, token_id in enumerate(emitted):
            if token_id in self._limits.eos_ids:
                emitted = emitted[: index + 1]
                self.stop_reason = StopReason.EOS
                break
        self._target.keep(len(self._committed), path[: len(emitted)])
        self._committed += emitted
        if self.stop_reason is None and self._room() <= 0:
            is_asked = self._room_asked() <= 0
            self.stop_reason = StopReason.LENGTH if is_asked else StopReason.CONTEXT
        return tuple(emitted)
