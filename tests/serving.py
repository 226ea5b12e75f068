"""Starts a page in a process of its own, so that a test sees it as a visitor does."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(
    *arguments: str, port: int, seconds: float = 120.0, errors: IO[bytes] | None = None
) -> Iterator[str]:
    """Run `python ARGUMENTS` from the root and give the address once it answers.

    `errors` takes what it writes to its error stream.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=errors)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(process, address, seconds)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(process: subprocess.Popen[bytes], address: str, seconds: float) -> None:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        if process.poll() is not None:
            raise RuntimeError(f"the page ended with {process.returncode} before it answered")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError(f"the page did not answer within {seconds} s")
