"""What can be asked of fitting a draft to a target: plain values, without torch."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from specviz.errors import RequestError
from specviz.models.catalogue import listed_name

NEW_SIZES = ("tiny", "small", "large")
NEW_TOKENS = 128
MINUTES = 8.0
WRITING_SHARE = 0.45
TRAINING_SHARE = 0.45
"""Of the minutes; the rest goes by with reading and judging."""


@dataclass(frozen=True, slots=True)
class FitRequest:
    """One fit: which draft to which target, on what, for how long, into which folder."""

    target: str
    draft: str | None
    """The draft to begin with; None: a new one of `new_size`."""
    new_size: str | None
    prompts_file: Path
    held_out_file: Path | None
    """Prompts that only judge; None: a fifth of the others."""
    folder: Path
    new_tokens: int = NEW_TOKENS
    num_texts: int | None = None
    """Texts that the target writes after each prompt; None: as many as `minutes` allow."""
    num_steps: int | None = None
    """Optimizer steps; None: as many as `minutes` allow."""
    minutes: float = MINUTES
    """How long writing and training may take together."""
    seed: int = 0
    uses_chat: bool = False
    """Put the target's chat template around each prompt."""
    device: str = "cpu"
    dtype: str = "float32"
    """Of the target; the draft is trained in float32."""
    num_threads: int | None = None
    """Processor threads; None: torch decides."""
    keeps_work: bool = False
    head: str | None = None
    """`eagle3` where a head is trained and no draft model."""

    @property
    def draft_name(self) -> str:
        """How the draft is called on the way."""
        if self.head is not None:
            return "an EAGLE-3 head"
        return self.draft or f"new {self.new_size}"

    @property
    def options(self) -> dict[str, int | float | str | None]:
        """What the result depends on besides models and prompts, as the command line calls it: work
        that was interrupted goes on only where all of it is the same."""
        return {
            "--new-tokens": self.new_tokens,
            "--texts": self.num_texts,
            "--steps": self.num_steps,
            "--minutes": self.minutes,
            "--seed": self.seed,
            "--chat": self.uses_chat,
            "--dtype": self.dtype,
        }


def check_fit_request(request: FitRequest) -> None:
    """Refuse what cannot be fitted, before anything is loaded.

    Raises:
        RequestError: Names the first value that is off, and what is allowed.
    """
    _check_range("--new-tokens", request.new_tokens, 8, 4096)
    _check_range("--texts", request.num_texts, 1, 10_000)
    _check_range("--steps", request.num_steps, 1, 10_000_000)
    _check_range("--minutes", request.minutes, 0.1, 24 * 60)
    _check_range("--seed", request.seed, 0, 2**31 - 1)
    _check_range("--threads", request.num_threads, 1, 1024)
    if (request.folder / "config.json").exists():
        raise RequestError(
            f"{request.folder} already holds a model; choose another --out or remove it"
        )


def _check_range(name: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise RequestError(f"{name} must be {low:g} to {high:g}, got {value:g}")


def command_of(request: FitRequest, num_texts: int, num_steps: int) -> str:
    """The command that makes the same draft or head again, folders and files by their names
    alone."""
    words = ["python", "-m", "specviz", "distill", "--target", short_name(request.target)]
    if request.head is not None:
        words += ["--head", request.head]
    elif request.draft is None:
        words += ["--new", str(request.new_size)]
    else:
        words += ["--draft", short_name(request.draft)]
    words += ["--prompts", request.prompts_file.name]
    if request.held_out_file is not None:
        words += ["--held-out", request.held_out_file.name]
    words += ["--texts", str(num_texts), "--steps", str(num_steps)]
    for option, value, default in (
        ("--new-tokens", request.new_tokens, NEW_TOKENS),
        ("--seed", request.seed, 0),
        ("--device", request.device, "cpu"),
        ("--dtype", request.dtype, "float32"),
    ):
        if value != default:
            words += [option, str(value)]
    return shlex.join(words + ["--chat"] * request.uses_chat)


def short_name(model: str) -> str:
    """The name by which a model is known, else its folder's own name, else the name as it is."""
    path = Path(model).expanduser()
    return listed_name(model) or (path.resolve().name if path.is_dir() else model)
