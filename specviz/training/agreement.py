"""How well a draft agrees with its target: alpha and equal first choices, on the same tokens."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from specviz.distill.agreement import Agreement
from specviz.distill.training_run import read_state
from specviz.training.architecture import TARGET
from specviz.training.corpus import TokenStream, positive
from specviz.training.sampling import Prompts, load_prompts, write
from specviz.training.settings import FamilySettings

BLOCK_ROWS = 16
HELD_OUT_ROWS = 16
HELD_OUT_STEPS = 96


@torch.inference_mode()
def measure_agreement(
    target: Any, draft: Any, ids: torch.Tensor, wanted: torch.Tensor
) -> Agreement:
    """Compare two models where `wanted` says so.

    Args:
        ids: `[rows, length]` int64.
        wanted: `[rows, length]` bool; both predict position i from the ids before it.
    """
    alpha = greedy = 0.0
    for start in range(0, len(ids), BLOCK_ROWS):
        rows, judged = ids[start : start + BLOCK_ROWS], wanted[start : start + BLOCK_ROWS, 1:]
        target_logits = target(input_ids=rows[:, :-1]).logits[judged]
        draft_logits = draft(input_ids=rows[:, :-1]).logits[judged]
        overlap = torch.minimum(target_logits.softmax(-1), draft_logits.softmax(-1)).sum(-1)
        alpha += float(overlap.sum())
        greedy += float((target_logits.argmax(-1) == draft_logits.argmax(-1)).sum())
    num_tokens = int(wanted[:, 1:].sum())
    return Agreement(alpha / max(1, num_tokens), greedy / max(1, num_tokens), num_tokens)


@dataclass(frozen=True, slots=True)
class HeldOutText:
    """Rows on which draft and target are compared, and the positions that count."""

    ids: torch.Tensor
    wanted: torch.Tensor


def write_held_out(target: Any, prompts: Prompts, source: str, seed: int) -> HeldOutText:
    """Let the target answer held-out prompts of one source, every other row greedily."""
    rng = np.random.default_rng([seed, len(source)])
    first = sorted((prompts.draw(source, rng) for _ in range(8 * HELD_OUT_ROWS)), key=len)
    more = (prompts.draw(source, rng) for _ in iter(int, 1))
    temperatures = [1.0, 0.0] * (HELD_OUT_ROWS // 2)
    writing = write(target, first[:HELD_OUT_ROWS], more, temperatures, HELD_OUT_STEPS, seed)
    return HeldOutText(
        torch.from_numpy(writing.ids.astype(np.int64)).to(target.device),
        torch.from_numpy(writing.is_written).to(target.device),
    )


def held_out_texts(
    target: Any, settings: FamilySettings, corpus: Path, build: Path, tokenizer: Tokenizer
) -> dict[str, HeldOutText]:
    """What the target writes after held-out prompts, by source.

    Kept in the build folder: every draft is judged on the same texts, written once.
    """
    path = build / f"held_out_{read_state(build / TARGET).tokens}.npz"
    if not path.exists():
        prompts = load_prompts(settings, corpus, tokenizer, held_out=True)
        arrays: dict[str, Any] = {}
        for source in prompts.texts:
            text = write_held_out(target, prompts, source, settings.seed)
            arrays[f"{source}.ids"] = text.ids.cpu().numpy()
            arrays[f"{source}.wanted"] = text.wanted.cpu().numpy()
        fresh = build / f"held_out.{os.getpid()}.npz"
        np.savez(fresh, **arrays)
        fresh.replace(path)
    with np.load(path) as stored:
        return {
            source: HeldOutText(
                torch.from_numpy(stored[f"{source}.ids"]).to(target.device),
                torch.from_numpy(stored[f"{source}.wanted"]).to(target.device),
            )
            for source in positive(settings.sample.prompt_mix)
        }


def cut_windows(stream: TokenStream, rows: int, length: int, seed: int) -> HeldOutText:
    """Cut windows of held-out text of which every position counts."""
    rng = np.random.default_rng(seed)
    windows = np.stack([stream.window(length, rng) for _ in range(rows)]).astype(np.int64)
    return HeldOutText(torch.from_numpy(windows), torch.ones(windows.shape, dtype=torch.bool))


def tokens_to_text(tokenizer: Tokenizer, ids: list[int]) -> str:
    """Decode ids without the begin and end tokens."""
    return str(tokenizer.decode(ids, skip_special_tokens=True))
