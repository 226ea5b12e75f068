"""What the family can do on text that it never saw: loss, agreement, continuations."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer

from specviz.distill.model_reader import ModelReader
from specviz.distill.texts import Job
from specviz.distill.training_run import default_device, read_state
from specviz.distill.writing import write_together
from specviz.models.description import Measures
from specviz.training.architecture import TARGET, load_trained
from specviz.training.corpus import cached_streams, special_ids, task_prompt
from specviz.training.fused_loss import fused_cross_entropy
from specviz.training.held_out import HeldOut, held_out_texts
from specviz.training.samples import family_writer
from specviz.training.settings import FamilySettings
from specviz.training.tokenizer import tokens_to_text
from specviz.training.windows import cut_windows

EVALUATION_FILE = "evaluation.json"
NUM_ROWS = 24
SEQ_LEN = 256
CONTINUATION_TOKENS = 100
SAMPLED_TEMPERATURE = 0.8
# Fixed before any model was trained, so that nothing on the card is selected.
CARD_PROMPTS = (
    "Once upon a time",
    "One day, a little girl",
    "The old fox looked at the",
    "Ben was a brave little squirrel who lived in the forest.",
    "Lucy and her brother had a red kite.",
    "It was a cold and windy day.",
    "There was once a small owl who could not sleep.",
    "Sam found a shiny stone by the river.",
    "One morning, Nora heard a strange noise.",
    "The sun was hot, and Max wanted to",
    'def count_words(text):\n    """',
    "def largest(numbers):\n",
    "class Counter:\n",
    task_prompt("Write a Python function: Add two numbers."),
    task_prompt("Copy the text exactly.\n\nThe little dog ran to the river. He was very happy."),
    task_prompt("Fix the spelling and grammar.\n\nThe boy wnet home and sat by the fier."),
    task_prompt(
        "Change the name Tom to Lena everywhere.\n\nTom has a boat. The boat of Tom is red."
    ),
    task_prompt(
        "Read the story and answer the question.\n\nAnna had a red kite. Ben had a blue boat. "
        "Anna flew the kite on the hill.\n\nQuestion: What did Anna have?"
    ),
    task_prompt("Translate to Spanish: The red cat sleeps in the house."),
    task_prompt("Tom has 3 apples and buys 4 more. How many apples does he have?"),
)


@torch.inference_mode()
def held_out_losses(model: Any, ids: torch.Tensor, exit_layers: list[int]) -> dict[str, float]:
    """Mean loss in nats a token of the last layer ("last") and of each exit ("exit E")."""
    inputs, labels = ids[:, :-1], ids[:, 1:].flatten()
    outputs = model.model(input_ids=inputs, use_cache=False, output_hidden_states=True)
    layers = {"last": outputs.last_hidden_state}
    for layer in exit_layers:
        layers[f"exit {layer}"] = model.model.norm(outputs.hidden_states[layer])
    weight = model.lm_head.weight
    return {
        name: float(fused_cross_entropy(hidden.flatten(0, 1), weight, labels))
        for name, hidden in layers.items()
    }


