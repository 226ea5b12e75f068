"""How many processor threads a model is run with."""

import os

import torch
from transformers import PreTrainedModel

# Below this size a layer takes less time than waking a second thread for it: on two cores the
# shipped target is faster on one thread, and leaves the other core to the page that shows the race.
SMALL_MODEL_PARAMETERS = 30_000_000


def choose_threads(models: list[PreTrainedModel]) -> int:
    """Set torch's thread count for a race among `models` on the CPU, and return it.

    One thread where every model is small, else OMP_NUM_THREADS where it is set, else one a core.
    All lanes of a race, and whatever they are compared with, run with the same count.
    """
    largest = max(model.num_parameters() for model in models)
    count = 1 if largest < SMALL_MODEL_PARAMETERS else _available_cores()
    torch.set_num_threads(count)
    return count


def _available_cores() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
