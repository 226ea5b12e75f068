"""Memory that is full: how errors say so, and how to give back what nobody uses any more."""

import errno
import gc
import traceback
from collections.abc import Iterator

import torch

from specviz.models.free_space import free_memory, gigabytes
from specviz.texts import Text, message

_WORDS = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "cublas_status_alloc_failed",
)
"""How the allocators of torch for processors and Metal, cuBLAS and operating systems say it."""


def is_full_memory(error: BaseException) -> bool:
    """Whether an error, or one that it came from, says that memory is full."""
    return any(_says_so(each) for each in _chain(error))


def release_memory(device: torch.device, error: BaseException | None = None) -> None:
    """Give back what nothing holds any more; first what the frames of `error` hold."""
    if error is not None:
        for each in _chain(error):
            traceback.clear_frames(each.__traceback__)
    # Races keep the collector off loaded modules.
    gc.unfreeze()
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def free_gigabytes(device: torch.device) -> float | Text:
    """What a sentence says of the free memory of a device, before "GB"."""
    free = free_memory(str(device))
    return message("refusal.unknown_number") if free is None else gigabytes(free)


def _says_so(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    return any(word in str(error).lower() for word in _WORDS)


def _chain(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__
