"""In what weights are held and computed: a dtype, or fewer bits than any dtype has."""

import importlib
import logging
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import BitsAndBytesConfig, PreTrainedModel
from transformers.utils import is_bitsandbytes_available

from specviz.errors import ModelLoadError
from specviz.models.dtypes import QUANTIZED_BYTES, precision_label
from specviz.models.full_memory import is_full_memory
from specviz.models.location import one_line
from specviz.texts import message

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16}
DTYPES["float16"] = torch.float16
PROBED_LENGTHS = (4, 1)


@dataclass(frozen=True, slots=True)
class Precision:
    """What all models of a pool are held in."""

    dtype: str
    """What is computed in, and what the weights are that are not quantised."""
    quantize: str | None = None
    """`8bit`, `4bit`, or None: weights are of the dtype."""

    @staticmethod
    def checked(dtype: str, quantize: str | None, device: str) -> "Precision":
        """Make what was asked for.

        Raises:
            ModelLoadError: There is no such dtype or number of bits, or it cannot be had here.
        """
        _check_choice("dtype", dtype, DTYPES)
        if quantize is not None:
            _check_choice("quantize", quantize, QUANTIZED_BYTES)
            if not is_bitsandbytes_available():
                raise ModelLoadError(message("refusal.quantize_library", found=quantize))
            devices = quantizing_devices()
            if device.partition(":")[0] not in devices:
                values = {"found": quantize, "device": device, "allowed": ", ".join(devices)}
                raise ModelLoadError(message("refusal.quantize_device", **values))
        return Precision(dtype, quantize)

    @property
    def torch_dtype(self) -> torch.dtype:
        """What is computed in."""
        return DTYPES[self.dtype]

    @property
    def label(self) -> str:
        """What traces and tables say."""
        return precision_label(self.dtype, self.quantize)

    def weights_bytes(self, shapes: PreTrainedModel) -> int:
        """Bytes that the weights of a model take, those that two layers share counted once."""
        num_bytes: int = self.torch_dtype.itemsize
        num_all: int = sum(parameter.numel() for parameter in shapes.parameters())
        if self.quantize is None:
            return num_all * num_bytes
        num_small = sum(parameter.numel() for parameter in _quantized(shapes))
        return int(num_small * QUANTIZED_BYTES[self.quantize]) + (num_all - num_small) * num_bytes

    def check_runs(self, name: str, model: PreTrainedModel) -> None:
        """Let quantised weights read a few tokens and one: some shapes fit no kernel of a device.

        Raises:
            ModelLoadError: They cannot.
        """
        if self.quantize is None:
            return
        where = model.get_input_embeddings().weight.device
        try:
            for length in PROBED_LENGTHS:
                ids = torch.zeros(1, length, dtype=torch.int64, device=where)
                with torch.inference_mode():
                    model(input_ids=ids, use_cache=False)
        except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
            if is_full_memory(error):
                raise
            values = {"found": self.quantize, "reason": one_line(error)}
            raise ModelLoadError(message("refusal.quantize_fails", model=name, **values)) from error

    def loading_options(self) -> dict[str, Any]:
        """What `from_pretrained` is told."""
        options: dict[str, Any] = {"dtype": self.torch_dtype}
        if self.quantize == "8bit":
            # It says at every product that it computes in float16 inside.
            logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
            options["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
        elif self.quantize == "4bit":
            options["quantization_config"] = BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",
                bnb_4bit_compute_dtype=self.torch_dtype,
            )
        return options


def quantizing_devices() -> tuple[str, ...]:
    """The kinds of devices on which the installed bitsandbytes computes."""
    library = importlib.import_module("bitsandbytes")
    return tuple(sorted(getattr(library, "supported_torch_devices", ("cuda",))))


def _quantized(shapes: PreTrainedModel) -> list[torch.Tensor]:
    """The weights that are held in fewer bits: those of all products but the output layer."""
    output: Any = shapes.get_output_embeddings()
    return [
        module.weight
        for module in shapes.modules()
        if isinstance(module, nn.Linear) and module is not output
    ]


def _check_choice(name: str, found: str, allowed: Any) -> None:
    if found not in allowed:
        choices = ", ".join(sorted(allowed))
        raise ModelLoadError(
            message("refusal.choice", name=name, allowed=choices, found=str(found))
        )
