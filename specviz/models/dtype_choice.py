"""Picks the dtype that models are computed in where nobody named one, by device and size.

Measured on two cores of a processor with bfloat16 units (AVX-512), times in bfloat16 as a part of
those in float32, by turns: the shipped target of 6 million parameters takes 1.6 times as long for
one token and 1.3 times for six. With 28 to 370 million parameters one token takes 0.7 to 1.25
times as long, and six, which a drafted lane reads at once, 0.27 to 0.49 times. Small models also
show best in float32 that their texts are the same to the last token. Nothing of this was measured
on a graphics card, where a large model would seldom fit in float32.
"""

from pathlib import Path

from specviz.errors import ModelLoadError
from specviz.models.catalogue import shipped_folder
from specviz.models.description import describe_model
from specviz.models.hub_catalogue import read_catalogue

AUTO = "auto"
SMALL_MODEL_PARAMETERS = 20_000_000
"""Below this, float32 everywhere."""
_CPU_INFO = Path("/proc/cpuinfo")
_UNITS = {"avx512_bf16", "amx_bf16", "bf16"}
"""What Linux calls them on x86 (the first two) and on ARM."""


def pick_dtype(asked: str, device: str, target: str) -> str:
    """Return the dtype that was asked for, or else one for a target on a device.

    Large models are computed in bfloat16 on graphics cards and on processors with units for it
    (float16 on older cards), all others in float32. torch is imported only for graphics cards.

    Args:
        target: The name, folder or hub id of the largest model. Hub models that the catalogue lacks
            are taken for large.
    """
    if asked != AUTO:
        return asked
    num_parameters = _num_parameters(target)
    if num_parameters is not None and num_parameters < SMALL_MODEL_PARAMETERS:
        return "float32"
    return large_dtype(device)


def large_dtype(device: str) -> str:
    """The dtype of large models on a device."""
    kind = device.partition(":")[0]
    if kind == "cuda":
        import torch

        return "bfloat16" if torch.cuda.is_bf16_supported(False) else "float16"
    return "bfloat16" if kind == "cpu" and has_bfloat16_units() else "float32"


def has_bfloat16_units() -> bool:
    """Whether the processor multiplies in bfloat16 by itself; False where nobody says."""
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return not _UNITS.isdisjoint(flags.partition(":")[2].split())


def _num_parameters(target: str) -> int | None:
    """Parameters of a model here or in the catalogue; None where nobody knows."""
    try:
        folder = shipped_folder(target) or Path(target).expanduser()
        if folder.is_dir():
            return describe_model(target, "target", folder).num_parameters
    except ModelLoadError:
        return None
    model = read_catalogue().models.get(target)
    return None if model is None else model.num_parameters
