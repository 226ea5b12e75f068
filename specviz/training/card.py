"""Writes the model card: the prose of card.md, every number from the files that hold it."""

import json
import math
from pathlib import Path
from string import Template
from typing import Any

from safetensors import safe_open

from specviz.training.architecture import TARGET, Shape
from specviz.training.corpus import GRAMMAR_SOURCE, MAX_CODE_CHARACTERS, SYMPY_SHARE, positive
from specviz.training.evaluate import CONTINUATION_TOKENS, EVALUATION_FILE, SAMPLED_TEMPERATURE
from specviz.training.settings import FamilySettings, find_draft
from specviz.training.training_run import read_state

CARD_TEMPLATE = Path(__file__).with_name("card.md")


def write_card(settings: FamilySettings, corpus: Path, build: Path, models: Path) -> Path:
    """Write `models/README.md`.

    Raises:
        FileNotFoundError: A model was not exported, or `evaluate` was not run.
    """
    evaluation = json.loads((build / EVALUATION_FILE).read_text(encoding="utf-8"))
    manifest = json.loads((corpus / "MANIFEST.json").read_text(encoding="utf-8"))
    target = settings.target
    text = Template(CARD_TEMPLATE.read_text(encoding="utf-8")).substitute(
        sizes=_sizes(settings, models),
        vocab_size=settings.tokenizer.vocab_size,
        context=target.context,
        exit_layers=" and ".join(map(str, target.exit_layers)),
        exit_weight=f"{target.exit_weight:g}",
        matrix_lr=f"{target.matrix_lr:g}",
        other_lr=f"{target.other_lr:g}",
        stages=_stages(settings),
        drafts=_drafts(settings),
        losses=_losses(settings, evaluation),
        agreement=_agreement(build, evaluation),
        data=_data(settings, manifest),
        held_out_below=settings.held_out_below,
        max_code=MAX_CODE_CHARACTERS,
        sympy_share=f"{SYMPY_SHARE:.0%}",
        temperature=SAMPLED_TEMPERATURE,
        continuation_tokens=CONTINUATION_TOKENS,
        continuations=_continuations(evaluation),
        commands=_commands(settings),
    )
    path = models / "README.md"
    path.write_text(text, encoding="utf-8")
    return path


