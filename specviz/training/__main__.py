"""`python -m specviz.training COMMAND`: makes the shipped family again from the data."""

import argparse
import sys
from pathlib import Path

import torch
from rich.console import Console
from tokenizers import Tokenizer

from specviz.errors import SpecvizError
from specviz.training.architecture import TARGET
from specviz.training.card import write_card
from specviz.training.drafts import FamilyDraft
from specviz.training.evaluate import Evaluation
from specviz.training.export import export_model
from specviz.training.pretrain import Pretraining
from specviz.training.reading import write_reading
from specviz.training.samples import write_samples
from specviz.training.settings import SETTINGS_FILE, FamilySettings, load_settings
from specviz.training.speed import measure_speeds
from specviz.training.story_prompts import write_story_prompts
from specviz.training.tokenizer import train_tokenizer

COMMANDS = {
    "tokenizer": "learn the byte pairs from the training rows",
    "target": "train the target, stage by stage, going on from its checkpoint",
    "sample": "let the target write the text that drafts learn from",
    "draft": "distil a draft from the target, going on from its checkpoint",
    "speed": "tokens a second of training, the plain way and this package's",
    "evaluate": "held-out loss, draft agreement and continuations of the present checkpoints",
    "export": "write the target and all trained drafts as folders for from_pretrained",
    "reading": "write what the exported target has read, and how probable held-out texts are to it",
    "prompts": "write openings of stories to fit a draft on (see `python -m specviz distill`)",
    "card": "write the model card from the export and the last evaluation",
}
NEEDS_CORPUS = {"tokenizer", "target", "sample", "draft", "evaluate", "reading", "card"}
EPILOG = "In this order; every command may be interrupted, and goes on when run again."


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m specviz.training", description=__doc__, epilog=EPILOG
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary}.")
        if name in NEEDS_CORPUS:
            command.add_argument(
                "--corpus", type=Path, required=True, help="folder of *.jsonl.xz and MANIFEST.json"
            )
        command.add_argument(
            "--build", type=Path, default=Path("build/training"), help="where work is kept"
        )
        command.add_argument(
            "--settings", type=Path, default=SETTINGS_FILE, help="default: %(default)s"
        )
        command.add_argument("--threads", type=int, help="processor threads (default: all cores)")
        if name in ("export", "reading", "card"):
            command.add_argument(
                "--models", type=Path, default=Path("assets/models"), help="default: %(default)s"
            )
        if name == "target":
            command.add_argument(
                "--from-weights",
                type=Path,
                metavar="FOLDER",
                help="where there is no checkpoint, go on from an exported target",
            )
        if name == "prompts":
            command.add_argument("--out", type=Path, required=True, help="the file to write")
            command.add_argument("--num", type=int, default=200, help="default: %(default)s")
        if name == "draft":
            command.add_argument(
                "--draft", required=True, metavar="NAME", help="its name in the settings"
            )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parsed = build_parser().parse_args(arguments)
    if parsed.threads:
        torch.set_num_threads(parsed.threads)
    try:
        _run(parsed, load_settings(parsed.settings))
    except (SpecvizError, FileNotFoundError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _run(parsed: argparse.Namespace, settings: FamilySettings) -> None:
    build: Path = parsed.build
    tokenizer_file = build / "tokenizer.json"
    if parsed.command == "tokenizer":
        build.mkdir(parents=True, exist_ok=True)
        train_tokenizer(settings, parsed.corpus).save(str(tokenizer_file))
        return
    if parsed.command == "prompts":
        write_story_prompts(parsed.out, parsed.num)
        return
    if parsed.command == "card":
        Console().print(f"wrote {write_card(settings, parsed.corpus, build, parsed.models)}")
        return
    if parsed.command == "reading":
        Console().print(f"wrote {write_reading(settings, parsed.corpus, parsed.models)}")
        return
    if not tokenizer_file.exists():
        raise FileNotFoundError(f"{tokenizer_file} is missing: run the command `tokenizer` first")
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    match parsed.command:
        case "target":
            Pretraining(settings, parsed.corpus, build, tokenizer, parsed.from_weights).train()
        case "sample":
            write_samples(settings, parsed.corpus, build, tokenizer)
        case "draft":
            FamilyDraft(settings, parsed.draft, parsed.corpus, build, tokenizer).train()
        case "speed":
            measure_speeds(settings, tokenizer, build)
        case "evaluate":
            Evaluation(settings, parsed.corpus, build, tokenizer).run()
        case "export":
            drafts = [draft.name for draft in settings.drafts]
            trained = [name for name in drafts if (build / name / "checkpoint.pt").exists()]
            for name in (TARGET, *trained):
                folder = export_model(settings, name, build, parsed.models, tokenizer)
                Console().print(f"wrote {folder}")


if __name__ == "__main__":
    sys.exit(main())
