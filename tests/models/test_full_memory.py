"""Full memory is told from other errors, whoever says it, and what failed is let go."""

import errno
import gc
import weakref

import pytest
import torch

from specviz.models.full_memory import free_gigabytes, is_full_memory, release_memory

FULL = {
    "torch": torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
    "python": MemoryError(),
    "cuda": RuntimeError("CUDA error: out of memory"),
    "cublas": RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    "metal": RuntimeError("MPS backend out of memory (MPS allocated: 4 GB)"),
    "windows": RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9"),
    "system": OSError(errno.ENOMEM, "Cannot allocate memory"),
}


@pytest.mark.parametrize("who", FULL)
def test_every_allocator_is_understood(who: str) -> None:
    assert is_full_memory(FULL[who])


def test_the_allocator_of_this_machine_is_understood() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**58)
    assert is_full_memory(caught.value)


def test_an_error_that_came_of_full_memory_says_so_too() -> None:
    error = ValueError("cannot be read")
    error.__cause__ = MemoryError()
    assert is_full_memory(error)


@pytest.mark.parametrize("error", [RuntimeError("shapes differ"), OSError(errno.ENOSPC, "full")])
def test_other_errors_are_not_full_memory(error: Exception) -> None:
    assert not is_full_memory(error)


def test_what_the_frames_of_an_error_hold_is_released() -> None:
    held: list[weakref.ref[torch.Tensor]] = []

    def fill() -> None:
        mine = torch.zeros(8)
        held.append(weakref.ref(mine))
        raise MemoryError

    with pytest.raises(MemoryError) as caught:
        fill()
    gc.collect()
    assert held[0]() is not None
    release_memory(torch.device("cpu"), caught.value)
    assert held[0]() is None


def test_free_memory_that_nobody_knows_is_said_in_words() -> None:
    assert free_gigabytes(torch.device("meta")) == {"id": "refusal.unknown_number"}
    assert isinstance(free_gigabytes(torch.device("cpu")), float)
