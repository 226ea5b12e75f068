"""Trains the family's byte-level BPE tokenizer."""

import json
import random
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from specviz.training.corpus import BEGIN_TOKEN, END_TOKEN, read_texts
from specviz.training.settings import FamilySettings


def train_tokenizer(settings: FamilySettings, corpus: Path) -> Tokenizer:
    """Learn the byte pairs from a sample of the training rows.

    Digits are split one by one and runs of spaces may merge, so that code and numbers stay regular.
    Every byte has an id, so any text can be written.
    """
    texts: list[str] = []
    for source, million_characters in settings.tokenizer.sample.items():
        room = int(million_characters * 1e6)
        for text in read_texts(
            corpus, source, held_out=False, held_out_below=settings.held_out_below
        ):
            if room <= 0:
                break
            texts.append(text)
            room -= len(text)
    random.Random(settings.seed).shuffle(texts)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings.tokenizer.vocab_size,
        special_tokens=[BEGIN_TOKEN, END_TOKEN],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    begin = tokenizer.token_to_id(BEGIN_TOKEN)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN_TOKEN} $A", special_tokens=[(BEGIN_TOKEN, begin)]
    )
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path, context: int) -> None:
    """Write the tokenizer files that `AutoTokenizer.from_pretrained` reads."""
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BEGIN_TOKEN,
        eos_token=END_TOKEN,
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    fast.save_pretrained(folder)
    # The library indents every merge on lines of its own, which makes the file 2.5 times as large.
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )


def tokens_to_text(tokenizer: Tokenizer, ids: list[int]) -> str:
    """Decode ids without the begin and end tokens."""
    return str(tokenizer.decode(ids, skip_special_tokens=True))
