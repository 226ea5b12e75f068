"""Writes the model card: the prose of card.md, every number from the files that hold it."""

import json
import math
from pathlib import Path
from string import Template
from typing import Any

from safetensors import safe_open

from specviz.distill.head_report import HEAD_FILE, read_head_fit
from specviz.distill.training_run import read_state
from specviz.models.head_folders import is_head_folder
from specviz.trace.fits import FIT_FILE, read_fit
from specviz.training.architecture import TARGET
from specviz.training.corpus import MAX_CODE_CHARACTERS, SYMPY_SHARE, positive
from specviz.training.evaluate import CONTINUATION_TOKENS, EVALUATION_FILE, SAMPLED_TEMPERATURE
from specviz.training.grammars import GRAMMARS
from specviz.training.settings import DraftSettings, FamilySettings
from specviz.training.speed import SPEED_FILE

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
        sizes=_sizes(models),
        vocab_size=settings.tokenizer.vocab_size,
        context=target.context,
        exit_layers=" and ".join(map(str, target.exit_layers)),
        exit_weight=f"{target.exit_weight:g}",
        matrix_lr=f"{target.matrix_lr:g}",
        other_lr=f"{target.other_lr:g}",
        stages=_stages(settings),
        drafts=_drafts(settings),
        fits=_fits(models),
        heads=_heads(models),
        speeds=_speeds(build),
        sampled_tokens=f"{settings.sample.tokens / 1e6:.1f}M",
        sample_temperatures=", ".join(f"{value:g}" for value in settings.sample.temperatures),
        kl_weight=f"{settings.drafts[0].kl_weight:g}",
        entropy_weight=f"{1 - settings.drafts[0].kl_weight:g}",
        hybrid_share=f"{settings.drafts[0].hybrid_share:.0%}",
        losses=_losses(settings, evaluation),
        agreement=_agreement(evaluation),
        data=_data(settings, manifest),
        held_out_below=settings.held_out_below,
        max_code=MAX_CODE_CHARACTERS,
        sympy_share=f"{SYMPY_SHARE:.0%}",
        temperature=SAMPLED_TEMPERATURE,
        continuation_tokens=CONTINUATION_TOKENS,
        continuations=_continuations(evaluation),
        commands=_commands(settings, models),
    )
    path = models / "README.md"
    path.write_text(text, encoding="utf-8")
    return path


