"""The dtype is chosen by device and size where nobody named one, without torch on a CPU."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from specviz.cli.arguments import build_parser
from specviz.models import dtype_choice
from specviz.models.dtype_choice import has_bfloat16_units, pick_dtype

LARGE = "Qwen/Qwen3-4B"
X86 = "processor : 0\nmodel name : x\nflags\t\t: fpu avx512f avx512_bf16 amx_tile\n"
ARM = "processor : 0\nFeatures\t: fp asimd i8mm bf16\n"
OLD = "processor : 0\nmodel name : bf16 in name only\nflags\t\t: fpu avx2\n"


@pytest.fixture
def cpu_info(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(dtype_choice, "_CPU_INFO", file)
    return file


def test_what_was_asked_for_is_taken() -> None:
    assert pick_dtype("float64", "cuda", LARGE) == "float64"
    assert pick_dtype("int8", "cpu", LARGE) == "int8", "refused later, by name"


@pytest.mark.parametrize(
    ("text", "expected"), [(X86, True), (ARM, True), (OLD, False), ("", False)]
)
def test_units_are_read_from_the_processors_flags(
    text: str, expected: bool, cpu_info: Path
) -> None:
    cpu_info.write_text(text)
    assert has_bfloat16_units() is expected


def test_where_no_processor_describes_itself_there_are_no_units(cpu_info: Path) -> None:
    assert not has_bfloat16_units()


def test_large_models_are_computed_in_bfloat16_where_there_are_units(cpu_info: Path) -> None:
    cpu_info.write_text(X86)
    assert pick_dtype("auto", "cpu", LARGE) == "bfloat16"
    assert pick_dtype("auto", "cpu", "somebody/unknown") == "bfloat16", "taken for large"
    assert pick_dtype("auto", "mps", LARGE) == "float32", "nobody has measured it"
    cpu_info.write_text(OLD)
    assert pick_dtype("auto", "cpu", LARGE) == "float32"


@pytest.mark.parametrize(("has_units", "expected"), [(True, "bfloat16"), (False, "float16")])
def test_graphics_cards_without_units_take_the_other_16_bits(
    has_units: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: has_units)
    assert pick_dtype("auto", "cuda:1", LARGE) == expected


@pytest.mark.parametrize("device", ["cpu", "cuda", "mps"])
def test_small_models_stay_in_float32(
    device: str, tiny_pair: tuple[str, str], cpu_info: Path
) -> None:
    cpu_info.write_text(X86)
    for target in ("specviz-target", tiny_pair[0]):
        assert pick_dtype("auto", device, target) == "float32"


def test_a_folder_that_cannot_be_read_is_taken_for_large(tmp_path: Path, cpu_info: Path) -> None:
    cpu_info.write_text(X86)
    assert pick_dtype("auto", "cpu", str(tmp_path)) == "bfloat16"
    assert pick_dtype("auto", "cpu", "fitted/nobody") == "bfloat16"


def test_the_command_line_leaves_the_choice_to_it() -> None:
    assert build_parser().parse_args(["race", "--prompt", "x"]).dtype == "auto"


def test_on_a_processor_torch_is_not_imported() -> None:
    program = (
        "import sys; from specviz.models.dtype_choice import pick_dtype; "
        "pick_dtype('auto', 'cpu', 'Qwen/Qwen3-4B'); pick_dtype('auto', 'cpu', 'specviz-target'); "
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
