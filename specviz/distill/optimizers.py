"""Muon for the matrices inside the layers, AdamW for everything else.

`torch.optim.Muon` orthogonalises in bfloat16, which a processor without bfloat16 units emulates
ten times slower than float32; this one takes the dtype that it is told and handles equal shapes
together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch

# Quintic Newton-Schulz coefficients of Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/).
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
NUM_ITERATIONS = 5
# Learning rates of Muon, and of AdamW at a width of one.
NEW_RATES = (0.02, 0.25)
FITTING_RATES = (0.005, 0.06)
ADAM_RATE = 0.1
REFITTING_SCALE = 0.2
"""Of the rates above, for a draft that agrees with its target already."""
WEIGHT_DECAY = 0.01


def orthogonalise(matrices: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Bring every singular value of `[batch, rows, columns]` close to one, computing in `dtype`."""
    transposed = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if transposed else matrices
    x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(dtype)
    a, b, c = COEFFICIENTS
    for _ in range(NUM_ITERATIONS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    result: torch.Tensor = x.mT if transposed else x
    return result.to(matrices.dtype)


class Muon(torch.optim.Optimizer):
    """Momentum whose step is made orthogonal, for 2-D weights (Jordan et al. 2024)."""

    def __init__(
        self,
        params: Iterable[torch.nn.Parameter],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.dtype = dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take one step."""
        for group in self.param_groups:
            by_shape: dict[Any, list[torch.nn.Parameter]] = defaultdict(list)
            for param in group["params"]:
                if param.grad is not None:
                    by_shape[param.shape].append(param)
            for shape, params in by_shape.items():
                wanted = torch.stack([self._momentum(param, group["momentum"]) for param in params])
                steps = orthogonalise(wanted, self.dtype)
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                for param, update in zip(params, steps, strict=True):
                    param.mul_(1 - group["lr"] * group["weight_decay"])
                    param.add_(update, alpha=-scale)

    def _momentum(self, param: torch.nn.Parameter, momentum: float) -> torch.Tensor:
        """Nesterov momentum: the gradient drawn towards its running mean."""
        gradient, state = param.grad, self.state[param]
        assert gradient is not None
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(param)
        state["momentum"].lerp_(gradient, 1 - momentum)
        return gradient.lerp(state["momentum"], momentum)


def build_optimizers(
    model: torch.nn.Module,
    matrix_lr: float,
    other_lr: float,
    weight_decay: float,
    muon_dtype: torch.dtype = torch.float32,
) -> list[torch.optim.Optimizer]:
    """Give layer matrices to Muon, which computes in `muon_dtype`; the rest to AdamW."""
    matrices: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, param in model.named_parameters():
        (matrices if param.ndim == 2 and ".layers." in name else others).append(param)
    return [
        Muon(matrices, lr=matrix_lr, weight_decay=weight_decay, dtype=muon_dtype),
        torch.optim.AdamW(others, lr=other_lr, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def optimizers_for_draft(
    model: Any, *, is_new: bool, is_fitted: bool = False
) -> list[torch.optim.Optimizer]:
    """Choose optimizers and learning rates for a new draft, gentler ones for a trained one, and the
    gentlest for one that is fitted to its target already.

    AdamW's rates fall with the width (Yang et al. 2022, arXiv:2203.03466); Muon's steps are as
    large beside the weights at any width.
    """
    scale = REFITTING_SCALE if is_fitted else 1.0
    width = model.get_input_embeddings().weight.shape[1]
    if any(".layers." in name and each.ndim == 2 for name, each in model.named_parameters()):
        matrix_lr, other_lr = NEW_RATES if is_new else FITTING_RATES
        return build_optimizers(model, scale * matrix_lr, scale * other_lr / width, WEIGHT_DECAY)
    return [
        torch.optim.AdamW(
            model.parameters(), lr=scale * ADAM_RATE / width, weight_decay=WEIGHT_DECAY
        )
    ]


def set_lr_scale(optimizers: list[torch.optim.Optimizer], scale: float) -> None:
    """Multiply every learning rate, as first given, by `scale`."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group.setdefault("first_lr", group["lr"]) * scale
