"""One thread, no network, the same numbers every time."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest
from hypothesis import settings

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Tests of the page alone run where torch is not installed."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    # Debug filling of new tensors would slow every cache and prove nothing here.
    torch.utils.deterministic.fill_uninitialized_memory = False
