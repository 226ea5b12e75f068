"""A grammar that writes short, right Python functions and classes, and tasks about them.

The patterns that it follows are read by `code_patterns`.
"""

import ast
import random
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from specviz.training.code_errors import break_syntax
from specviz.training.code_patterns import Code, load_grammar, write_class, write_function

MAX_CHARACTERS = 900
PLAIN_SHARE = 0.55
CLASS_SHARE = 0.3
NO_DOCSTRING_SHARE = 0.5
FUNCTIONS_PER_FILE = {1: 0.4, 2: 0.4, 3: 0.2}

Row: TypeAlias = dict[str, str]
Writer: TypeAlias = Callable[[random.Random], Row]


def write_code(num_rows: int, seed: int) -> Iterator[Row]:
    """Write rows of code, the same ones for the same seed.

    A plain row has `text`, a task row has `prompt`, `response` and the kind of its `task`.
    """
    rng = random.Random(seed)
    for _ in range(num_rows):
        write = _write_plain if rng.random() < PLAIN_SHARE else _any_task(rng)
        row = write(rng)
        while sum(map(len, row.values())) >= MAX_CHARACTERS:
            row = write(rng)
        yield row


def _any_task(rng: random.Random) -> Writer:
    (write,) = rng.choices(list(TASK_SHARES), list(TASK_SHARES.values()))
    return write


def _any_class(rng: random.Random) -> Code:
    pattern = rng.choice(load_grammar().classes)
    most = min(4, len(pattern.parts) - 1)
    return write_class(pattern, rng, num_methods=rng.randint(2, most))


def _any_function(rng: random.Random) -> Code:
    patterns = [one for topic in load_grammar().topics.values() for one in topic]
    return write_function(rng.choice(patterns), rng)


def _write_plain(rng: random.Random) -> Row:
    if rng.random() < CLASS_SHARE:
        return {"text": _any_class(rng).source()}
    (num,) = rng.choices(list(FUNCTIONS_PER_FILE), list(FUNCTIONS_PER_FILE.values()))
    topics = load_grammar().topics
    (topic,) = rng.choices(list(topics.values()), [len(topic) for topic in topics.values()])
    functions = [write_function(one, rng) for one in rng.sample(topic, num)]
    imports = "\n".join(sorted({function.imports for function in functions} - {""}))
    parts = [imports] if imports else []
    parts += [function.source().removeprefix(function.imports).lstrip() for function in functions]
    return {"text": "\n\n\n".join(parts)}


def _write_task(rng: random.Random) -> Row:
    code = _any_function(rng)
    prompt = f"Write a Python function: {code.doc}"
    return {"prompt": prompt, "response": code.source(), "task": "code_write"}


def _docstring_task(rng: random.Random) -> Row:
    code = _any_function(rng)
    prompt = f'Add the docstring "{code.doc}" to this code.\n\n{code.source(with_doc=False)}'
    return {"prompt": prompt, "response": code.source(), "task": "code_docstring"}


def _fix_task(rng: random.Random) -> Row:
    if rng.random() < CLASS_SHARE:
        source = _any_class(rng).source()
    else:
        source = _any_function(rng).source(with_doc=rng.random() >= NO_DOCSTRING_SHARE)
    prompt = f"Fix the syntax error.\n\n{break_syntax(source, rng)}"
    return {"prompt": prompt, "response": source, "task": "code_fix"}


def _rename_task(rng: random.Random) -> Row:
    code, source, variables = _any_renamable(rng)
    old = rng.choice(variables)
    new = _other_word(old, code.slots, source, rng)
    prompt = f"Rename the variable {old} to {new}.\n\n{source}"
    return {"prompt": prompt, "response": rename(source, old, new), "task": "code_rename"}


def _any_renamable(rng: random.Random) -> tuple[Code, str, list[str]]:
    while True:
        code = _any_function(rng)
        source = code.source(with_doc=rng.random() >= NO_DOCSTRING_SHARE)
        variables = renamable(source)
        if variables:
            return code, source, variables


def renamable(source: str) -> list[str]:
    """The variables whose names stand nowhere else in the source, such as in a docstring."""
    nodes = list(ast.walk(ast.parse(source)))
    uses = [node.id for node in nodes if isinstance(node, ast.Name)]
    uses += [node.arg for node in nodes if isinstance(node, ast.arg)]
    bound = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    bound += [node.arg for node in nodes if isinstance(node, ast.arg)]
    words = re.findall(r"\w+", source)
    return [name for name in sorted(set(bound)) if uses.count(name) == words.count(name)]


def rename(source: str, old: str, new: str) -> str:
    """Put `new` wherever the word `old` stands."""
    return re.sub(rf"\b{old}\b", new, source)


def _other_word(old: str, slots: dict[str, str], source: str, rng: random.Random) -> str:
    """A word that could stand for the old one and is not yet in the source."""
    grammar = load_grammar()
    slot = next((slot for slot, word in slots.items() if word == old), "anything")
    table, place = grammar.fields[slot.rstrip("0123456789")]
    taken = set(re.findall(r"\w+", source))
    others = [entry[place] for entry in grammar.words[table] if entry[place] not in taken]
    anything = [word for (word,) in grammar.words["anything"] if word not in taken]
    return rng.choice(others or anything)


TASK_SHARES: dict[Writer, float] = {
    _write_task: 0.40,
    _rename_task: 0.25,
    _docstring_task: 0.15,
    _fix_task: 0.20,
}
