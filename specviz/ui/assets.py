"""Where the page's own files lie, and the addresses a browser gets them from.

Everything is served by this program itself, plotly.js out of the installed plotly package: a page
needs no other machine.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gradio as gr

from specviz.texts import STRINGS_FOLDER

ASSETS = Path(__file__).resolve().parents[2] / "assets"
JS_FOLDER = ASSETS / "js"
CSS_FOLDER = ASSETS / "css"
PALETTE = CSS_FOLDER / "1-palette.css"
PROMPTS_FOLDER = ASSETS / "prompts"
TRACES_FOLDER = ASSETS / "traces"
STORY_OPENINGS = ASSETS / "story_openings.txt"
SWEEPS_FOLDER = ASSETS / "sweeps"

Settings = dict[str, Any]
"""Some of the settings of a race, as the page's module `settings.js` takes them."""


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt on offer; its name and hint are the texts `prompt.ID` and `prompt.ID_hint`.

    The hint is one sentence: what to watch while this prompt is raced, and why.
    """

    id: str
    prompt: str
    tries: dict[str, Settings]
    """What the hint invites to, by the NAME of its button's text `prompt.try_NAME`."""
    is_odd: bool = False
    """Whether it is there because it is unlike what the shipped target has read."""


@dataclass(frozen=True, slots=True)
class ExampleGroup:
    """Prompts of one kind, which the text `prompt.ID` names."""

    id: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Palette:
    """The page's colours, `#rrggbb` by name: `ink` is the custom property `--sv-ink`."""

    light: Mapping[str, str]
    dark: Mapping[str, str]


def serve_assets() -> None:
    """Let the web server hand out the page's scripts and texts, the recorded sweep and plotly.js,
    and nothing else."""
    gr.set_static_paths([JS_FOLDER, STRINGS_FOLDER, SWEEPS_FOLDER, plotly_js()])


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


def read_palette() -> Palette:
    """Read the colours of both modes; dark mode keeps those of light mode that it does not change.

    Raises:
        ValueError: the file has no block for one of the modes.
    """
    text = PALETTE.read_text(encoding="utf-8")
    light = _read_colours(text, ":root")
    return Palette(light, light | _read_colours(text, ".dark"))


def _read_colours(text: str, selector: str) -> dict[str, str]:
    block = re.search(rf"^{re.escape(selector)} {{$(.*?)^}}$", text, re.MULTILINE | re.DOTALL)
    if block is None:
        raise ValueError(f"{PALETTE} has no block for {selector}")
    return dict(re.findall(r"^  --sv-([\w-]+): (#[0-9a-f]{6});$", block[1], re.MULTILINE))


def read_early_script(languages: Sequence[str]) -> str:
    """Return the script that runs in the page's head, knowing the languages there are."""
    script = (JS_FOLDER / "early.js").read_text(encoding="utf-8")
    return f"(() => {{ const LANGUAGES = {json.dumps(list(languages))};\n{script}}})();"


def read_examples() -> tuple[ExampleGroup, ...]:
    """Read the example prompts, one file a group, in the order of the files' names."""
    groups = []
    for path in sorted(PROMPTS_FOLDER.glob("*.json")):
        group = json.loads(path.read_text(encoding="utf-8"))
        examples = tuple(
            Example(entry["id"], entry["prompt"], entry.get("try", {}), entry.get("odd", False))
            for entry in group["examples"]
        )
        groups.append(ExampleGroup(group["id"], examples))
    return tuple(groups)


def example_prompts() -> str:
    """Read the prompts that a draft may be fitted on as an example, one a line."""
    return STORY_OPENINGS.read_text(encoding="utf-8")
