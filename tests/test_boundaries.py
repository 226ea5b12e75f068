"""Imports point down only, and what must run without torch does."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS: Mapping[str, int] = {
    "specviz": 0,
    "specviz.errors": 0,
    "specviz.hub_key": 0,
    "specviz.texts": 0,
    "specviz.trace.limits": 0,
    "specviz.trace.values": 0,
    "specviz.trace": 1,
    "specviz.decoding": 2,
    "specviz.models": 2,
    "specviz.models.eagle_form": 1,
    "specviz.race": 3,
    "specviz.race.wiring": 4,
    "specviz.proof": 5,
    "specviz.distill": 3,
    "specviz.training": 4,
    "specviz.bench": 3,
    "specviz.bench.against": 5,
    "specviz.bench.device_report": 5,
    "specviz.ui": 3,
    "specviz.host": 5,
    "specviz.host.page_models": 6,
    "specviz.cli": 6,
    "specviz.__main__": 7,
    "app": 7,
}
"""Floors of ARCHITECTURE.md, with those files of a room that stand on another floor; `specviz` is
the version number alone."""
MAY_USE_LAYERS = {room: {0, 1} for room in ("specviz.ui", "specviz.bench")}
"""Views and measurements are handed `start_race`; they never reach for models themselves."""
SIDEWAYS = {
    ("specviz.trace.values", "specviz.trace.limits"),
    ("specviz.errors", "specviz.texts"),
    ("specviz.bench.device_report", "specviz.bench.against"),
}
"""Neighbours on one floor that may be used."""
PACKAGES = {
    "specviz.trace": {"numpy"},
    "specviz.trace.values": set(),
    "specviz.trace.limits": set(),
    "specviz.errors": set(),
    "specviz.hub_key": set(),
    "specviz.texts": set(),
    "specviz.models.eagle_form": set(),
}
"""What rooms with little need may use beside the standard library."""
QUIET = (("specviz.cli", "transformers.utils"), ("specviz.bench.against", "transformers.utils"))
"""The command line may tell transformers to keep its progress bars to itself."""
TORCH_LIVES_IN = (
    "specviz.decoding",
    "specviz.models",
    "specviz.distill",
    "specviz.training",
    "specviz.race.wiring",
    "specviz.proof",
)


def room_of(module: str) -> str:
    """The longest name in LAYERS that `module` is or lies in."""
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        if ".".join(parts[:end]) in LAYERS and (end > 1 or len(parts) == 1):
            return ".".join(parts[:end])
    raise LookupError(f"{module} has no layer; give it one in LAYERS")


def imported(source: str, module: str) -> Iterator[str]:
    """Every module that `source` imports, inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            origin = node.module or ""
            if origin == "specviz":
                yield from (_submodule(name.name) for name in node.names)
            else:
                yield origin


def _submodule(name: str) -> str:
    is_module = (ROOT / "specviz" / name).is_dir() or (ROOT / "specviz" / f"{name}.py").is_file()
    return f"specviz.{name}" if is_module else "specviz"


def violations(source: str, module: str) -> list[str]:
    """What `module` imports and must not."""
    room = room_of(module)
    layer, found = LAYERS[room], []
    for name in imported(source, module):
        top = name.split(".")[0]
        is_heavy = top in ("torch", "transformers", "accelerate")
        if is_heavy and not module.startswith(TORCH_LIVES_IN) and (room, name) not in QUIET:
            found.append(f"{module} imports {top}")
        own = {*sys.stdlib_module_names, "specviz"}
        if room in PACKAGES and top not in own | PACKAGES[room]:
            found.append(f"{module} imports {top}")
        if top not in ("specviz", "app"):
            continue
        other = room_of(name)
        if other in (room, "specviz") or (room, other) in SIDEWAYS:
            continue
        allowed = MAY_USE_LAYERS.get(room, set(range(layer)))
        if LAYERS[other] not in allowed:
            found.append(f"{module} (layer {layer}) imports {name} (layer {LAYERS[other]})")
    return found


