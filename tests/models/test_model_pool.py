"""What stays in memory: models of two targets, and nothing of a load that failed."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from specviz.errors import ModelLoadError
from specviz.models import loading
from specviz.models.full_memory import release_memory
from specviz.models.loading import ModelPool


def test_two_targets_stay_and_the_one_used_least_recently_goes(repository: Path) -> None:
    pool = ModelPool()
    # One folder by four names, which the pool takes for four models.
    first, second, third, draft = (f"{repository}{'/' * number}" for number in range(4))
    pool.hold(first, [draft])
    model = pool.get(first).model
    model.in_a_circle = [model]
    gone = weakref.ref(model)
    del model
    kept = pool.get(draft)
    pool.hold(second)
    pool.get(second)
    pool.hold(first)
    pool.hold(third, [draft])
    assert (pool.has(first), pool.has(second), pool.has(draft)) == (True, False, True)
    gc.freeze()  # As a race does once it has measured its target.
    pool.hold(second)
    assert not pool.has(first)
    assert pool.get(draft) is kept, "a draft that another target uses stays"
    assert gone() is None


def test_a_loaded_model_is_lent_while_another_is_on_its_way(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, may_go_on = threading.Event(), threading.Event()

    def fetch_slowly(*args: object) -> Path:
        asked.set()
        assert may_go_on.wait(60)
        return repository

    monkeypatch.setattr(loading, "fetch_model", fetch_slowly)
    pool = ModelPool()
    here = pool.get(str(repository))
    with ThreadPoolExecutor(3) as threads:
        slow = [threads.submit(pool.get, "tiny/model") for _ in range(2)]
        assert asked.wait(60)
        try:
            assert threads.submit(pool.get, str(repository)).result(timeout=30) is here
            assert not pool.has("tiny/model")
        finally:
            may_go_on.set()
        first, second = (each.result() for each in slow)
    assert first is second, "loaded once for both"


def test_what_a_failure_has_read_is_let_go(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[torch.nn.Module]] = []

    def full(model: torch.nn.Module, *args: object) -> None:
        made.append(weakref.ref(model))
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(torch.nn.Module, "to", full)
    with pytest.raises(ModelLoadError, match="memory of cpu was full") as caught:
        ModelPool().get(str(repository))
    assert made[0]() is None, "while the error is still held"
    assert caught.value.__cause__ is not None


def test_memory_of_a_graphics_card_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    emptied = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(True))
    release_memory(SimpleNamespace(type="cuda"))  # type: ignore[arg-type]
    assert emptied == [True]
