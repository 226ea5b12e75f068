"""Writes trained models as folders that `from_pretrained` reads, and checks what it wrote."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
from transformers.utils.logging import disable_progress_bar

from specviz.distill.training_run import STATE_FILE, read_state
from specviz.errors import ModelLoadError
from specviz.models.description import MEASURES_FILE
from specviz.training.architecture import STORED_DTYPE, load_trained
from specviz.training.evaluate import read_measures
from specviz.training.settings import FamilySettings
from specviz.training.tokenizer import save_tokenizer

PROBE = 'Once upon a time, in 1987 ...\n\ndef f(x):\n    return "é" + x\n'


def export_model(
    settings: FamilySettings, name: str, build: Path, models: Path, tokenizer: Tokenizer
) -> Path:
    """Write one model to `models/name`: bf16 weights, configs, tokenizer, training progress.

    What the last evaluation measured of these very weights is stored with them.

    Raises:
        FileNotFoundError: The model was not trained.
        ModelLoadError: What was written does not read back as the same model and tokenizer.
    """
    disable_progress_bar()
    model = load_trained(settings, name, build, tokenizer, torch.device("cpu"))
    folder = models / name
    folder.mkdir(parents=True, exist_ok=True)
    save_model(model, folder)
    save_tokenizer(tokenizer, folder, settings.target.context)
    state = read_state(build / name)
    (folder / STATE_FILE).write_text(json.dumps(asdict(state), indent=1) + "\n")
    measures = read_measures(build, name)
    if measures is None:
        (folder / MEASURES_FILE).unlink(missing_ok=True)
    else:
        (folder / MEASURES_FILE).write_text(json.dumps(asdict(measures), indent=1) + "\n")
    check_export(folder, model, tokenizer)
    return folder


def save_model(model: Any, folder: Path) -> None:
    """Write bf16 weights, the config and a generation config (greedy by default)."""
    stored = type(model)(model.config).to(STORED_DTYPE)
    stored.load_state_dict(model.state_dict())
    stored.config.dtype = STORED_DTYPE
    stored.generation_config = GenerationConfig(
        bos_token_id=model.config.bos_token_id,
        eos_token_id=model.config.eos_token_id,
        pad_token_id=model.config.eos_token_id,
        do_sample=False,
    )
    stored.save_pretrained(folder)


@torch.inference_mode()
def check_export(folder: Path, model: Any, tokenizer: Tokenizer) -> None:
    """Read a folder as a user would and compare it with the model in memory, in float32.

    Raises:
        ModelLoadError: Logits, exit layers or token ids differ.
    """
    reloaded = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    reader = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer.encode(PROBE).ids
    if reader(PROBE)["input_ids"] != ids or reader.decode(ids, skip_special_tokens=True) != PROBE:
        raise ModelLoadError(f"{folder} reads back with another tokenizer than was written")
    probe = torch.tensor([ids])
    if not torch.equal(reloaded(input_ids=probe).logits, model(input_ids=probe).logits):
        raise ModelLoadError(f"{folder} reads back with other logits than were written")
    exits = getattr(model.config, "exit_layers", None)
    if getattr(reloaded.config, "exit_layers", None) != exits:
        raise ModelLoadError(f"{folder} reads back without its exit layers {exits}")
