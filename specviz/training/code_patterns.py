"""Reads the patterns of `functions.toml`, whose head says how they are written, and fills them."""

import random
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

FUNCTIONS_FILE = Path(__file__).with_name("functions.toml")

_FIELD_SEPARATOR = " / "
_CHOICE = re.compile(r"<([^<>\n]*\|[^<>\n]*)>")
_SLOT = re.compile(r"\$([a-z]+\d?)")


@dataclass(frozen=True)
class Pattern:
    """One thing that a function can do; `bodies` are different ways to do it."""

    names: str
    args: str
    docs: str
    bodies: tuple[str, ...]
    imports: str
    check: str
    """A Python expression that is true of every function `f` of this pattern."""


@dataclass(frozen=True)
class ClassPattern:
    """A class; `parts` are its methods, the first of them always written."""

    names: str
    docs: str
    parts: tuple[str, ...]
    check: str
    """Python statements that pass for a class `C` that has all the parts."""


@dataclass(frozen=True)
class Grammar:
    """All the words and patterns of `functions.toml`."""

    words: dict[str, tuple[tuple[str, ...], ...]]
    """The entries of each word table; an entry has one field for each slot of the table."""
    fields: dict[str, tuple[str, int]]
    """The table and the field from which each slot is filled."""
    topics: dict[str, tuple[Pattern, ...]]
    classes: tuple[ClassPattern, ...]


@dataclass(frozen=True)
class Code:
    """A written function or class, and the words that fill its slots."""

    imports: str
    name: str
    head: str
    doc: str
    body: str
    slots: dict[str, str]

    def source(self, *, with_doc: bool = True) -> str:
        """The whole source, without a line feed at its end."""
        doc = f'    """{self.doc}"""\n' if with_doc else ""
        imports = f"{self.imports}\n\n\n" if self.imports else ""
        return f"{imports}{self.head}\n{doc}{indent(self.body, '    ')}"


@dataclass
class Filling:
    """Fills choices and slots; a slot keeps its word, and no two slots have the same one."""

    grammar: Grammar
    rng: random.Random
    slots: dict[str, str] = field(default_factory=dict)

    def fill(self, text: str) -> str:
        """Make the choices in a text, then fill its slots."""
        chosen = _CHOICE.sub(lambda match: self._pick(match[1].split("|")), text)
        return _SLOT.sub(lambda match: self._word(match[1]), chosen)

    def _word(self, slot: str) -> str:
        if slot not in self.slots:
            self._draw(slot)
        return self.slots[slot]

    def _draw(self, slot: str) -> None:
        number = slot[-1] if slot[-1].isdigit() else ""
        table, _ = self.grammar.fields[slot.removesuffix(number)]
        taken = set(self.slots.values())
        free = [entry for entry in self.grammar.words[table] if taken.isdisjoint(entry)]
        names = [f"{name}{number}" for name in table.split(_FIELD_SEPARATOR)]
        self.slots.update(zip(names, self._pick(free), strict=True))

    def _pick(self, options: list[Any]) -> Any:
        return options[int(self.rng.random() * len(options))]  # faster than rng.choice


@cache
def load_grammar() -> Grammar:
    """Read `functions.toml`."""
    data = tomllib.loads(FUNCTIONS_FILE.read_text(encoding="utf-8"))
    words = {
        table: tuple(tuple(entry.split(_FIELD_SEPARATOR)) for entry in entries)
        for table, entries in data["words"].items()
    }
    fields = {
        slot: (table, place)
        for table in words
        for place, slot in enumerate(table.split(_FIELD_SEPARATOR))
    }
    topics = {
        topic: tuple(_read_pattern(entry) for entry in entries)
        for topic, entries in data["functions"].items()
    }
    classes = tuple(
        ClassPattern(entry["name"], entry["doc"], _stripped(entry["parts"]), entry["check"])
        for entry in data["classes"]
    )
    return Grammar(words, fields, topics, classes)


def _read_pattern(entry: dict[str, Any]) -> Pattern:
    return Pattern(
        names=entry["name"],
        args=entry["args"],
        docs=entry["doc"],
        bodies=_stripped(entry["body"]),
        imports=entry.get("imports", ""),
        check=entry["check"],
    )


def _stripped(texts: list[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts)


def write_function(pattern: Pattern, rng: random.Random) -> Code:
    """Write one function that follows the pattern."""
    filling = Filling(load_grammar(), rng)
    name = filling.slots["name"] = filling.fill(pattern.names)
    head = f"def {name}({filling.fill(pattern.args)}):"
    doc = filling.fill(pattern.docs)
    body = filling.fill(rng.choice(pattern.bodies))
    return Code(pattern.imports, name, head, doc, body, filling.slots)


def write_class(pattern: ClassPattern, rng: random.Random, *, num_methods: int) -> Code:
    """Write a class with its first part and `num_methods` of the others."""
    filling = Filling(load_grammar(), rng)
    name = filling.slots["name"] = filling.fill(pattern.names)
    doc = filling.fill(pattern.docs)
    first, *others = pattern.parts
    chosen = sorted(rng.sample(range(len(others)), num_methods))
    parts = [first, *(others[place] for place in chosen)]
    body = "\n" + "\n\n".join(filling.fill(part) for part in parts)
    return Code("", name, f"class {name}:", doc, body, filling.slots)
