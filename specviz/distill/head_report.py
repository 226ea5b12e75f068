"""What training a head brought, as the `head.json` beside its weights."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

HEAD_FILE = "head.json"


@dataclass(frozen=True, slots=True)
class HeadFit:
    """What training a head brought: how well it guesses, and what was run for that."""

    target: str
    made_by: str
    """The command that trains the same head again."""
    tau: float
    """On held-out texts that had no part in choosing the weights: mean tokens of a round of as many
    guesses as `agreement` has, at temperature 0."""
    agreement: tuple[float, ...]
    """Of each step ahead: share of those tokens at which head and target have one first choice."""
    num_tokens: int
    """Held-out tokens of the first step."""
    num_prompts: int
    num_held_out: int
    """Prompts that were never trained on."""
    num_tokens_written: int
    """Of the target, to learn from."""
    num_tokens_trained: int
    """Read in all, each as often as it was."""
    num_steps: int
    """Optimizer steps that were taken."""
    best_step: int
    """The one whose weights are kept: they did best on other held-out texts."""
    end: str
    """Why learning ended: `done`, `plateau` or `stopped`."""
    dtype: str
    """Of the large products while it was trained; the weights were float32."""
    num_threads: int
    draft_vocab_size: int
    num_parameters: int
    seconds: float
    """Of writing and training."""


def write_head_fit(fit: HeadFit, folder: Path) -> None:
    """Write the report beside the weights."""
    text = json.dumps(asdict(fit), indent=1, ensure_ascii=False)
    (folder / HEAD_FILE).write_text(f"{text}\n", encoding="utf-8")


def read_head_fit(folder: Path) -> HeadFit:
    """Read the report of a folder.

    Raises:
        FileNotFoundError: It holds none.
    """
    content = json.loads((folder / HEAD_FILE).read_text(encoding="utf-8"))
    return HeadFit(**content | {"agreement": tuple(content["agreement"])})