def _table(*rows: tuple[str, ...]) -> str:
    head, *body = rows
    lines = [head, ("---",) * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _sizes(settings: FamilySettings, models: Path) -> str:
    rows = []
    for name in (TARGET, *(draft.name for draft in settings.drafts)):
        shape: Shape = settings.target if name == TARGET else find_draft(settings, name)
        path = models / name / "model.safetensors"
        state = read_state(models / name)
        rows.append(
            (
                f"`{name}`",
                f"{shape.num_layers} × {shape.hidden_size}",
                str(shape.intermediate_size),
                str(shape.num_heads),
                f"{_num_parameters(path) / 1e6:.2f}M",
                f"{path.stat().st_size / 1e6:.1f} MB",
                f"{state.tokens / 1e6:.1f}M",
                f"{state.seconds / 60:.0f} min",
            )
        )
    head = ("model", "layers × width", "feed-forward", "heads", "parameters", "file")
    return _table((*head, "tokens seen", "trained"), *rows)


def _num_parameters(path: Path) -> int:
    with safe_open(path, framework="pt") as stored:
        return sum(math.prod(stored.get_slice(name).get_shape()) for name in list(stored.keys()))


def _stages(settings: FamilySettings) -> str:
    rows = [
        (
            stage.name,
            f"{stage.tokens / 1e6:.1f}M",
            f"{stage.rows} × {stage.seq_len}",
            "falls to 0" if stage.decay else "constant",
            ", ".join(f"{name} {weight:g}" for name, weight in positive(stage.mix).items()),
        )
        for stage in settings.target.stages
    ]
    return _table(("stage", "tokens", "batch", "learning rate", "mix (weights)"), *rows)


def _drafts(settings: FamilySettings) -> str:
    sample = settings.sample
    temperatures = ", ".join(f"{value:g}" for value in sample.temperatures)
    return "\n".join(
        f"`{draft.name}` is distilled from the target's distributions, {draft.sampled_share:.0%}\n"
        f"of it over text that the target wrote ({sample.tokens / 1e6:.1f}M tokens, temperatures\n"
        f"{temperatures}), the rest over training text. Loss: {draft.kl_weight:g} KL +\n"
        f"{1 - draft.kl_weight:g} cross-entropy; in the last {draft.hybrid_share:.0%} KL gives\n"
        "way to total variation as alpha grows. Where both are equally wide it begins with the\n"
        "target's embeddings.\n"
        for draft in settings.drafts
    )


def _losses(settings: FamilySettings, evaluation: dict[str, Any]) -> str:
    exits = [f"exit {layer}" for layer in settings.target.exit_layers]
    rows = [
        (
            source,
            f"{values['last']:.3f}",
            f"{math.exp(values['last']):.1f}",
            f"{values['a byte']:.3f}",
            *(f"{values[layer]:.3f}" for layer in exits),
        )
        for source, values in evaluation["losses"].items()
    ]
    head = ("held-out rows of", "nats a token", "perplexity", "nats a byte", *exits)
    return _table(head, *rows)


def _agreement(build: Path, evaluation: dict[str, Any]) -> str:
    text = ""
    for name, by_source in evaluation["agreement"].items():
        rows = [
            (source, f"{values['alpha']:.3f}", f"{values['greedy']:.3f}", str(values["num_tokens"]))
            for source, values in by_source.items()
        ]
        head = ("held-out prompts of", "alpha", "same first choice", "tokens")
        text += (
            f"## How well `{name}` agrees\n\nOn what the target writes after held-out prompts,\n"
            "half at temperature 1, half greedily: alpha is the mean of Σ min(p, q) at\n"
            "temperature 1; beside it, how often both prefer the same token.\n\n"
        )
        text += _table(head, *rows) + "\n"
        path = build / name / "agreement.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if "begin" in known and "end" in known:
            first, last = known["begin"]["sampled"]["alpha"], known["end"]["sampled"]["alpha"]
            text += (
                f"Over all of these, distillation raised alpha from {first:.3f} to {last:.3f}.\n\n"
            )
    return text


def _data(settings: FamilySettings, manifest: list[dict[str, Any]]) -> str:
    used = {source for stage in settings.target.stages for source in positive(stage.mix)}
    rows = [
        (
            name,
            f"{entry['rows']:,}",
            f"{entry['text_bytes'] / 1e6:.1f}",
            entry["licence"].replace(" ;", ";"),
            entry["desc"].split(", from the interpreter")[0],
            ", ".join(source.removeprefix("local: ") for source in entry["sources"]),
        )
        for entry in manifest
        if (name := entry["file"].removesuffix(".jsonl.xz")) in used
    ]
    if GRAMMAR_SOURCE in used:
        rows.append(
            (GRAMMAR_SOURCE, "", "", "Apache-2.0", "stories that our own grammar writes", "here")
        )
    return _table(("source", "rows", "MB", "licence", "what it is", "from"), *rows)


def _continuations(evaluation: dict[str, Any]) -> str:
    text = ""
    for item in evaluation["continuations"]:
        for part in ("prompt", "greedy", "sampled"):
            lines = item[part].strip("\n").split("\n")
            text += f"{part}:\n\n" + "".join(f"    {line}".rstrip() + "\n" for line in lines) + "\n"
        text += "---\n\n"
    return text


def _commands(settings: FamilySettings) -> str:
    lines = [
        "tokenizer --corpus DATA",
        "target --corpus DATA",
        "sample --corpus DATA",
        *(f"draft --corpus DATA --draft {draft.name}" for draft in settings.drafts),
        "export",
        "evaluate --corpus DATA",
        "card --corpus DATA",
    ]
    return "".join(f"    python -m specviz.training {line}\n" for line in lines)
