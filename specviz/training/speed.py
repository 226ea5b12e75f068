"""How many tokens a second training takes here, in the plain way and in this package's."""

import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from tokenizers import Tokenizer

from specviz.distill.optimizers import build_optimizers
from specviz.distill.training_run import default_device
from specviz.training.architecture import TARGET, build_model
from specviz.training.pretrain import target_loss
from specviz.training.settings import FamilySettings

SPEED_FILE = "speed.json"
ROWS, SEQ_LEN = 8, 256
NUM_STEPS = 4

Step = Callable[[torch.Tensor], None]


def measure_speeds(settings: FamilySettings, tokenizer: Tokenizer, build: Path) -> dict[str, float]:
    """Time a few optimizer steps of the target, the variants in turn; keep and print tokens/s.

    "plain" is transformers' own loss with AdamW, in float32 and in bf16 autocast; "ours" is what
    `target` runs: the fused loss, its early exit included, and Muon.
    """
    device = default_device()
    variants: dict[str, Step] = {
        "plain, float32": _plain(settings, tokenizer, device, autocast=False),
        "plain, bf16 autocast": _plain(settings, tokenizer, device, autocast=True),
        "ours, float32": _ours(settings, tokenizer, device),
    }
    rng = np.random.default_rng(settings.seed)
    shape = (ROWS, SEQ_LEN + 1)
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(1 + NUM_STEPS):
        ids = rng.integers(tokenizer.get_vocab_size(), size=shape)
        batch = torch.from_numpy(ids).to(device)
        for name, step in variants.items():
            begun = time.perf_counter()
            step(batch)
            if device.type == "cuda":
                torch.cuda.synchronize()
            times[name].append(time.perf_counter() - begun)
    # The first step of each warms up.
    speeds = {
        name: ROWS * SEQ_LEN / float(np.median(seconds[1:])) for name, seconds in times.items()
    }
    (build / SPEED_FILE).write_text(json.dumps(speeds, indent=1))
    for name, speed in speeds.items():
        Console().print(f"{name}: {speed:.0f} tokens/s")
    return speeds


def _plain(
    settings: FamilySettings, tokenizer: Tokenizer, device: torch.device, *, autocast: bool
) -> Step:
    model: Any = build_model(settings, TARGET, tokenizer).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.target.other_lr)

    def step(batch: torch.Tensor) -> None:
        context = torch.autocast(device.type, torch.bfloat16) if autocast else nullcontext()
        with context:
            loss = model(input_ids=batch, labels=batch, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.target.clip)
        optimizer.step()
        optimizer.zero_grad()

    return step


def _ours(settings: FamilySettings, tokenizer: Tokenizer, device: torch.device) -> Step:
    target = settings.target
    model = build_model(settings, TARGET, tokenizer).to(device)
    optimizers = build_optimizers(model, target.matrix_lr, target.other_lr, target.weight_decay)

    def step(batch: torch.Tensor) -> None:
        _, total = target_loss(model, batch, target, step=0)
        total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), target.clip)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()

    return step
