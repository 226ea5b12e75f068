"""The page's pure scripts, by Node's own test runner: tests/js."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LEAST_NODE = (20, 19)
"""From here on Node reads a file of modules without a package.json beside it."""


def test_the_pure_scripts_pass_their_own_tests() -> None:
    node = _find_node()
    files = sorted((ROOT / "tests" / "js").glob("*.test.js"))
    assert files
    run = subprocess.run(
        [node, "--test", *map(str, files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def _find_node() -> str:
    """Give the path of Node; without a fit one the test fails in CI and is skipped elsewhere."""
    node = shutil.which("node")
    reason = f"no Node on the path: install version {LEAST_NODE[0]}.{LEAST_NODE[1]} or newer"
    if node is not None:
        told = subprocess.run(
            [node, "--version"], capture_output=True, text=True, check=True
        ).stdout
        version = re.match(r"v(\d+)\.(\d+)\.", told)
        if version and (int(version[1]), int(version[2])) >= LEAST_NODE:
            return node
        reason = f"Node {told.strip()} is too old: install {LEAST_NODE[0]}.{LEAST_NODE[1]} or newer"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
