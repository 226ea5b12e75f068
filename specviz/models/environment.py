"""What the race ran on: device, libraries, and how much rounding a block of tokens brings."""

import platform
from datetime import UTC, datetime
from pathlib import Path

import torch
import transformers

import specviz
from specviz.trace.values import Environment, Form


def describe_environment(
    device: torch.device,
    dtype: str,
    logit_noise: float,
    form: Form = Form.GROWING,
    form_reason: str = "",
) -> Environment:
    """Describe this process and its device, now, and the form in which models run on it."""
    return Environment(
        device=str(device),
        device_name=_device_name(device),
        dtype=dtype,
        num_threads=torch.get_num_threads(),
        torch=str(torch.__version__),
        transformers=transformers.__version__,
        specviz=specviz.__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        logit_noise=logit_noise,
        form=form,
        form_reason=form_reason,
    )


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.is_file():
        for line in cpu_info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
