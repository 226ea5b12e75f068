"""Models of a hub: found, missing, gated, out of reach, slow, broken off, without room."""

import errno
import json
import re
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
from hub_stand_in import ALLOWED_TOKEN, COMMIT, HUB_CONFIG, Fault, HubStandIn, use_hub
from huggingface_hub import constants
from tiny_models import byte_tokenizer, random_model

from specviz.errors import ModelLoadError
from specviz.models import config_limits, hub_catalogue, hub_files
from specviz.models.hub_problems import hub_problem
from specviz.models.loading import ModelPool
from specviz.models.model_facts import NamedSource


def refusal(name: str, pool: ModelPool | None = None) -> str:
    pool = pool or ModelPool()
    with pytest.raises(ModelLoadError) as caught:
        pool.get(name)
    assert not pool.has(name), "nothing half-loaded remains"
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_model_is_downloaded_without_what_it_does_not_need_and_loaded_once(
    hub: HubStandIn, repository: Path
) -> None:
    told: list[tuple[int, int]] = []
    pool = ModelPool()
    loaded = pool.get("tiny/model", lambda done, total: told.append((done, total)))
    expected = random_model(HUB_CONFIG, dtype=torch.float32)
    ids = torch.tensor([[5, 6, 7]])
    assert torch.equal(loaded.model(ids).logits, expected(ids).logits)
    assert loaded.tokenizer.get_vocab() == byte_tokenizer().get_vocab()
    files = {request.path.rsplit(f"{COMMIT}/")[-1] for request in hub.requests}
    assert not any("bin" in file or "onnx" in file or "README" in file for file in files)
    total = told[-1][1]
    assert total > sum(file.stat().st_size for file in repository.glob("*.safetensors"))
    assert told[-1] == (total, total)
    done = [each for each, _ in told]
    assert done == sorted(done)
    assert len(set(done)) > 10, "it is told while a file comes"
    assert pool.get("tiny/model") is loaded


