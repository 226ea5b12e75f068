"""Where the page's own files lie, and the addresses a browser gets them from.

Everything is served by this program itself, plotly.js out of the installed plotly package: a page
needs no other machine.
"""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import gradio as gr

ASSETS = Path(__file__).resolve().parents[2] / "assets"
JS_FOLDER = ASSETS / "js"
CSS_FOLDER = ASSETS / "css"
PROMPTS_FOLDER = ASSETS / "prompts"


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt on offer: the word on its button, and what it puts into the prompt field."""

    label: str
    prompt: str
    hint: str
    """One sentence: what to watch while this prompt is raced, and why."""


@dataclass(frozen=True, slots=True)
class ExampleGroup:
    """Prompts of one kind."""

    label: str
    examples: tuple[Example, ...]


def serve_assets() -> None:
    """Let the web server hand out the scripts of this page and plotly.js, and nothing else."""
    gr.set_static_paths([JS_FOLDER, plotly_js()])


def plotly_js() -> Path:
    """Return the minified plotly.js that the installed plotly package carries."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ImportError("The charts need the package plotly; install requirements.txt.")
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


def file_address(path: Path) -> str:
    """Return the address of a served file, below the page's own root."""
    return f"/gradio_api/file={path.as_posix()}"


def read_css() -> str:
    """Return all style sheets as one text, in the order of their names."""
    sheets = sorted(CSS_FOLDER.glob("*.css"))
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)


def read_examples() -> tuple[ExampleGroup, ...]:
    """Read the example prompts, one file a group, in the order of the files' names."""
    groups = []
    for path in sorted(PROMPTS_FOLDER.glob("*.json")):
        group = json.loads(path.read_text(encoding="utf-8"))
        examples = tuple(Example(**entry) for entry in group["examples"])
        groups.append(ExampleGroup(group["label"], examples))
    return tuple(groups)
