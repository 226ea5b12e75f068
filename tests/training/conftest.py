"""A tiny family on a tiny corpus, so that every command runs in a second or two."""

import json
import lzma
import random
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from specviz.training.settings import FamilySettings, load_settings
from specviz.training.tokenizer import train_tokenizer

SETTINGS = """
seed = 7
held_out_below = "20"

[tokenizer]
vocab_size = 320
[tokenizer.sample]
tales = 1.0
tasks = 1.0

[target]
num_layers = 4
hidden_size = 32
intermediate_size = 64
num_heads = 2
context = 128
rope_theta = 10000.0
exit_layers = [1, 2]
exit_weight = 0.3
exit_rows = 0.5
matrix_lr = 0.02
other_lr = 0.01
weight_decay = 0.01
warmup_steps = 3
clip = 1.0
[[target.stages]]
name = "words"
num_layers = 3
tokens = 7680
rows = 4
seq_len = 32
[target.stages.mix]
tales = 2
tasks = 1
unused = 0
[[target.stages]]
name = "last"
tokens = 640
rows = 4
seq_len = 32
decay = true
[target.stages.mix]
tales = 1

[sample]
tokens = 300
new_tokens = 24
rows = 8
temperatures = [1.0, 0.0]
longest_prompt = 60
[sample.prompt_mix]
tales = 1
tasks = 1

[[drafts]]
name = "draft"
num_layers = 1
hidden_size = 32
intermediate_size = 48
num_heads = 2
begin_from_target = true
tokens = 4096
rows = 4
seq_len = 32
sampled_share = 0.5
kl_weight = 0.7
hybrid_share = 0.33
decay_share = 0.5
matrix_lr = 0.02
other_lr = 0.005
weight_decay = 0.01
warmup_steps = 3
clip = 1.0
[drafts.mix]
tales = 1
tasks = 1
"""


def _write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    with lzma.open(path, "wt", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps(row) + "\n")


@pytest.fixture(scope="session")
def settings_text() -> str:
    return SETTINGS


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> FamilySettings:
    path = tmp_path_factory.mktemp("settings") / "family.toml"
    path.write_text(SETTINGS, encoding="utf-8")
    return load_settings(path)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    rng = random.Random(1)
    animals, places = ["fox", "owl", "hen", "cat"], ["hill", "river", "barn", "wood"]
    tales, tasks = [], []
    for number in range(400):
        animal, place = rng.choice(animals), rng.choice(places)
        tale = f"The {animal} went to the {place}. It saw {number} stones and was happy."
        tales.append({"text": tale, "source": "made", "licence": "Apache-2.0"})
        row = {"prompt": f"Copy: {animal} {number}", "response": f"{animal} {number}"}
        tasks.append({**row, "task": "copy", "source": "made", "licence": "Apache-2.0"})
    _write_rows(folder / "tales.jsonl.xz", tales)
    _write_rows(folder / "tasks.jsonl.xz", tasks)
    manifest = [
        {
            "file": f"{name}.jsonl.xz",
            "rows": 400,
            "text_bytes": 20000,
            "licence": "Apache-2.0",
            "sources": ["made"],
            "desc": "made by rule",
        }
        for name in ("tales", "tasks")
    ]
    (folder / "MANIFEST.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="session")
def tokenizer(settings: FamilySettings, corpus: Path) -> Tokenizer:
    return train_tokenizer(settings, corpus)
