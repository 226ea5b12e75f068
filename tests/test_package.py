"""What a wheel holds: everything that the app runs, and not how the family was trained."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_training_is_not_installed_and_every_other_room_is() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    find = tools["setuptools"]["packages"]["find"]
    packages = {
        ".".join(file.relative_to(ROOT).parent.parts)
        for file in (ROOT / "specviz").rglob("__init__.py")
    }
    left_out = {
        package
        for package in packages
        if not any(fnmatchcase(package, pattern) for pattern in find["include"])
        or any(fnmatchcase(package, pattern) for pattern in find["exclude"])
    }
    assert left_out == {"specviz.training"}
    assert "package-data" not in tools["setuptools"]


def test_nothing_that_is_installed_imports_training() -> None:
    for file in (ROOT / "specviz").rglob("*.py"):
        if "training" not in file.relative_to(ROOT / "specviz").parts:
            assert "specviz.training" not in file.read_text(encoding="utf-8"), file
