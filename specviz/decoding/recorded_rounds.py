"""Rounds of a draft model's chain that run on the device from the first draft to the last flag.

The host sends one small tensor, starts what is recorded (the draft's chain, the target's block,
the judgement), and reads one small tensor. What the record of a round needs besides, laws and
logits, stays on the device until the round's clock has stopped.

Proposals that are no chain of a draft model (prompt lookup, early exit, trees) are judged by
`verify`, step by step.
"""

from collections.abc import Sequence

from specviz.decoding.clock import Clock
from specviz.decoding.play import Play
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.sampling import SeededChance
from specviz.decoding.static_chain import FIRST_WIDTH, StaticChain
from specviz.decoding.static_judge import StaticJudge
from specviz.decoding.static_runner import StaticRunner


class RecordedRounds:
    """Plays the rounds of one lane in which the whole draft length fits."""

    def __init__(
        self,
        drafted: StaticChain,
        judge: StaticJudge,
        draft: DraftModel,
        target: StaticRunner,
        chance: SeededChance,
        clock: Clock,
    ) -> None:
        """Play what is recorded.

        Args:
            drafted: Recorded by the runner of `draft`, as is `judge`.
            chance: The lane's own; what a round did not use of it is still to be drawn.
        """
        assert isinstance(draft.runner, StaticRunner)
        self._drafted, self._judge = drafted, judge
        self._draft, self._draft_runner = draft, draft.runner
        self._target = target
        self._chance = chance
        self._clock = clock

    def fits(self, committed_ids: Sequence[int], gamma: int) -> bool:
        """Whether a round behind these tokens is of the recorded length and has room for it.

        Where it is not (the last rounds of a text, a prompt of one token), drafting goes step by
        step.
        """
        end = len(committed_ids) + gamma
        return (
            gamma == self._drafted.kind.gamma == self._draft.num_drafts(committed_ids, gamma)
            and len(committed_ids) >= FIRST_WIDTH
            and end <= min(self._target.capacity, self._draft_runner.capacity)
            and self._draft_runner.has_chain(self._drafted)
            and self._target.has_read(committed_ids[:-1])
        )

    def play(self, committed_ids: Sequence[int], gamma: int) -> Play:
        """Draft, read and judge; `gamma` is the recorded one, where the round fits.

        Raises:
            DecodingError: A model returned logits that are not numbers.
        """
        kind = self._drafted.kind
        begun = self._clock.mark()
        readable = self._draft.readable(committed_ids)
        self._draft_runner.read_up_to_chain(readable)
        draws = [] if kind.is_greedy else self._chance.peek(kind.num_draws)
        self._drafted.fill(readable, committed_ids[-1], draws)
        self._drafted.run()
        drafted = self._clock.mark()
        block, start = self._drafted.block
        self._judge.logits.copy_(self._target.read_block(block, start))
        read = self._clock.mark()
        judged = self._judge.judge(draws)
        self._chance.skip(judged.num_drawn)
        self._draft_runner.note([*readable, *judged.drafted_ids[:-1]])
        self._target.note([*committed_ids, *judged.drafted_ids])
        return Play(
            judged.proposal,
            self._judge.logits[: len(judged.proposal) + 1],
            judged.verification,
            draft_ms=drafted.ms_since(begun),
            verify_ms=read.ms_since(drafted),
        )