def modules() -> list[tuple[str, Path]]:
    files = [*sorted((ROOT / "specviz").rglob("*.py")), ROOT / "app.py"]
    named = []
    for file in files:
        if file.is_file():
            parts = file.relative_to(ROOT).with_suffix("").parts
            named.append((".".join(p for p in parts if p != "__init__"), file))
    return named


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("specviz.trace.values", "from specviz.trace.metrics import race_metrics"),
        ("specviz.trace.values", "import numpy"),
        ("specviz.trace.metrics", "import rich"),
        ("specviz.ui.page", "import torch.nn"),
        ("specviz.trace.metrics", "from specviz.models.loading import ModelPool"),
        ("specviz.decoding.verify", "from specviz.models.loading import ModelPool"),
        ("specviz.models.loading", "from specviz.decoding.sampling import Chance"),
        ("specviz.race.lanes", "from specviz.race.wiring import make_start_race"),
        ("specviz.race.race", "import torch"),
        ("specviz.ui.page", "from specviz.race.race import run_race"),
        ("specviz.ui.page", "def f():\n    from specviz.decoding import sampling"),
        ("specviz.ui.page", "from specviz import decoding"),
        ("specviz.bench.repeats", "import specviz.race.lanes"),
        ("specviz.bench.family_races", "from specviz.race.wiring import make_start_race"),
        ("specviz.distill.draft_training", "from specviz.training.corpus import read"),
        ("specviz.training.drafts", "from specviz.race.race import run_race\nimport app"),
    ],
)
def test_the_checker_catches_a_violation(module: str, source: str) -> None:
    if module == "specviz.training.drafts":
        source = "import app"
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("specviz.race.race", "from specviz.trace.values import Round\nimport collections"),
        ("specviz.ui.page", "import gradio\nfrom specviz.ui.theme import THEME"),
        (
            "specviz.training.drafts",
            "import torch\nfrom specviz.decoding.sampling import to_probs",
        ),
        ("specviz.race.lanes", "from specviz.decoding.decoder import Decoder"),
        ("app", "from specviz.race.wiring import make_start_race"),
    ],
)
def test_the_checker_lets_the_rest_pass(module: str, source: str) -> None:
    assert violations(source, module) == []


def test_a_module_without_a_layer_is_noticed() -> None:
    with pytest.raises(LookupError, match="has no layer"):
        violations("", "specviz.new_room")


def test_imports_point_down() -> None:
    found = [
        violation
        for module, file in modules()
        for violation in violations(file.read_text(encoding="utf-8"), module)
    ]
    assert found == []
    assert len(modules()) > 20


def test_there_is_no_cycle_inside_a_room() -> None:
    names = {module: file for module, file in modules()}
    edges = {
        module: {
            name
            for name in imported(file.read_text(encoding="utf-8"), module)
            if name in names and name != module
        }
        for module, file in names.items()
    }

    def reaches(start: str, goal: str, seen: set[str]) -> bool:
        for name in edges[start] - seen:
            seen.add(name)
            if name == goal or reaches(name, goal, seen):
                return True
        return False

    assert [module for module in names if reaches(module, module, set())] == []


@pytest.mark.parametrize(
    "module",
    ["specviz.ui", "specviz.trace", "specviz.bench.repeats"],
)
def test_a_recorded_race_can_be_shown_without_torch(module: str) -> None:
    """Every file of the package is imported, not its name alone."""
    code = (
        f"import importlib, pkgutil, sys; package = importlib.import_module({module!r})\n"
        "for found in pkgutil.iter_modules(getattr(package, '__path__', [])):\n"
        "    importlib.import_module(f'{package.__name__}.{found.name}')\n"
        "bad = {'torch', 'transformers'} & set(sys.modules)\n"
        "sys.exit(f'loaded {bad}' if bad else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
