"""Whatever is sent to the page is answered in a sentence, and nothing else answers at all."""

import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import ROOT, free_port, serving

from specviz.ui.http_guard import HUB_FRAMES, _nearest_public
from specviz.ui.http_routes import ROUTES, SIGN_IN_ROUTES, find_route

FIXTURE = Path(__file__).parents[1] / "fixtures" / "http_routes.json"
API = "/gradio_api"
NUM_FORGED = 1_000
HEADERS = ("x-content-type-options", "referrer-policy", "content-security-policy")


@dataclass(frozen=True)
class Served:
    client: httpx.Client
    race_inputs: list[Any]
    """What the button Race sends."""
    race_index: int
    functions: list[int]
    """The numbers of all functions of the page."""
    bus: int
    log: Path
    """What the server wrote to its error stream."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    port, log = free_port(), tmp_path_factory.mktemp("served") / "errors.txt"
    with (
        log.open("wb") as errors,
        serving("tests/fake_page.py", str(port), port=port, errors=errors) as address,
        httpx.Client(base_url=address, timeout=20) as client,
    ):
        config = client.get("/config").json()
        ids = {each["props"].get("elem_id"): each["id"] for each in config["components"]}
        entering = next(
            each["id"]
            for each in config["dependencies"]
            if len(each["inputs"]) == 8 and each["backend_fn"] and each["queue"] is False
        )
        lanes = json.dumps([{"method": "draft-model", "gamma": 4}])
        inputs: list[Any] = ["Hello", lanes, 0.0, 0, 1.0, 0, 16, True]
        functions = [each["id"] for each in config["dependencies"]]
        yield Served(client, inputs, entering, functions, ids["sv-bus"], log)


def event(served: Served, **changed: Any) -> dict[str, Any]:
    """A sound body that enters a race; each from a page of its own."""
    body = {
        "session_hash": f"page{random.getrandbits(60)}",
        "fn_index": served.race_index,
        "data": served.race_inputs,
        "event_data": None,
        "trigger_id": None,
    }
    return body | changed


def entered(served: Served, session: str) -> str:
    """Enter a race from a page; gives the id of its run."""
    told = served.client.post(f"{API}/run/predict", json=event(served, session_hash=session))
    assert told.status_code == 200, told.text
    run: str = json.loads(told.json()["data"][0])["run"]
    return run


def call(served: Served, name: str, arguments: object, session: str = "somebody") -> Any:
    body = {
        "session_hash": session,
        "component_id": served.bus,
        "fn_name": name,
        "data": arguments,
    }
    return served.client.post(f"{API}/component_server", json=body)


def test_every_answer_has_the_headers(served: Served) -> None:
    answers = [
        served.client.get("/"),
        served.client.get("/health"),
        served.client.get("/nowhere"),
        served.client.get("/config"),
        served.client.post(f"{API}/queue/join", json={}),
        served.client.options(
            f"{API}/queue/join",
            headers={"Origin": "https://x.example", "Access-Control-Request-Method": "POST"},
        ),
    ]
    for answer in answers:
        assert [answer.headers.get_list(name)[0] for name in HEADERS[:2]] == [
            "nosniff",
            "no-referrer",
        ]
        (policy,) = answer.headers.get_list(HEADERS[2])
        ancestors = policy.split(";")[0].split()
        assert ancestors == ["frame-ancestors", "'self'", *HUB_FRAMES]


def test_what_the_page_does_not_use_is_closed(served: Served) -> None:
    closed = ["/monitoring", f"{API}/upload_progress", f"{API}/proxy=http://127.0.0.1/", "/docs"]
    for path in closed:
        assert served.client.get(path).status_code == 404, path
    files = {"files": ("a.txt", b"x" * 500_000)}
    assert served.client.post(f"{API}/upload", files=files).status_code == 404
    assert served.client.post("/login", data={"username": "a"}).status_code == 404
    assert served.client.get(f"{API}/file=/etc/passwd").status_code == 403


def test_the_routes_are_those_that_were_looked_at() -> None:
    """What a new version of Gradio opens shows here, and is closed until somebody looked at it."""
    program = ("tests/fake_page.py", "0", "routes")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = subprocess.run(
        [sys.executable, *program], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    found = {}
    for method, path in json.loads(told.stdout):
        example = re.sub(r"\{[^}]*\}", "x", path)
        is_open = find_route(method, example, ROUTES + SIGN_IN_ROUTES) is not None
        found[f"{method} {path}"] = "open" if is_open else "closed"
    assert found == json.loads(FIXTURE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("", None),
        ("8.8.8.8", "8.8.8.8"),
        ("1.2.3.4, 8.8.8.8, 10.0.0.7", "8.8.8.8"),
        ("made up, 10.0.0.7", "10.0.0.7"),
        ("8.8.8.8, 2001:4860:4860::8888", "2001:4860:4860::8888"),
    ],
)
def test_a_visitor_is_where_the_hosts_own_proxies_say(forwarded: str, address: str) -> None:
    assert _nearest_public(forwarded) == address


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"nonsense", 400),
        (b"[]", 400),
        (b'{"data": NaN}', 400),
        (b'{"data": "\\ud800"}', 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, 400),
        (b'{"a": ' + b"9" * 5_000 + b"}", 400),
        (b'"' + b"x" * 300_000 + b'"', 413),
    ],
)
def test_what_is_no_body_is_refused_before_it_is_read_on(
    served: Served, content: bytes, status: int
) -> None:
    sent = {"Content-Type": "application/json"}
    answer = served.client.post(f"{API}/queue/join", content=content, headers=sent)
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_a_long_prompt_is_refused_by_the_page_in_its_own_words(served: Served) -> None:
    inputs = ["x" * 5_000, *served.race_inputs[1:]]
    told = served.client.post(f"{API}/run/predict", json=event(served, data=inputs))
    status = json.loads(told.json()["data"][0])["status"]
    assert status["text"]["id"] == "error.prompt_too_long"
    huge = ["x" * 5_000_000, *served.race_inputs[1:]]
    told = served.client.post(f"{API}/run/predict", json=event(served, data=huge))
    assert told.status_code == 413


def forged_value(coin: random.Random) -> Any:
    """Something that some field somewhere was not made for."""
    return coin.choice(
        [
            None, True, -1, 0, 10**400, 1e308, -1e308, math.nan, math.inf, "", "x" * 3_000,
            "<script>window.hacked=1</script>", "../../etc/passwd", "${6*7}", "\x00",
            "\ud83d\ude00", [], {}, [[]], [None] * 50, {"path": "/etc/passwd"},
            {"__type__": "update"},
            {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}},
            [{"method": "draft-model", "gamma": 10**9}], '[{"method": 5}]',
        ]
    )  # fmt: skip


def forge(served: Served, coin: random.Random, run: str) -> tuple[str, dict[str, Any]]:
    """Make a body of some address in which something is wrong, or foreign."""
    path = coin.choice(
        ["queue/join", "run/predict", "call/race", "call/v2/race", "component_server", "cancel"]
    )
    if path == "component_server":
        names = ["replay", "control", "opened", "finished", "saved", "task_start", "__class__"]
        values = [coin.choice([run[:-1], forged_value(coin)]) for _ in range(coin.randrange(5))]
        body = {
            "session_hash": coin.choice(["other", forged_value(coin)]),
            "component_id": coin.choice([served.bus, served.bus, 0, 10**6, forged_value(coin)]),
            "fn_name": coin.choice([*names, forged_value(coin)]),
            "data": coin.choice([values, forged_value(coin)]),
        }
    elif path == "call/v2/race":
        body = {
            coin.choice(["prompt", "lanes", "sampling", "max_new_tokens", "else"]): forged_value(
                coin
            )
            for _ in range(coin.randrange(6))
        }
    else:
        body = event(served)
        body["fn_index"] = coin.choice([*served.functions, *served.functions, 10**6])
        inputs = [coin.choice([x, forged_value(coin)]) for x in served.race_inputs]
        body["data"] = coin.choice([inputs, inputs[: coin.randrange(9)], forged_value(coin)])
        for key in list(body):
            if coin.random() < 0.15:
                body[key] = forged_value(coin)
        if coin.random() < 0.1:
            body |= {"batched": True, "simple_format": True, "oauth_token": "hf_planted0001"}
    return f"{API}/{path}", body


def files_of(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_a_thousand_forged_bodies(served: Served) -> None:
    """No failure of the server, no traceback, no file, and nothing of another visitor."""
    coin = random.Random(14)
    secret = "the hare knows nothing of it"
    inputs = [secret, *served.race_inputs[1:]]
    told = served.client.post(
        f"{API}/run/predict", json=event(served, session_hash="victim", data=inputs)
    )
    run = json.loads(told.json()["data"][0])["run"]
    here, temporary = (
        files_of(Path.cwd() / "specviz"),
        files_of(Path(tempfile.gettempdir(), "gradio")),
    )
    statuses = set()
    for _ in range(NUM_FORGED):
        path, body = forge(served, coin, run)
        content = json.dumps(body).encode("utf-8", "surrogatepass")
        sent = {"Content-Type": "application/json"}
        answer = served.client.post(path, content=content, headers=sent)
        statuses.add(answer.status_code)
        assert answer.status_code < 500 or answer.status_code == 503, (path, body, answer.text)
        assert secret not in answer.text, (path, body)
        assert run not in answer.text, (path, body)
    assert statuses >= {200, 400}
    time.sleep(0.5)
    written = served.log.read_text(encoding="utf-8")
    assert "Traceback" not in written, written[-3_000:]
    assert "hf_planted" not in written
    assert files_of(Path.cwd() / "specviz") == here
    assert files_of(Path(tempfile.gettempdir(), "gradio")) == temporary
    replayed = call(served, "replay", [run, 0]).json()
    assert json.loads(replayed[0])["status"]["state"] == "waiting", "nobody has touched it"
