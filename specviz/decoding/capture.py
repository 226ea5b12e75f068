"""Records a computation once, so that it can be replayed without the host launching its parts."""

import gc
from collections.abc import Callable
from typing import Protocol

import torch

Compute = Callable[[], torch.Tensor]
NUM_WARM_UPS = 3


class Capture(Protocol):
    """Turns a computation over tensors that keep their place into a replay of it."""

    def __call__(self, compute: Compute) -> Compute:
        """Return what computes the same from what its inputs hold at that time.

        What it returns is written over by the next replay.
        """


def uncaptured(compute: Compute) -> Compute:
    """Compute anew each time: the form of a device that cannot record."""
    return compute


class CudaGraphs:
    """Records CUDA graphs that share one pool of memory."""

    def __init__(self) -> None:
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, compute: Compute) -> Compute:
        """Warm up on a side stream, then record; needs a thread that outlives the graph."""
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(NUM_WARM_UPS):
                compute()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                output = compute()
        finally:
            if was_enabled:
                gc.enable()

        def replay() -> torch.Tensor:
            graph.replay()
            return output

        return replay