def test_a_model_that_was_downloaded_is_loaded_without_the_hub(
    hub: HubStandIn, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ModelPool().get("tiny/model")
    hub.requests.clear()
    again = ModelPool().get("tiny/model")
    assert again.model is not None
    assert not any(request.path.endswith(".safetensors") for request in hub.requests)
    hub.repositories["tiny/model"].fault = Fault.SLOW
    assert ModelPool().get("tiny/model").model is not None
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert ModelPool().get("tiny/model").model is not None
    next(cache.glob("models--tiny--model/snapshots/*/*.safetensors")).unlink()
    assert "HF_HUB_OFFLINE keeps the hub out" in refusal("tiny/model"), "half of it is none of it"


@pytest.mark.parametrize(
    ("room", "limit", "sentence"),
    [
        (config_limits, "MAX_CONFIG_BYTES", "config.json takes 1 kB and at most 0 kB are read"),
        (hub_files, "MAX_SMALL_BYTES", "takes more than 0 MB, which no description"),
    ],
)
def test_what_is_too_large_for_a_description_is_not_downloaded(
    room: ModuleType, limit: str, sentence: str, hub: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, limit, 100)
    assert sentence in refusal("tiny/model")
    with pytest.raises(ModelLoadError, match=re.escape(sentence)):
        NamedSource().read("tiny/model")
    assert all("/resolve/" not in request.path for request in hub.requests)


def test_a_model_that_is_not_there(hub: HubStandIn) -> None:
    assert "the hub has no such model" in refusal("tiny/nothing")
    assert "`hf auth login`" in refusal("tiny/nothing")


def test_a_gated_model_says_how_to_sign_in(
    hub: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = refusal("tiny/gated")
    assert "it is gated; ask for access at" in sentence
    assert f"{hub.address}/tiny/gated, then set HF_TOKEN or run `hf auth login`" in sentence
    monkeypatch.setenv("HF_TOKEN", "hf_somebody_else")
    sentence = refusal("tiny/gated")
    assert "the account that is signed in here has no access" in sentence
    assert "hf_somebody_else" not in sentence
    monkeypatch.setenv("HF_TOKEN", ALLOWED_TOKEN)
    assert ModelPool().get("tiny/gated").model is not None


def test_a_hub_that_refuses_connections(
    hub: HubStandIn, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_hub(monkeypatch, "http://127.0.0.1:9", cache)
    assert "the hub cannot be reached (" in refusal("tiny/model")


def test_a_hub_that_does_not_answer_is_not_waited_for(hub: HubStandIn) -> None:
    begun = time.perf_counter()
    assert "took too long to answer" in refusal("tiny/slow")
    assert time.perf_counter() - begun < 20, "one question, not a row of retries"
    assert len(hub.requests) == 1


def test_a_fault_of_the_hub(hub: HubStandIn) -> None:
    assert "the hub refused it (HTTP 500); try again later" in refusal("tiny/down")


def test_a_download_that_breaks_off_goes_on_by_itself(hub: HubStandIn) -> None:
    hub.repositories["tiny/breaks"].num_breaks = 3
    assert ModelPool().get("tiny/breaks").model is not None
    resumed = [x.range for x in hub.requests if x.range is not None]
    assert len(resumed) == 3
    assert all(each != "bytes=0-" for each in resumed)


def test_a_download_that_breaks_for_good_is_one_sentence_and_complete_files_are_kept(
    hub: HubStandIn,
) -> None:
    pool = ModelPool()
    good = pool.get("tiny/model")
    broken = hub.repositories["tiny/breaks"]
    sentence = refusal("tiny/breaks", pool)
    assert "its download broke off (" in sentence
    assert "try again, files that are complete are kept" in sentence
    assert pool.get("tiny/model") is good
    first = sorted(broken.folder.glob("*.safetensors"))[0].name
    num_config = len(hub.downloads("config.json"))
    broken.num_breaks = 0
    hub.requests.clear()
    assert pool.get("tiny/breaks").model is not None
    assert hub.downloads("config.json") == []
    assert num_config > 0
    assert len(hub.downloads(first)) == 1


def test_a_download_can_be_stopped_and_taken_up_again(hub: HubStandIn) -> None:
    pool, told = ModelPool(), [0]

    def on_progress(done: int, total: int) -> None:
        told.append(done)

    with pytest.raises(ModelLoadError, match="its download was stopped; files that are complete"):
        pool.get("tiny/model", on_progress, lambda: told[-1] > 50_000)
    assert not pool.has("tiny/model")
    assert told[-1] < 70_000, "it stops at once"
    hub.requests.clear()
    assert pool.get("tiny/model").model is not None
    assert hub.downloads("tokenizer.json") == []


@pytest.fixture
def copied(repository: Path, hub: HubStandIn, tmp_path: Path) -> Path:
    """Another repository, to change: `tiny/odd`."""
    copied = tmp_path / "odd"
    copied.mkdir()
    for file in repository.glob("*.*"):
        (copied / file.name).write_bytes(file.read_bytes())
    hub.add("tiny/odd", copied)
    return copied


def test_a_repository_without_safetensors_is_refused_before_anything_is_downloaded(
    hub: HubStandIn, copied: Path
) -> None:
    for file in copied.glob("*.safetensors"):
        file.unlink()
    assert "holds no weights as safetensors" in refusal("tiny/odd")
    assert len(hub.requests) == 1


def test_a_config_that_asks_for_code_costs_no_weights(hub: HubStandIn, copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {"auto_map": {"AutoModel": "evil.M"}}))
    assert "asks for code of its own" in refusal("tiny/odd")
    assert not any(request.path.endswith(".safetensors") for request in hub.requests)


def test_weights_that_lack_a_tensor_leave_nothing_behind(hub: HubStandIn, copied: Path) -> None:
    index = json.loads((copied / hub_files.INDEX_FILE).read_text())
    (copied / sorted(set(index["weight_map"].values()))[0]).write_bytes(b"\xff" * 4096)
    assert "tiny/odd cannot be loaded" in refusal("tiny/odd")


def test_a_disk_without_room_is_found_before_the_download(
    hub: HubStandIn, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_files, "free_disk", lambda folder: 100_000)
    sentence = refusal("tiny/model")
    assert "GB are to be downloaded and 0 GB are free in" in sentence
    assert str(cache) in sentence
    assert not any(request.path.endswith(".safetensors") for request in hub.requests)


def test_a_disk_that_becomes_full_is_one_sentence(
    hub: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(hub_files, "hf_hub_download", full)
    assert "the disk became full while it was downloaded" in refusal("tiny/model")


def test_a_model_of_the_catalogue_is_taken_at_its_revision(
    hub: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hub_catalogue.known_revision("tiny/model") == "main"
    models = {"tiny/model": SimpleNamespace(revision="v9")}
    monkeypatch.setattr(hub_catalogue, "read_catalogue", lambda: SimpleNamespace(models=models))
    assert "it has no revision v9; take main" in refusal("tiny/model")
    with pytest.raises(ModelLoadError, match="it has no revision v9"):
        NamedSource().read("tiny/model")


def test_an_unknown_revision_and_an_error_that_nobody_foresaw(hub: HubStandIn) -> None:
    with pytest.raises(ModelLoadError, match="has no revision v9; take main"):
        hub_files.list_model("tiny/model", "v9")
    problem = hub_problem("tiny/model", ZeroDivisionError("a\nb"))
    assert problem == {"id": "refusal.not_loaded", "model": "tiny/model", "reason": "a b"}
