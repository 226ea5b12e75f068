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


@pytest.fixture(scope="session")
def tiny_pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Folders of a tiny random target and of the same model, shaken a little."""
    import torch
    from tiny_models import CONFIGS, byte_tokenizer, random_model

    folders = []
    for name, noise in (("target", 0.0), ("draft", 0.02)):
        folder = tmp_path_factory.mktemp(name)
        config = CONFIGS["llama"]()
        config.vocab_size = len(byte_tokenizer())
        random_model(config, noise=noise, dtype=torch.float32).save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
        folders.append(str(folder))
    return folders[0], folders[1]
