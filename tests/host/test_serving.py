"""A server that is asked to end lets its races end in a sentence, and says how it stands."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from serving import ROOT, free_port

API = "/gradio_api"
SECONDS_TO_START = 90.0


@contextmanager
def hosted(*options: str, log: Path) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client]]:
    port = free_port()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "tests/hosted_page.py", str(port), *options]
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=errors) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client,
    ):
        try:
            yield process, client
        finally:
            process.kill()


def health(client: httpx.Client, status: int) -> dict[str, object]:
    """Wait until the server says that it stands so."""
    ends_at = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < ends_at:
        try:
            answer = client.get("/health")
        except httpx.TransportError:
            time.sleep(0.2)
            continue
        if answer.status_code == status:
            told: dict[str, object] = answer.json()
            return told
        time.sleep(0.1)
    raise TimeoutError(f"the server never answered with {status}")


def ended_within(process: subprocess.Popen[bytes], seconds: float) -> int:
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=seconds)


def test_a_race_that_runs_ends_in_a_sentence_when_the_server_does(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with hosted(log=log) as (process, client):
        assert health(client, 200) == {"is_ready": True, "models": "loaded"}
        config = client.get("/config").json()
        entering, streaming = (
            next(
                each["id"]
                for each in config["dependencies"]
                if each["backend_fn"] and len(each["inputs"]) == count and each["queue"] is queued
            )
            for count, queued in ((8, False), (0, True))
        )
        lanes = json.dumps([{"method": "draft-model", "gamma": 4}])
        inputs = ["an endless tale", lanes, 0.0, 0, 1.0, 0, 192, True]
        body = {"session_hash": "page", "fn_index": entering, "data": inputs}
        assert client.post(f"{API}/run/predict", json=body).status_code == 200
        body = {"session_hash": "page", "fn_index": streaming, "data": []}
        assert client.post(f"{API}/queue/join", json=body).status_code == 200
        while "race begins" not in log.read_text(encoding="utf-8"):
            time.sleep(0.05)
        assert ended_within(process, 8) == 0
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    ends = [each for each in events if each["event"] == "race ended"]
    assert [each["state"] for each in ends] == ["stopped"]
    assert events[-1]["event"] == "ended"
    assert "endless tale" not in log.read_text(encoding="utf-8")


def test_a_server_that_loads_says_so_and_ends_too(tmp_path: Path) -> None:
    with hosted("loading", log=tmp_path / "log.txt") as (process, client):
        assert health(client, 503) == {"is_ready": False, "models": "loading"}
        policy = client.get("/health").headers["content-security-policy"]
        assert policy.split(";")[0].endswith("https://*.hf.space https://course.example")
        assert ended_within(process, 8) == 0
