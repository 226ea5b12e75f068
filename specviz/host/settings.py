"""What whoever hosts the page may set: one table, read from the command line and the environment.

Spaces and containers start `app.py` bare, so every flag is a variable too: `--allow-hub` is
`SPECVIZ_ALLOW_HUB`. A flag counts more than its variable. Parser, README and the sentences about
wrong values come from this table. Nothing heavy is imported: it is read before Gradio and the hub.
"""

import argparse
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specviz.errors import RequestError
from specviz.models.dtypes import QUANTIZED_BYTES

PREFIX = "SPECVIZ_"
OTHER_VARIABLES = frozenset({"SPECVIZ_MODELS", "SPECVIZ_CHROMIUM"})
"""Variables with this prefix that are read elsewhere: where fitted drafts lie, and a browser."""
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
PROFILES = ("local", "public")
LOGS = ("text", "json")


@dataclass(frozen=True, slots=True)
class HostSettings:
    """What was set, each value in its own kind; None where it was left to the program."""

    target: str | None = None
    draft: str | None = None
    head: tuple[str, ...] = ()
    device: str = "auto"
    dtype: str = "auto"
    quantize: str | None = None
    port: int | None = None
    address: str | None = None
    profile: str | None = None
    allow_hub: bool = False
    hub_catalogue: bool = False
    frames: tuple[str, ...] = ()
    behind_proxy: bool = False
    logs: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    name: str
    """That of the field in `HostSettings`."""
    about: str
    """What it sets, with its default."""
    takes: tuple[str, ...] = ()
    """The only texts that it takes, where it does not take any."""
    read: Callable[[str], Any] = str
    """Makes the value; raises ValueError for a text that it does not take."""
    allowed: str = ""
    """What `read` takes, for a sentence that refuses."""

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return PREFIX + self.name.upper()

    @property
    def is_switch(self) -> bool:
        """Whether its flag stands alone."""
        return self.read is _switch


def _switch(text: str) -> bool:
    if text.lower() not in _YES + _NO:
        raise ValueError
    return text.lower() in _YES


def _device(text: str) -> str:
    if not re.fullmatch(r"[a-z]+(:[0-9]{1,2})?", text):
        raise ValueError
    return text


def _origins(text: str) -> tuple[str, ...]:
    origins = tuple(each.strip() for each in text.split(",") if each.strip())
    if not all(re.fullmatch(r"\*|https?://[A-Za-z0-9.*-]+(:[0-9*]{1,5})?", x) for x in origins):
        raise ValueError
    return origins


def _names(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdecimal() else 0
    if not 1 <= port <= 65_535:
        raise ValueError
    return port


_SWITCH: dict[str, Any] = {"read": _switch, "allowed": "1 or 0"}
SETTINGS = (
    Setting("target", "model to check with, a hub id or a folder; the shipped one if left out"),
    Setting("draft", "model to guess with, beside a target"),
    Setting(
        "head",
        "EAGLE-3 heads to offer, with commas between: folders, or hub ids where the hub is open",
        read=_names,
    ),
    Setting(
        "device",
        "`cpu`, `cuda`, `cuda:1`, `mps`, or `auto`, the default: the fastest",
        read=_device,
        allowed="auto, cpu, mps, cuda or, where there are several, as in cuda:1",
    ),
    Setting(
        "dtype",
        "`float32`, `bfloat16`, `float16`, `float64`, or `auto`, the default: by size and device",
        takes=("auto", "float32", "bfloat16", "float16", "float64"),
    ),
    Setting(
        "quantize",
        "`8bit` or `4bit`: hold weights in so many bits (needs bitsandbytes)",
        takes=tuple(QUANTIZED_BYTES),
    ),
    Setting(
        "port",
        "port to serve on; the first free one from 7860 if left out",
        read=_port,
        allowed="a whole number from 1 to 65535",
    ),
    Setting("address", "address to listen on; `127.0.0.1` if left out, `0.0.0.0` is everywhere"),
    Setting(
        "profile",
        "`local` or `public`: the limits below; `public` on Spaces, else `local`",
        takes=PROFILES,
    ),
    Setting("allow_hub", "let the target and visitors name any model of the hub", **_SWITCH),
    Setting(
        "hub_catalogue",
        "let visitors race the catalogue's pairs, and nothing else of the hub; on on Spaces",
        **_SWITCH,
    ),
    Setting(
        "frames",
        "origins, with commas between, whose pages may embed this one beside the hub's",
        read=_origins,
        allowed="origins such as https://course.example, with commas between, or *",
    ),
    Setting(
        "behind_proxy",
        "take visitors' addresses from X-Forwarded-For; on on Spaces",
        **_SWITCH,
    ),
    Setting(
        "logs",
        "`text` or `json` lines on the error stream; `json` with the profile public",
        takes=LOGS,
    ),
)


def read_settings(
    arguments: Sequence[str] | None, environment: Mapping[str, str]
) -> tuple[HostSettings, bool]:
    """Read command line and environment; gives the settings, and whether only limits are wanted.

    An empty variable counts as none.

    Raises:
        RequestError: A variable is unknown, or a value is not one that its setting takes.
    """
    chosen = vars(_parser().parse_args(arguments))
    is_about_limits: bool = chosen.pop("limits")
    _check_names(environment)
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        for origin, text in (
            (setting.flag, chosen[setting.name]),
            (setting.variable, environment.get(setting.variable)),
        ):
            if text:
                values[setting.name] = _value(setting, text, origin)
                break
    settings = HostSettings(**values)
    if settings.draft and not settings.target:
        raise RequestError(
            f"a draft is named ({settings.draft!r}) and no target; "
            "name its target too, with --target or SPECVIZ_TARGET"
        )
    return settings, is_about_limits


def is_public(settings: HostSettings, environment: Mapping[str, str]) -> bool:
    """Whether strangers are served: as was said, and where nothing was said, on Spaces."""
    return (settings.profile or PROFILES["SPACE_ID" in environment]) == "public"


def settings_table() -> str:
    """Write the table in Markdown, as it stands in the README."""
    rows = ["| flag | variable | what it sets |", "|---|---|---|"]
    rows += [f"| `{each.flag}` | `{each.variable}` | {each.about} |" for each in SETTINGS]
    return "\n".join(rows)


def _value(setting: Setting, text: str, origin: str) -> Any:
    allowed = setting.allowed or " or ".join(setting.takes)
    try:
        if setting.takes and text not in setting.takes:
            raise ValueError
        return setting.read(text)
    except ValueError as error:
        raise RequestError(
            f"{origin} must be {allowed}, got {text!r}; give another value or leave it out"
        ) from error


def _check_names(environment: Mapping[str, str]) -> None:
    """Refuse a variable that nothing reads: who misspells a limit believes that it holds."""
    known = {each.variable for each in SETTINGS} | OTHER_VARIABLES
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name, sorted(known), 1, cutoff=0.8)
            meant = f"perhaps {near[0]} was meant; " if near else ""
            raise RequestError(f"nothing reads the variable {name}; {meant}unset or rename it")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="app.py",
        description="Serve the specviz page. Every option can be set by a variable too.",
    )
    for setting in SETTINGS:
        about = f"{setting.about.replace('`', '')} ({setting.variable})"
        if setting.is_switch:
            parser.add_argument(setting.flag, action="store_const", const="1", help=about)
        else:
            parser.add_argument(setting.flag, metavar=setting.name.upper(), help=about)
    parser.add_argument("--limits", action="store_true", help="print the limits and end")
    return parser
