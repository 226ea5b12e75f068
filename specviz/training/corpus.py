"""Text for training: reads rows, writes tasks under one plain template, packs token ids.

A corpus folder holds JSON lines packed with xz. A plain row has `text`; a task row has `prompt` and
`response` and is written as

    Task: {prompt}

    Answer:
    {response}

Rows whose sha1 begins below a given byte are held out and never reach a training stream.
"""

import hashlib
import json
import lzma
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from specviz.training.grammars import GRAMMARS, grammar_changed, grammar_rows

BEGIN_TOKEN = "<|begin|>"
END_TOKEN = "<|end|>"
# Long rows teach a small model little and fill its windows; sympy is a third of the Python rows.
MAX_CODE_CHARACTERS = 900
SYMPY_SHARE = 0.15
CODE_SOURCES = ("code_python", "edit_code")
ANSWER_HEAD = "\n\nAnswer:\n"

Ids = npt.NDArray[np.uint16]
Indices = npt.NDArray[np.int64]


def as_task(prompt: str, response: str) -> str:
    """Write a task row under the family's one template."""
    return f"{task_prompt(prompt)}{response}"


def task_prompt(prompt: str) -> str:
    """Write the part of the template that a user types, up to where the answer begins."""
    return f"Task: {prompt}{ANSWER_HEAD}"


def read_texts(folder: Path, source: str, *, held_out: bool, held_out_below: str) -> list[str]:
    """Read the texts of one source, either the training rows or the held-out rows."""
    keep_sympy = random.Random(source)
    texts = []
    for row in _rows(folder, source):
        key = row["text"] if "text" in row else f"{row['prompt']}|{row['response']}"
        is_held_out = (
            hashlib.sha1(key.encode()).hexdigest()[:2] < held_out_below
            or row.get("split", "train") != "train"
        )
        if is_held_out is not held_out:
            continue
        if source in CODE_SOURCES:
            if len(key) > MAX_CODE_CHARACTERS:
                continue
            if "sympy" in row["source"] and keep_sympy.random() > SYMPY_SHARE:
                continue
        texts.append(row["text"] if "text" in row else as_task(row["prompt"], row["response"]))
    random.Random(0).shuffle(texts)
    return texts


def _rows(folder: Path, source: str) -> Iterator[dict[str, str]]:
    if source in GRAMMARS:
        yield from grammar_rows(source)
        return
    with lzma.open(source_file(folder, source), "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def source_file(folder: Path, source: str) -> Path:
    """The file whose rows are the texts of a source of the corpus."""
    return folder / f"{source}.jsonl.xz"


def _changed(folder: Path, source: str) -> float:
    if source in GRAMMARS:
        return grammar_changed(source)
    return source_file(folder, source).stat().st_mtime


def prompt_part(text: str, source: str) -> str | None:
    """Return what a user would type of a text: the head of a task or of code, None for a story.

    A task's prompt ends where its answer begins, code's prompt with its first line; a story has no
    such place, any of its beginnings will do.
    """
    if text.startswith("Task: ") and ANSWER_HEAD in text:
        return text[: text.index(ANSWER_HEAD) + len(ANSWER_HEAD)]
    if source.startswith("code_"):
        return text.split("\n", 1)[0] + "\n"
    return None


@dataclass(frozen=True, slots=True)
class TokenStream:
    """All texts of one source as one row of ids, each text between a begin and an end token."""

    ids: Ids
    """`[num_tokens]` uint16."""
    starts: Indices
    """`[num_texts]` int64, where each text begins in `ids`."""

    def window(self, length: int, rng: np.random.Generator) -> Ids:
        """Draw `length` consecutive ids; half of the windows begin where a text begins."""
        last = len(self.ids) - length
        if rng.random() < 0.5:
            start = int(self.starts[rng.integers(len(self.starts))])
            return self.ids[min(start, last) : min(start, last) + length]
        start = int(rng.integers(last + 1))
        return self.ids[start : start + length]


def special_ids(tokenizer: Tokenizer) -> tuple[int, int]:
    """The ids of the begin and the end token.

    Raises:
        ValueError: It is a tokenizer of another family.
    """
    begin, end = tokenizer.token_to_id(BEGIN_TOKEN), tokenizer.token_to_id(END_TOKEN)
    if begin is None or end is None:
        raise ValueError(f"the tokenizer lacks {BEGIN_TOKEN} or {END_TOKEN}: train it again")
    return begin, end


def build_stream(texts: list[str], tokenizer: Tokenizer) -> TokenStream:
    """Encode and pack texts (no padding: one text follows the other)."""
    begin, end = special_ids(tokenizer)
    ids: list[int] = []
    starts = []
    for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
        starts.append(len(ids))
        ids.append(begin)
        ids.extend(encoding.ids)
        ids.append(end)
    return TokenStream(np.array(ids, dtype=np.uint16), np.array(starts, dtype=np.int64))


def cached_stream(
    build: Path,
    corpus: Path,
    source: str,
    tokenizer: Tokenizer,
    held_out_below: str,
    *,
    held_out: bool = False,
) -> TokenStream:
    """Build the stream of one source and keep it in the build folder until its source changes."""
    path = build / "tokens" / f"{source}{'.held_out' if held_out else ''}.npz"
    if not path.exists() or path.stat().st_mtime < _changed(corpus, source):
        texts = read_texts(corpus, source, held_out=held_out, held_out_below=held_out_below)
        stream = build_stream(texts, tokenizer)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, ids=stream.ids, starts=stream.starts)
    with np.load(path) as stored:
        return TokenStream(stored["ids"], stored["starts"])


def cached_streams(
    build: Path,
    corpus: Path,
    mix: dict[str, float],
    tokenizer: Tokenizer,
    held_out_below: str,
    *,
    held_out: bool = False,
) -> dict[str, TokenStream]:
    """Streams of all sources that have a weight in `mix`."""
    return {
        source: cached_stream(build, corpus, source, tokenizer, held_out_below, held_out=held_out)
        for source in positive(mix)
    }


def positive(mix: dict[str, float]) -> dict[str, float]:
    """The sources of a mix that are drawn from at all."""
    return {source: weight for source, weight in mix.items() if weight > 0}


def pick_sources(mix: dict[str, float], num: int, rng: np.random.Generator) -> list[str]:
    """Draw `num` sources by their weights."""
    names = list(positive(mix))
    weights = np.array([mix[name] for name in names])
    return [names[i] for i in rng.choice(len(names), size=num, p=weights / weights.sum())]


def draw_batch(
    streams: dict[str, TokenStream],
    mix: dict[str, float],
    rows: int,
    length: int,
    rng: np.random.Generator,
) -> Indices:
    """Draw a batch `[rows, length]` int64 whose sources follow the weights of `mix`."""
    picks = pick_sources(mix, rows, rng)
    return np.stack([streams[name].window(length, rng) for name in picks]).astype(np.int64)
