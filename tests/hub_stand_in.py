"""A hub of models on this machine: answers huggingface_hub as the real one does, faults included.

It serves folders as repositories with one commit. What it was asked for is noted in `requests`.
"""

import hashlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from transformers import LlamaConfig

from specviz.models.hub_catalogue import known_revision

ALLOWED_TOKEN = "hf_let_in"
COMMIT = "c0ffee" + "0" * 34
PIECE_BYTES = 4096
PIECE_SECONDS = 0.05
LARGE_BYTES = 10_000
"""Files from here on say their size as those in large-file storage do."""
HUB_CONFIG = LlamaConfig(
    vocab_size=320,
    hidden_size=32,
    intermediate_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    max_position_embeddings=64,
)
"""Shape of the tiny models that tests serve."""
INFO = re.compile(r"/api/models/(?P<name>[^/]+/[^/]+)/revision/(?P<revision>[^?]+)(\?.*)?")
AUTH = re.compile(r"/api/models/(?P<name>[^/]+/[^/]+)/auth-check")
FILE = re.compile(r"/(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>[^?]+)(\?.*)?")


class Fault(StrEnum):
    """What is wrong with a repository."""

    NONE = "none"
    GATED = "gated"
    SLOW = "slow"
    """Answers nothing until the hub ends."""
    BREAKS = "breaks"
    """Ends every answer with a large file in its middle, `num_breaks` times."""
    TRICKLES = "trickles"
    """Sends large files piece by piece, with a pause after each, until that is mended."""
    DOWN = "down"
    """The hub has a fault of its own."""


@dataclass
class Repository:
    """A folder that is served."""

    folder: Path
    fault: Fault = Fault.NONE
    num_breaks: int = 10**6
    commit: str = COMMIT


@dataclass
class Request:
    """What the hub was asked for."""

    method: str
    path: str
    range: str | None
    token: str | None


@dataclass
class HubStandIn:
    """The served repositories by their ids, and what was asked of them."""

    address: str
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    ends: threading.Event = field(default_factory=threading.Event)
    connections: list[socket.socket] = field(default_factory=list)
    leave: Callable[[], object] = bool
    """Ends the hub: from then on connections are refused."""

    def add(self, name: str, folder: Path, fault: Fault = Fault.NONE) -> Repository:
        """Serve a folder as `owner/name`, at the revision that the catalogue asks for."""
        known = known_revision(name)
        commit = COMMIT if known == "main" else known
        self.repositories[name] = Repository(folder, fault, commit=commit)
        return self.repositories[name]

    def downloads(self, file: str) -> list[Request]:
        """The requests that took content of a file."""
        return [x for x in self.requests if x.method == "GET" and x.path.endswith(f"/{file}")]


@contextmanager
def serving_hub() -> Iterator[HubStandIn]:
    """Run a hub on a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.hub = HubStandIn(f"http://127.0.0.1:{server.server_address[1]}")  # type: ignore[attr-defined]
    hub: HubStandIn = server.hub  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})

    def leave() -> None:
        hub.ends.set()
        server.shutdown()
        server.server_close()
        for connection in hub.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        thread.join()

    hub.leave = leave
    thread.start()
    try:
        yield hub
    finally:
        leave()


def use_hub(monkeypatch: pytest.MonkeyPatch, address: str, cache: Path) -> None:
    """Let huggingface_hub ask that hub instead of the real one, with a cache of its own.

    The library reads its environment once, when it is imported, so its constants are set.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import close_session

    monkeypatch.setattr(constants, "ENDPOINT", address)
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(cache / "token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    close_session()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self._hub.connections.append(self.connection)

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, *args: object) -> None:
        """Nothing is printed."""

    @property
    def _hub(self) -> HubStandIn:
        hub: HubStandIn = self.server.hub  # type: ignore[attr-defined]
        return hub

    def _answer(self) -> None:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        range_ = self.headers.get("Range")
        self._hub.requests.append(Request(self.command, self.path, range_, token))
        info, file = INFO.fullmatch(self.path), FILE.fullmatch(self.path)
        asks_access = AUTH.fullmatch(self.path)
        found = info or file or asks_access
        repository = found and self._hub.repositories.get(found["name"])
        if not found or not repository:
            self._refuse(404 if token else 401, "RepoNotFound", "Repository not found")
        elif repository.fault is Fault.SLOW:
            self._hub.ends.wait()
            self.close_connection = True
        elif repository.fault is Fault.DOWN:
            self._refuse(500, "", "Internal Error")
        elif not asks_access and found["revision"] not in ("main", repository.commit):
            self._refuse(404, "RevisionNotFound", "Invalid rev id")
        elif info:
            self._send(json.dumps(_info(found["name"], repository)).encode(), {})
        elif repository.fault is Fault.GATED and token != ALLOWED_TOKEN:
            self._refuse(403 if token else 401, "GatedRepo", "Access to model is restricted")
        elif asks_access:
            self._send(b"{}", {})
        else:
            self._serve(repository, repository.folder / found["file"])

    def _refuse(self, status: int, code: str, text: str) -> None:
        headers = {"X-Error-Message": text} | ({"X-Error-Code": code} if code else {})
        self._send(json.dumps({"error": text}).encode(), headers, status)

    def _serve(self, repository: Repository, path: Path) -> None:
        if not path.is_file():
            self._refuse(404, "EntryNotFound", "Entry not found")
            return
        content, headers, status = path.read_bytes(), {"X-Repo-Commit": repository.commit}, 200
        headers["ETag"] = f'"{hashlib.sha1(content).hexdigest()}"'
        headers["Accept-Ranges"] = "bytes"
        is_large = len(content) >= LARGE_BYTES
        if is_large:
            headers |= {"X-Linked-Size": str(len(content)), "X-Linked-ETag": headers["ETag"]}
        first = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if first:
            start, end = int(first[1]), len(content)
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{end}"
            content, status = content[start:], 206
        breaks = is_large and repository.fault is Fault.BREAKS and self.command == "GET"
        if breaks and repository.num_breaks > 0:
            repository.num_breaks -= 1
            self._send(content, headers, status, num_sent=len(content) // 2)
            self.close_connection = True
        else:
            self._send(content, headers, status, trickles=repository if is_large else None)

    def _send(
        self,
        content: bytes,
        headers: dict[str, str],
        status: int = 200,
        num_sent: int | None = None,
        trickles: Repository | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if trickles is None or trickles.fault is not Fault.TRICKLES:
            self.wfile.write(content[:num_sent])
            return
        for start in range(0, len(content), PIECE_BYTES):
            try:
                self.wfile.write(content[start : start + PIECE_BYTES])
            except OSError:
                return
            if trickles.fault is Fault.TRICKLES:
                self._hub.ends.wait(PIECE_SECONDS)


def _info(name: str, repository: Repository) -> dict[str, object]:
    files = sorted(path for path in repository.folder.rglob("*") if path.is_file())
    return {
        "id": name,
        "sha": repository.commit,
        "private": False,
        "gated": "manual" if repository.fault is Fault.GATED else False,
        "siblings": [
            {
                "rfilename": path.relative_to(repository.folder).as_posix(),
                "size": path.stat().st_size,
                "blobId": hashlib.sha1(path.read_bytes()).hexdigest(),
            }
            for path in files
        ],
    }
