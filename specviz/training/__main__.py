"""`python -m specviz.training COMMAND`: makes the shipped family again from the data."""

import argparse
from pathlib import Path

from tokenizers import Tokenizer

from specviz.training.pretrain import Pretraining
from specviz.training.settings import load_settings
from specviz.training.tokenizer import train_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m specviz.training", description=__doc__)
    parser.add_argument("command", choices=["tokenizer", "target"])
    parser.add_argument("--corpus", type=Path, required=True, help="folder of *.jsonl.xz files")
    parser.add_argument("--build", type=Path, default=Path("build/training"), help="where work is kept")
    arguments = parser.parse_args()
    settings = load_settings()
    tokenizer_file = arguments.build / "tokenizer.json"
    if arguments.command == "tokenizer":
        tokenizer_file.parent.mkdir(parents=True, exist_ok=True)
        train_tokenizer(settings, arguments.corpus).save(str(tokenizer_file))
        return
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    Pretraining(settings, arguments.corpus, arguments.build, tokenizer).run()


if __name__ == "__main__":
    main()