class Evaluation:
    """The models of one build folder, judged on held-out rows."""

    def __init__(
        self, settings: FamilySettings, corpus: Path, build: Path, tokenizer: Tokenizer
    ) -> None:
        self.settings, self.corpus, self.build = settings, corpus, build
        self.tokenizer = tokenizer
        self.target = self._load(TARGET)

    def run(self) -> dict[str, Any]:
        """Measure everything, print it, and keep it in the build folder for the card."""
        drafts = {
            draft.name: self._load(draft.name)
            for draft in self.settings.drafts
            if (self.build / draft.name / "checkpoint.pt").exists()
        }
        exits = list(self.settings.target.exit_layers)
        result = {
            "tokens": {name: read_state(self.build / name).tokens for name in (TARGET, *drafts)},
            "losses": self.losses(self.target, exits),
            "draft_losses": {name: self.losses(draft, []) for name, draft in drafts.items()},
            "agreement": self.agreement(drafts),
            "continuations": self.continuations(),
        }
        (self.build / EVALUATION_FILE).write_text(json.dumps(result, indent=1, ensure_ascii=False))
        show(result)
        return result

    def _load(self, name: str) -> Any:
        return load_trained(self.settings, name, self.build, self.tokenizer, default_device())

    def losses(self, model: Any, exit_layers: list[int]) -> dict[str, dict[str, float]]:
        """Held-out loss of each source, in nats a token by layer, and in nats a byte."""
        sources = self.settings.sample.prompt_mix
        streams = cached_streams(
            self.build,
            self.corpus,
            sources,
            self.tokenizer,
            self.settings.held_out_below,
            held_out=True,
        )
        losses = {}
        for source, stream in streams.items():
            length = min(SEQ_LEN + 1, len(stream.ids) - 1)
            windows = cut_windows(stream, NUM_ROWS, length, self.settings.seed)
            ids = torch.tensor([window.ids for window in windows])
            by_layer = held_out_losses(model, ids.to(model.device), exit_layers)
            texts = [tokens_to_text(self.tokenizer, row) for row in ids[:, 1:].tolist()]
            num_bytes = sum(len(text.encode()) for text in texts)
            num_tokens = ids[:, 1:].numel()
            losses[source] = {**by_layer, "a byte": by_layer["last"] * num_tokens / num_bytes}
        return losses

    def agreement(self, drafts: dict[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
        """How well each draft agrees where the target writes after held-out prompts, by source."""
        texts = held_out_texts(self.target, self.settings, self.corpus, self.build, self.tokenizer)
        held_out = HeldOut(self._reader(self.target), texts)
        return {
            name: {
                source: asdict(score)
                for source, score in held_out.agreement(self._reader(draft)).items()
            }
            for name, draft in drafts.items()
        }

    def _reader(self, model: Any) -> ModelReader:
        return ModelReader(model, self.tokenizer.get_vocab_size())

    def continuations(self) -> list[dict[str, str]]:
        """Continue the prompts of the card, greedily and at temperature 0.8, nothing selected."""
        begin, _ = special_ids(self.tokenizer)
        writer = family_writer(self.target, self.tokenizer)
        continuations = []
        for number, prompt in enumerate(CARD_PROMPTS):
            ids = (begin, *self.tokenizer.encode(prompt, add_special_tokens=False).ids)
            jobs = [
                Job(0, ids, temperature, CONTINUATION_TOKENS)
                for temperature in (0.0, SAMPLED_TEMPERATURE)
            ]
            greedy, sampled = (
                tokens_to_text(self.tokenizer, written)
                for written in write_together(writer, jobs, self.settings.seed + number)
            )
            continuations.append({"prompt": prompt, "greedy": greedy, "sampled": sampled})
        return continuations


def read_measures(build: Path, name: str) -> Measures | None:
    """Read what the last evaluation says of one model, for the folder that it ships in.

    None where there was no evaluation, or where the model or the target was trained on since.
    """
    path = build / EVALUATION_FILE
    evaluation = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    judged = evaluation.get("tokens", {})
    if any(judged.get(each) != read_state(build / each).tokens for each in (TARGET, name)):
        return None
    losses = evaluation["losses"] if name == TARGET else evaluation["draft_losses"][name]
    layers = next(iter(losses.values()))
    return Measures(
        held_out_loss=_rounded(losses, "last"),
        exit_loss={
            layer.removeprefix("exit "): _rounded(losses, layer)
            for layer in layers
            if layer.startswith("exit ")
        },
        alpha=_rounded(evaluation["agreement"].get(name, {}), "alpha"),
    )


def _rounded(by_source: dict[str, dict[str, float]], key: str) -> dict[str, float]:
    return {source: round(values[key], 4) for source, values in by_source.items()}


def show(result: dict[str, Any]) -> None:
    """Print an evaluation."""
    console = Console()
    for name, losses in {TARGET: result["losses"], **result["draft_losses"]}.items():
        layers = list(next(iter(losses.values())))
        table = Table(f"held-out loss of {name}, nats", *layers, "perplexity")
        for source, values in losses.items():
            numbers = [f"{values[layer]:.3f}" for layer in layers]
            table.add_row(source, *numbers, f"{math.exp(values['last']):.1f}")
        console.print(table)
    for name, agreement in result["agreement"].items():
        table = Table(f"{name} on the target's text", "alpha", "same first choice", "tokens")
        for source, values in agreement.items():
            table.add_row(
                source,
                f"{values['alpha']:.3f}",
                f"{values['greedy']:.3f}",
                str(values["num_tokens"]),
            )
        console.print(table)
    for item in result["continuations"]:
        console.rule()
        for part in ("prompt", "greedy", "sampled"):
            console.print(f"{part}: {item[part]}", markup=False, highlight=False)