def _table(*rows: tuple[str, ...]) -> str:
    head, *body = rows
    lines = [head, ("---",) * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _sizes(models: Path) -> str:
    rows = []
    for folder in _folders(models):
        path = folder / "model.safetensors"
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        rows.append(
            (
                f"`{folder.name}`",
                f"{config['num_hidden_layers']} × {config['hidden_size']}",
                str(config["intermediate_size"]),
                str(config["num_attention_heads"]),
                f"{_num_parameters(path) / 1e6:.2f}M",
                f"{path.stat().st_size / 1e6:.1f} MB",
                *_progress(folder),
            )
        )
    head = ("model", "layers × width", "feed-forward", "heads", "parameters", "file")
    return _table((*head, "tokens seen", "trained"), *rows)


def _folders(models: Path) -> list[Path]:
    """The models that are there: the target, then the drafts, the smallest first."""
    there = (path.parent for path in models.glob("*/model.safetensors"))
    found = [folder for folder in there if not is_head_folder(folder)]
    return sorted(
        found,
        key=lambda folder: (
            folder.name != TARGET,
            (folder / FIT_FILE).exists(),
            (folder / "model.safetensors").stat().st_size,
        ),
    )


def _progress(folder: Path) -> tuple[str, str]:
    """Tokens seen and time taken; of a fitted draft, those of the fitting."""
    if (folder / FIT_FILE).exists():
        fit = read_fit(folder / FIT_FILE)
        return f"{fit.num_tokens_trained / 1e6:.1f}M more", f"{fit.seconds / 60:.0f} min"
    state = read_state(folder)
    return f"{state.tokens / 1e6:.1f}M", f"{state.seconds / 60:.0f} min"


def _num_parameters(path: Path) -> int:
    with safe_open(path, framework="pt") as stored:
        return sum(math.prod(stored.get_slice(name).get_shape()) for name in list(stored.keys()))


def _stages(settings: FamilySettings) -> str:
    target = settings.target
    rows = [
        (
            stage.name,
            str(stage.num_layers or target.num_layers),
            f"{stage.tokens / 1e6:.1f}M",
            f"{stage.rows} × {stage.seq_len}",
            f"{target.matrix_lr * stage.lr_scale:g}" + (", falls to 0" if stage.decay else ""),
            _mix(stage.mix),
        )
        for stage in target.stages
    ]
    head = ("stage", "layers", "tokens", "batch", "learning rate", "mix (weights)")
    return _table(head, *rows)


def _mix(mix: dict[str, float]) -> str:
    return ", ".join(f"{name} {weight:g}" for name, weight in positive(mix).items())


def _drafts(settings: FamilySettings) -> str:
    rows = [
        (
            f"`{draft.name}`",
            f"{draft.tokens / 1e6:.1f}M",
            f"{draft.sampled_share:.0%}",
            "the target's first layers" if _begins_inside(draft, settings) else "nothing",
            _mix(draft.mix),
        )
        for draft in settings.drafts
    ]
    head = ("draft", "tokens", "of it written by the target", "begins with", "the rest (weights)")
    return _table(head, *rows)


def _begins_inside(draft: DraftSettings, settings: FamilySettings) -> bool:
    return draft.begin_from_target and draft.hidden_size == settings.target.hidden_size


def _fitted_folders(models: Path) -> list[Path]:
    return [folder for folder in _folders(models) if (folder / FIT_FILE).exists()]


def _fits(models: Path) -> str:
    text = ""
    for folder in _fitted_folders(models):
        fit = read_fit(folder / FIT_FILE)
        num_learned = fit.num_prompts - fit.num_held_out
        text += (
            f"`{folder.name}` is `{fit.draft_before or 'a new draft'}` after\n\n"
            f"    {fit.made_by}\n\n"
            f"on {num_learned} prompts, {fit.num_held_out} more held out: alpha "
            f"{fit.before.alpha:.3f} before, {fit.after.alpha:.3f} after, over "
            f"{fit.after.num_tokens} tokens that the target wrote after the held-out prompts.\n"
        )
    return text


def _head_folders(models: Path) -> list[Path]:
    """The EAGLE-3 heads that are there."""
    return sorted(path.parent for path in models.glob(f"*/{HEAD_FILE}"))


def _heads(models: Path) -> str:
    """What each head is, and how it was trained; nothing where none ships."""
    text = ""
    for folder in _head_folders(models):
        fit = read_head_fit(folder)
        shares = ", ".join(f"{share:.3f}" for share in fit.agreement)
        text += (
            f"`{folder.name}` is an EAGLE-3 head (arXiv:2503.01840) for `{fit.target}`: "
            f"{fit.num_parameters / 1e6:.2f}M weights that read the target's own states and guess "
            f"{fit.draft_vocab_size:,} of its tokens. It is no model by itself. It was trained by"
            f"\n\n    {fit.made_by}\n\n"
            f"on {fit.num_tokens_written:,} tokens that the target wrote, {fit.num_steps} steps, "
            f"of which step {fit.best_step} did best. After {fit.num_held_out} held-out prompts "
            f"({fit.num_tokens:,} tokens) its first choice is the target's own, one token ahead "
            f"and further: {shares}; a round of {len(fit.agreement)} guesses brings "
            f"{fit.tau:.2f} tokens at temperature 0. `{folder.name}/speculators` holds the same "
            "weights as vLLM's speculators read them.\n\n"
        )
    return text


def _speeds(build: Path) -> str:
    path = build / SPEED_FILE
    if not path.exists():
        return ""
    speeds = json.loads(path.read_text(encoding="utf-8"))
    listed = "; ".join(f"{name} {speed:,.0f}" for name, speed in speeds.items())
    return (
        f"Tokens a second of the target where it was trained (`speed`): {listed} (early exits\n"
        "and Muon included)."
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


def _agreement(evaluation: dict[str, Any]) -> str:
    """One row a source, two numbers a draft."""
    by_draft = evaluation["agreement"]
    sources: list[str] = list(next(iter(by_draft.values()), {}))
    rows = [
        (
            source,
            *(
                f"{values[source]['alpha']:.2f} ({values[source]['greedy']:.2f})"
                for values in by_draft.values()
            ),
            str(next(iter(by_draft.values()))[source]["num_tokens"]),
        )
        for source in sources
    ]
    return _table(("held-out prompts of", *(f"`{name}`" for name in by_draft), "tokens"), *rows)


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
    rows += [
        (name, "", "", "Apache-2.0", summary, "here")
        for name, summary in GRAMMARS.items()
        if name in used
    ]
    return _table(("source", "rows", "MB", "licence", "what it is", "from"), *rows)


def _continuations(evaluation: dict[str, Any]) -> str:
    text = ""
    for item in evaluation["continuations"]:
        for part in ("prompt", "greedy", "sampled"):
            lines = item[part].strip("\n").split("\n")
            text += f"{part}:\n\n" + "".join(f"    {line}".rstrip() + "\n" for line in lines) + "\n"
        text += "---\n\n"
    return text


def _commands(settings: FamilySettings, models: Path) -> str:
    lines = [
        "tokenizer --corpus DATA",
        "target --corpus DATA",
        "sample --corpus DATA",
        *(f"draft --corpus DATA --draft {draft.name}" for draft in settings.drafts),
        "speed",
        "evaluate --corpus DATA",
        "export",
        "reading --corpus DATA",
        "prompts --out story_prompts.txt",
        "card --corpus DATA",
    ]
    commands = [f"python -m specviz.training {line}" for line in lines]
    commands[-1:-1] = [
        f"{read_fit(folder / FIT_FILE).made_by} --out {folder.as_posix()}"
        for folder in _fitted_folders(models)
    ] + [
        f"{read_head_fit(folder).made_by} --out {folder.as_posix()}"
        for folder in _head_folders(models)
    ]
    return "".join(f"    {command}\n" for command in commands)
