"""Fakes of the static form: a device that records, models by tables, lanes of recorded rounds."""

from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace

import torch
from fakes import FakeClock, make_decoder

from specviz.decoding.capture import Capture, Compute, uncaptured
from specviz.decoding.decoder import Decoder
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.recorded_rounds import RecordedRounds
from specviz.decoding.sampling import SeededChance
from specviz.decoding.static_chain import ChainKind
from specviz.decoding.static_pass import Block
from specviz.decoding.static_runner import StaticRunner
from specviz.trace.values import Sampling


class FakeGraphs:
    """Replays as a device does: same inputs, same outputs, and what they hold is written over.

    A recorded computation must read nothing but tensors that keep their place; a replay writes its
    result where the recording had it, and everything else that it had returned is worthless then.
    """

    def __init__(self) -> None:
        self.num_captures = 0
        self.num_replays = 0
        self.may_capture = True

    def __call__(self, compute: Compute) -> Compute:
        assert self.may_capture, "recorded in mid-race"
        self.num_captures += 1
        output = compute()
        place = output.data_ptr()
        output.fill_(float("nan"))

        def replay() -> torch.Tensor:
            self.num_replays += 1
            output.copy_(compute())
            assert output.data_ptr() == place
            return output

        return replay


class MarkovPass:
    """The interface of `StaticPass` over a table of `MarkovRunner`."""

    def __init__(self, table: torch.Tensor, capacity: int) -> None:
        self.capacity = capacity
        self.device = table.device
        self.taps: tuple[int, ...] = ()
        self.tapped: tuple[torch.Tensor, ...] = ()
        self._table = table
        # The first place is for the token before a text, which counts as 0.
        self._ids = torch.zeros(capacity + 1, dtype=torch.int64)

    def __call__(self, block: Block, num_logits: int) -> torch.Tensor:
        self._ids.index_copy_(0, block.slots + 1, block.ids)
        return self._table[self._ids[block.slots], block.ids][-num_logits:]

    def keep_rows(self, start: int, rows: torch.Tensor) -> None:
        raise AssertionError("chains alone")

    def grown(self, capacity: int) -> "MarkovPass":
        raise AssertionError("the room is known")


class StaticMarkov(StaticRunner):
    """The static runner of a table `[vocab, vocab, vocab]`."""

    def __init__(
        self, table: torch.Tensor, gamma: int, room: int = 64, capture: Capture = uncaptured
    ) -> None:
        self.model = SimpleNamespace(dtype=table.dtype)  # type: ignore[assignment]
        self.vocab_size = table.shape[-1]
        self.context = None
        self.device = table.device
        self._layer_makers = None
        self._taps = ()
        self._widths = (1, 2, gamma + 1)
        self._num_grown = 0
        self._capture = capture
        self._steps = {}
        self._chain = None
        self._pass = MarkovPass(table, room)
        self.reset()
        self.prepare()


def recorded_lane(
    target: StaticRunner,
    draft: StaticRunner,
    *,
    gamma: int,
    sampling: Sampling,
    eos_ids: Iterable[int] = (),
    chance: SeededChance | None = None,
    **settings: object,
) -> Decoder:
    """A decoder whose rounds are recorded where the whole draft length fits."""
    chance, clock = chance or SeededChance(sampling.seed), FakeClock()
    ends = frozenset(eos_ids)
    proposer = DraftModel(draft, sampling, target.vocab_size, ends)
    kind = ChainKind(gamma, replace(sampling, seed=0), target.vocab_size, ends)
    drafted, judge = draft.record_chain(kind, target.model.dtype)
    return make_decoder(
        target,
        proposer,
        gamma=gamma,
        sampling=sampling,
        eos_ids=ends,
        chance=chance,
        clock=clock,
        recorded=RecordedRounds(drafted, judge, proposer, target, chance, clock),
        **settings,  # type: ignore[arg-type]
    )
