"""A race whose memory runs out: it ends in one sentence, and what it has taken is given back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from specviz.errors import RequestError
from specviz.models.full_memory import free_gigabytes, is_full_memory, release_memory
from specviz.models.source import ModelSource
from specviz.race.race import LaneDecoder
from specviz.texts import message
from specviz.trace.values import Round, StopReason


@dataclass(frozen=True, slots=True)
class MemoryGuard:
    """Says of one race what it wanted where memory is full."""

    pool: ModelSource
    num_lanes: int
    num_tokens: int
    """Longest text of a lane, prompt included."""

    @contextmanager
    def guarding(self, give_up: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Do something of the race.

        Args:
            give_up: Is called where memory runs out: lets go of what took it.

        Raises:
            RequestError: Memory ran out. Loaded models stay; all else is given back.
        """
        try:
            yield
        # Allocators raise errors of many kinds.
        except Exception as error:
            if not is_full_memory(error):
                raise
            give_up()
            device = self.pool.device
            release_memory(device, error)
            raise RequestError(
                message(
                    "refusal.memory_race",
                    device=str(device),
                    lanes=self.num_lanes,
                    tokens=self.num_tokens,
                    dtype=self.pool.dtype,
                    free=free_gigabytes(device),
                )
            ) from error


class GuardedDecoder:
    """A lane's decoder that lets go of its caches where memory runs out."""

    def __init__(self, decoder: LaneDecoder, guard: MemoryGuard) -> None:
        self._decoder: LaneDecoder | None = decoder
        self._guard = guard

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the lane has ended."""
        return None if self._decoder is None else self._decoder.stop_reason

    def prefill(self, prompt_ids: Sequence[int]) -> float:
        """As the decoder's; raises RequestError where memory runs out."""
        with self._guard.guarding(self._give_up):
            return self._running().prefill(prompt_ids)

    def step(self) -> Round:
        """As the decoder's; raises RequestError where memory runs out."""
        with self._guard.guarding(self._give_up):
            return self._running().step()

    def _running(self) -> LaneDecoder:
        if self._decoder is None:
            raise ValueError("the lane has ended: its memory was full")
        return self._decoder

    def _give_up(self) -> None:
        self._decoder = None
