"""What weights can be held in, by the names that command line and traces use; without torch."""

QUANTIZED_BYTES = {"8bit": 1.0, "4bit": 0.5 + 4 / 64}
"""Bytes of a weight: 4 bits have one float32 scale for each block of 64 (bitsandbytes)."""


def precision_label(dtype: str, quantize: str | None) -> str:
    """What traces and tables say: `bfloat16`, or `4-bit, computed in bfloat16`."""
    if quantize is None:
        return dtype
    return f"{quantize.removesuffix('bit')}-bit, computed in {dtype}"
