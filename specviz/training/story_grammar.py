"""A grammar that writes short simple stories, so that a very small model can learn to be coherent.

The words and the plots are in `stories.toml`, whose head says how a plot is written down.
"""

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

STORIES_FILE = Path(__file__).with_name("stories.toml")
MIN_WORDS, MAX_WORDS = 60, 170
MAX_REDRAWS = 1_000
OTHER_GENDER_SHARE = 0.8

_FIELD_SEPARATOR = " / "
_SLOT = re.compile(r"\{(\w+(?:\.\d)?)\}")
_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])")
_PRONOUNS = {
    "boy": {"he": "he", "him": "him", "his": "his", "sibling": "brother"},
    "girl": {"he": "she", "him": "her", "his": "her", "sibling": "sister"},
}

Text: TypeAlias = tuple["str | Choice", ...]
Words: TypeAlias = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Choice:
    """One of several texts, each of them plain text mixed with further choices."""

    options: tuple[Text, ...]


@dataclass(frozen=True)
class Plot:
    """What can happen to a hero: `draws` says from which word table each slot is filled."""

    name: str
    heroes: tuple[str, ...]
    draws: dict[str, str]
    paragraphs: tuple[Choice, ...]


@dataclass(frozen=True)
class Grammar:
    """All the words and plots of `stories.toml`."""

    words: Words
    plots: tuple[Plot, ...]


@dataclass(frozen=True)
class Story:
    """A finished story and the name of the plot that it follows."""

    plot: str
    text: str


def write_stories(num_stories: int, seed: int) -> Iterator[str]:
    """Write `num_stories` stories, the same ones for the same seed."""
    for story in tell_stories(num_stories, seed):
        yield story.text


def tell_stories(num_stories: int, seed: int) -> Iterator[Story]:
    """Like `write_stories`, with the plot of each story.

    Raises:
        ValueError: A plot of `stories.toml` never has a length within the bounds.
    """
    grammar = load_grammar()
    rng = random.Random(seed)
    for _ in range(num_stories):
        plot = rng.choice(grammar.plots)
        yield Story(plot.name, _tell_within_bounds(plot, grammar.words, rng))


def _tell_within_bounds(plot: Plot, words: Words, rng: random.Random) -> str:
    for _ in range(MAX_REDRAWS):
        text = _tell(plot, words, rng)
        if MIN_WORDS <= len(text.split()) <= MAX_WORDS:
            return text
    raise ValueError(f"plot {plot.name} never has {MIN_WORDS} to {MAX_WORDS} words; change it")


@cache
def load_grammar() -> Grammar:
    """Read and parse `stories.toml`."""
    data = tomllib.loads(STORIES_FILE.read_text(encoding="utf-8"))
    words = {table: tuple(entries) for table, entries in data["words"].items()}
    plots = tuple(_parse_plot(plot, data["parts"]) for plot in data["plot"])
    return Grammar(words, plots)


def _parse_plot(plot: dict[str, Any], shared_parts: dict[str, str]) -> Plot:
    parts = {**shared_parts, **plot.get("parts", {})}
    story = _inline_parts(plot["story"], parts).strip()
    return Plot(
        name=plot["name"],
        heroes=tuple(plot["heroes"]),
        draws={"trait": "traits", **plot.get("draw", {})},
        paragraphs=tuple(_parse_choices(text) for text in story.split("\n\n")),
    )


def _inline_parts(text: str, parts: dict[str, str]) -> str:
    """Put the text of each named part where a slot names it; other slots stay."""

    def inline(match: re.Match[str]) -> str:
        part = parts.get(match[1])
        return match[0] if part is None else _inline_parts(part.strip(), parts)

    return _SLOT.sub(inline, text)


def _parse_choices(text: str) -> Choice:
    """Parse text in which `[one|two|three]` offers a choice; choices may be nested."""
    if text.count("[") != text.count("]"):
        raise ValueError(f"unbalanced brackets in {text!r}")
    return Choice(_parse_options(iter(re.split(r"([\[\]|])", text))))


def _parse_options(tokens: Iterator[str]) -> tuple[Text, ...]:
    """Parse up to the bracket that closes the current choice."""
    options: list[Text] = []
    option: list[str | Choice] = []
    for token in tokens:
        if token == "]":
            break
        if token == "[":
            option.append(Choice(_parse_options(tokens)))
        elif token == "|":
            options.append(tuple(option))
            option = []
        else:
            option.append(token)
    options.append(tuple(option))
    return tuple(options)


def _tell(plot: Plot, words: Words, rng: random.Random) -> str:
    slots = _cast(plot.heroes, words, rng) | _draw(plot.draws, words, rng)
    texts = (_fill(_choose(paragraph, rng), slots) for paragraph in plot.paragraphs)
    return "\n\n".join(_BEFORE_VOWEL.sub(r"\1n ", " ".join(text.split())) for text in texts)


def _choose(choice: Choice, rng: random.Random) -> str:
    chosen = choice.options[int(rng.random() * len(choice.options))]  # faster than rng.choice
    return "".join([part if isinstance(part, str) else _choose(part, rng) for part in chosen])


def _fill(text: str, slots: dict[str, str]) -> str:
    """Fill the slots, also those inside of filled-in words; `{Toy}` is `{toy}` with a capital."""

    def fill(match: re.Match[str]) -> str:
        slot = match[1]
        if slot[0].islower():
            return slots[slot]
        value = slots[slot.lower()]
        return value[0].upper() + value[1:]

    while "{" in text:
        text = _SLOT.sub(fill, text)
    return text


def _draw(draws: dict[str, str], words: Words, rng: random.Random) -> dict[str, str]:
    """Fill each slot from its table, never twice with the same entry."""
    slots: dict[str, str] = {}
    used: set[str] = set()
    for slot, table in draws.items():
        entry = rng.choice(words[table])
        while entry in used:
            entry = rng.choice(words[table])
        used.add(entry)
        slots |= _record_slots(slot, entry)
    return slots


def _record_slots(slot: str, entry: str) -> dict[str, str]:
    """The entry `a / b` of slot `toy` gives `toy` = a and `toy.2` = b."""
    first, *others = entry.split(_FIELD_SEPARATOR)
    return {slot: first} | {f"{slot}.{place}": field for place, field in enumerate(others, 2)}


def _cast(heroes: tuple[str, ...], words: Words, rng: random.Random) -> dict[str, str]:
    """Choose the hero and a friend who lives in the same land: names, kinds, pronouns."""
    gender, other = rng.sample(["boy", "girl"], 2)
    friend_gender = other if rng.random() < OTHER_GENDER_SHARE else gender
    name = rng.choice(words[f"{gender}s"])
    friend_name = rng.choice([entry for entry in words[f"{friend_gender}s"] if entry != name])
    table = rng.choice(heroes)
    if table == "child":
        kind, friend_kind = gender, friend_gender
        land, preposition = rng.choice(words["lands"]).split(_FIELD_SEPARATOR)
    else:
        kind, land, preposition = rng.choice(words[table]).split(_FIELD_SEPARATOR)
        neighbours = [entry.split(_FIELD_SEPARATOR) for entry in words["animals"]]
        friend_kind = rng.choice([k for k, home, _ in neighbours if home == land and k != kind])
    slots = {"hero": name, "kind": kind, "land": land, "at": preposition, **_PRONOUNS[gender]}
    slots |= {"friend": friend_name, "friend_kind": friend_kind}
    return slots | {f"friend_{word}": form for word, form in _PRONOUNS[friend_gender].items()}
