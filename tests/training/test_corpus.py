"""Held-out rows stay out, texts are packed without padding, batches follow seed and step."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from specviz.training.corpus import (
    as_task,
    build_stream,
    cached_streams,
    draw_batch,
    prompt_part,
    read_texts,
    special_ids,
)
from specviz.training.settings import FamilySettings


def test_held_out_rows_never_reach_a_training_stream(
    corpus: Path, settings: FamilySettings, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    below = settings.held_out_below
    begin, end = special_ids(tokenizer)
    streams = cached_streams(
        tmp_path, corpus, {"tales": 1, "tasks": 1, "unused": 0}, tokenizer, below
    )
    for source, stream in streams.items():
        held_out = read_texts(corpus, source, held_out=True, held_out_below=below)
        assert 20 < len(held_out) < 100
        pieces = np.split(stream.ids, stream.starts[1:])
        trained = {tokenizer.decode(piece.tolist()) for piece in pieces}
        assert len(trained) + len(held_out) == 400
        assert not trained & set(held_out)
        assert all(piece[0] == begin and piece[-1] == end for piece in pieces)


def test_grammar_stories_are_held_out_by_the_same_rule(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specviz.training.grammars.NUM_STORIES", 800)
    kept = read_texts(corpus, "story_grammar", held_out=False, held_out_below="05")
    held_out = read_texts(corpus, "story_grammar", held_out=True, held_out_below="05")
    assert held_out
    assert not set(kept) & set(held_out)
    assert 0.005 < len(held_out) / (len(kept) + len(held_out)) < 0.04


def test_packing_adds_nothing_but_begin_and_end(tokenizer: Tokenizer) -> None:
    texts = ["The fox saw 12 stones.", "é", "  x = 1\n"]
    stream = build_stream(texts, tokenizer)
    lengths = [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]
    assert len(stream.ids) == sum(lengths) + 2 * len(texts)
    assert np.diff(stream.starts).tolist() == [length + 2 for length in lengths[:-1]]
    assert tokenizer.decode(stream.ids.tolist()) == "".join(texts)


def test_a_batch_is_fixed_by_seed_and_step(
    corpus: Path, settings: FamilySettings, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    mix = {"tales": 3.0, "tasks": 1.0}
    streams = cached_streams(tmp_path, corpus, mix, tokenizer, settings.held_out_below)

    def batch(step: int) -> np.ndarray:
        return draw_batch(streams, mix, 6, 20, np.random.default_rng([1, step]))

    assert batch(4).shape == (6, 20)
    assert np.array_equal(batch(4), batch(4))
    assert not np.array_equal(batch(4), batch(5))


def test_prompt_part_ends_where_the_answer_or_the_body_begins() -> None:
    task = as_task("Copy.\n\nA fox.", "A fox.")
    assert prompt_part(task, "edit_copyedit") == "Task: Copy.\n\nA fox.\n\nAnswer:\n"
    assert prompt_part("def f(x):\n    return x\n", "code_python") == "def f(x):\n"
    assert prompt_part("Once upon a time", "tales") is None
