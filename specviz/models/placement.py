"""Where the weights of a model go: to one device, or spread over all where one is too small."""

from typing import Any

import torch

from specviz.errors import FullMemoryError
from specviz.models.free_space import free_memory, gigabytes
from specviz.models.precision import Precision
from specviz.texts import message

ROOM_SHARE = 0.9
"""Of what is free on each of several devices: caches and what layers compute need room too."""


def place_model(
    name: str, needed: int, precision: Precision, device: torch.device
) -> dict[str, Any]:
    """Return what `from_pretrained` is told of the devices; nothing for a model that fits the CPU.

    A model that is too large for its device goes to all graphics cards and the processor's memory,
    as transformers and accelerate spread it (`device_map="auto"`). Quantised weights are computed
    on graphics cards alone.

    Args:
        needed: Bytes of its weights.

    Raises:
        FullMemoryError: It fits neither the device nor all together; the sizes are said.
    """
    free = free_memory(str(device))
    if free is None or needed <= free:
        is_whole_cpu = device.type == "cpu" and precision.quantize is None
        return {} if is_whole_cpu else {"device_map": {"": str(device)}}
    rooms = device_rooms(device, with_cpu=precision.quantize is None)
    in_all = sum(rooms.values())
    if needed <= in_all:
        return {"device_map": "auto", "max_memory": rooms}
    sizes = {"model": name, "needed": gigabytes(needed), "dtype": precision.label}
    if rooms:
        text = message("refusal.memory_load_all", **sizes, free=gigabytes(in_all))
    else:
        text = message("refusal.memory_load", **sizes, free=gigabytes(free), device=str(device))
    raise FullMemoryError(text)


def device_rooms(device: torch.device, *, with_cpu: bool) -> dict[int | str, int]:
    """Bytes that a spread model may take of each device, in accelerate's names; none where the
    device is no graphics card, since there is nothing beside it."""
    if device.type != "cuda":
        return {}
    names: list[int | str] = list(range(torch.cuda.device_count()))
    if with_cpu:
        names.append("cpu")
    free = {name: free_memory(name if name == "cpu" else f"cuda:{name}") for name in names}
    return {name: int(ROOM_SHARE * each) for name, each in free.items() if each}
