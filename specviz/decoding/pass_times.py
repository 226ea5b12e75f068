"""How long a device takes: for one pass of a model over blocks of many lengths, and for a copy."""

from collections.abc import Iterable
from copy import deepcopy
from statistics import median

import torch
from transformers import PreTrainedModel

from specviz.decoding.clock import DeviceClock
from specviz.decoding.forms import MakeRunner

LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BATCHES = (1, 2, 4, 8, 16)
BATCH_LENGTHS = (1, 5)
"""A plain step, and the check of four guesses."""
OFFSET = 64
"""Tokens that stand before a block."""
STRIDE = 37
NUM_TIMED = 9
COPIED_BYTES = 2**28


@torch.inference_mode()
def pass_times(
    model: PreTrainedModel,
    make_runner: MakeRunner,
    lengths: Iterable[int] = LENGTHS,
    num_timed: int = NUM_TIMED,
) -> dict[int, float]:
    """Return the median milliseconds of a pass over blocks of each length, all of whose logits are
    wanted, behind a text of 64 tokens.

    Lengths take turns, so that a device that slows down does so for all of them.
    """
    lengths = tuple(lengths)
    runner = make_runner(model, OFFSET + max(lengths))
    clock = DeviceClock(runner.device)
    text = [(STRIDE * index + 1) % runner.vocab_size for index in range(OFFSET + max(lengths))]
    took: dict[int, list[float]] = {length: [] for length in lengths}
    for turn in range(num_timed + 1):
        for length in lengths if turn % 2 else reversed(lengths):
            runner.forward(text[:OFFSET], 1)
            begun = clock.now_ms()
            runner.forward(text[: OFFSET + length], length)
            # The first turn warms up.
            if turn:
                took[length].append(clock.now_ms() - begun)
    return {length: median(times) for length, times in took.items()}


@torch.inference_mode()
def batch_times(
    model: PreTrainedModel,
    batches: Iterable[int] = BATCHES,
    lengths: Iterable[int] = BATCH_LENGTHS,
    num_timed: int = NUM_TIMED,
) -> dict[tuple[int, int], float]:
    """Return the median milliseconds of a pass over blocks of each length, of so many texts at
    once, behind 64 tokens each; keys are (batch, length).

    Through the model's own modules and cache, as a server would run them: our lanes decode one text
    at a time. Batches and lengths take turns.
    """
    lengths, clock = tuple(lengths), DeviceClock(model.device)
    vocab_size = model.get_input_embeddings().num_embeddings
    num_tokens = OFFSET + max(lengths)
    text = [(STRIDE * index + 1) % vocab_size for index in range(num_tokens)]
    row = torch.tensor([text], device=model.device)
    caches = {
        batch: model(input_ids=row[:, :OFFSET].repeat(batch, 1), use_cache=True).past_key_values
        for batch in batches
    }
    keys = [(batch, length) for batch in caches for length in lengths]
    took: dict[tuple[int, int], list[float]] = {key: [] for key in keys}
    for turn in range(num_timed + 1):
        for batch, length in keys if turn % 2 else reversed(keys):
            cache = deepcopy(caches[batch])
            block = row[:, OFFSET : OFFSET + length].repeat(batch, 1)
            begun = clock.now_ms()
            model(input_ids=block, past_key_values=cache, use_cache=True)
            # The first turn warms up.
            if turn:
                took[batch, length].append(clock.now_ms() - begun)
    return {key: median(times) for key, times in took.items()}


def copy_rate(device: torch.device) -> float:
    """Bytes a second that the device reads and writes while it copies 256 MiB."""
    source = torch.zeros(COPIED_BYTES // 4, device=device)
    goal = torch.empty_like(source)
    clock, took = DeviceClock(device), []
    for _ in range(NUM_TIMED):
        begun = clock.now_ms()
        goal.copy_(source)
        took.append(clock.now_ms() - begun)
    return 2 * COPIED_BYTES / (median(took) / 1000)


def weight_bytes(model: PreTrainedModel) -> int:
    """Bytes of a model's weights, each counted once; every step of one token reads them all."""
    sizes = {
        tensor.data_ptr(): tensor.numel() * tensor.element_size() for tensor in model.parameters()
    }
    return sum(sizes.values())
