"""Short texts for the task grammar: paragraphs of stories, facts, sentences without sense."""

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specviz.training.story_grammar import load_grammar, write_stories

TASKS_FILE = Path(__file__).with_name("tasks.toml")
MIN_WORDS, MAX_WORDS = 15, 70
MIN_FACT_WORDS, MAX_FACT_WORDS = 20, 60
INVENTED_NAME_SHARE = 0.2
PARALLEL_SHARE = 0.4

_SLOT = re.compile(r"\{(\w+)\}")
_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Passage:
    """A text, the people in it, and what can be asked about it."""

    text: str
    names: tuple[str, ...]
    questions: tuple[tuple[str, str], ...] = ()
    """Questions with their answers."""


@cache
def load_patterns() -> dict[str, Any]:
    """Read `tasks.toml`."""
    return tomllib.loads(TASKS_FILE.read_text(encoding="utf-8"))


def fill_slots(text: str, slots: dict[str, str]) -> str:
    """Fill the slots of a text and write "an" for "a" where it must be."""
    return _BEFORE_VOWEL.sub(r"\1n ", _SLOT.sub(lambda match: slots[match[1]], text))


def draw_words(text: str, used: set[str], rng: random.Random) -> dict[str, str]:
    """Draw a word that is not in `used` for each slot of `text` that has a table of words."""
    tables = load_patterns()["words"]
    slots = {}
    for slot in _SLOT.findall(text):
        if slot in tables and slot not in slots:
            slots[slot] = rng.choice([word for word in tables[slot] if word not in used])
            used.add(slots[slot])
    return slots


def draw_name(rng: random.Random) -> str:
    """Draw the name of a person, at times one that nobody has."""
    tables = load_patterns()["words"]
    if rng.random() < INVENTED_NAME_SHARE:
        return "".join(rng.sample(tables["syllables"], rng.choice([2, 3]))).capitalize()
    return str(rng.choice(tables[rng.choice(["girls", "boys"])]))


def draw_names(num: int, rng: random.Random) -> list[str]:
    """Draw `num` different names, none of them a part of another."""
    names: list[str] = []
    while len(names) < num:
        name = draw_name(rng)
        if not any(name in other or other in name for other in names):
            names.append(name)
    return names


def tell_facts(rng: random.Random) -> Passage:
    """Write three to six facts; each question has one answer among them.

    Either every fact has another pattern and people come back, or a few patterns come back with
    other people: then only the names say which fact is asked about.
    """
    patterns: list[list[str]] = load_patterns()["facts"]["patterns"]
    while True:
        num_facts = rng.randint(3, 6)
        if rng.random() < PARALLEL_SHARE:
            cast, chosen = draw_names(12, rng), rng.choices(rng.sample(patterns, 2), k=num_facts)
        else:
            cast, chosen = draw_names(rng.randint(2, 4), rng), rng.sample(patterns, num_facts)
        passage = _tell_patterns(chosen, cast, rng)
        if MIN_FACT_WORDS <= len(passage.text.split()) <= MAX_FACT_WORDS:
            return passage


def _tell_patterns(patterns: list[list[str]], cast: list[str], rng: random.Random) -> Passage:
    used_words: set[str] = set()
    used_names: dict[str, set[str]] = {}
    sentences: list[str] = []
    questions: list[tuple[str, str]] = []
    for sentence, *asked in patterns:
        taken = used_names.setdefault(sentence, set())
        name, other = rng.sample([name for name in cast if name not in taken], 2)
        taken |= {name, other} if "{other}" in sentence else {name}
        slots = {"name": name, "other": other} | draw_words(sentence, used_words, rng)
        sentences.append(fill_slots(sentence, slots))
        filled = [fill_slots(text, slots) for text in asked]
        questions += zip(filled[::2], filled[1::2], strict=True)
    text = " ".join(sentences)
    return Passage(text, tuple(name for name in cast if name in text), tuple(questions))


def mix_words(rng: random.Random) -> Passage:
    """Write one to three sentences of common words in random order, with names and numbers."""
    words = _salad_words()
    names = draw_names(2, rng)
    num_words = rng.randint(10, 25)
    mixed = rng.choices(words, k=num_words)
    for _ in range(rng.randint(0, 2)):
        mixed[rng.randrange(num_words)] = str(rng.randint(2, 999))
    for place in rng.sample(range(num_words), rng.randint(2, 4)):
        mixed[place] = rng.choice(names)
    sentences = []
    while mixed:
        length = rng.randint(5, 12) if len(mixed) > 12 else len(mixed)
        sentence = " ".join(mixed[:length])
        sentences.append(sentence[0].upper() + sentence[1:] + ".")
        mixed = mixed[length:]
    text = " ".join(sentences)
    return Passage(text, tuple(name for name in names if name in text))


@cache
def _salad_words() -> list[str]:
    return str(load_patterns()["salad"]["words"]).split()


def cut_stories(num_stories: int, seed: int) -> Iterator[Passage]:
    """Cut one or two paragraphs out of each of `num_stories` stories."""
    words = load_grammar().words
    known = {*words["girls"], *words["boys"]}
    rng = random.Random(seed)
    for story in write_stories(num_stories, seed):
        paragraphs = story.split("\n\n")
        length = rng.randint(1, 2)
        pieces = [
            "\n\n".join(paragraphs[start : start + length])
            for start in range(len(paragraphs) - length + 1)
        ]
        fitting = [piece for piece in pieces if MIN_WORDS <= len(piece.split()) <= MAX_WORDS]
        if fitting:
            text = rng.choice(fitting)
            yield Passage(text, tuple(sorted(known.intersection(_WORD.findall(text)))))
