"""A grammar of small tasks whose answers stand in their prompts, so that copying is learned.

The words and the patterns are in `tasks.toml`. The edits work on three kinds of text: paragraphs
of the story grammar, paragraphs of facts, and sentences of words in random order.
"""

import random
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from specviz.training.task_texts import (
    Passage,
    cut_stories,
    draw_name,
    draw_words,
    fill_slots,
    load_patterns,
    mix_words,
    tell_facts,
)
from specviz.training.task_translation import write_translation

# The training stream tells the stories of seed 0; the tasks must not edit the same ones.
STORY_SEED_OFFSET = 1_000_003
STORIES_PER_ROUND = 2_000
STORY_SHARE, FACT_SHARE, SALAD_SHARE = 0.45, 0.30, 0.25
MAX_TRIES = 40
MIN_ERRORS, MAX_ERRORS = 2, 5
CLOSING_SHARE = 0.5
ANIMAL_HERO_SHARE = 0.3

_SENTENCE_END = re.compile(r"(?<=[.!?]) ")
_UNCLEAR_SENTENCES = re.compile(r"[\"“”\n]|\bMrs?\.")
_LONG_WORD = re.compile(r"\b[a-z]{4,}\b")
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?] ))[A-Z]")
_CONFUSED = {"a": "an", "an": "a", "to": "too", "too": "to"}
_CONFUSED_WORD = re.compile(r"\b(?:an?|too?)\b")
_PRONOUNS = {"boy": "he", "girl": "she"}
_KINDS = {"boy": ["boy", "boy", "man"], "girl": ["girl", "girl", "woman"]}

Edit: TypeAlias = tuple[int, int, str]
"""Where a text is changed, from and up to which character, and what is put there."""


def write_tasks(num_tasks: int, seed: int) -> Iterator[dict[str, str]]:
    """Write `num_tasks` rows of `prompt`, `response` and `task`, the same for the same seed."""
    shares: dict[str, int] = load_patterns()["shares"]
    rng = random.Random(seed)
    passages = _passages(seed, rng)
    for kind in rng.choices(list(shares), list(shares.values()), k=num_tasks):
        prompt, response = _write(kind, passages, rng)
        yield {"prompt": prompt, "response": response, "task": kind}


def _passages(seed: int, rng: random.Random) -> Iterator[Passage]:
    """Mix the three kinds of text without end."""
    stories = _stories(seed + STORY_SEED_OFFSET)
    while True:
        draw = rng.random()
        if draw < STORY_SHARE:
            yield next(stories)
        else:
            yield tell_facts(rng) if draw < STORY_SHARE + FACT_SHARE else mix_words(rng)


def _stories(seed: int) -> Iterator[Passage]:
    while True:
        yield from cut_stories(STORIES_PER_ROUND, seed)
        seed += 1


def _write(kind: str, passages: Iterator[Passage], rng: random.Random) -> tuple[str, str]:
    """Write a task of one kind: its prompt and its response."""
    match kind:
        case "copy_edit":
            text = next(passages).text
            return f"Fix the spelling and grammar.\n\n{misspell(text, rng)}", text
        case "copy":
            text = next(passages).text
            return f"Copy the text exactly.\n\n{text}", text
        case "rename":
            return _rename(passages, rng)
        case "sentence_lines":
            return _part_sentences(passages)
        case "story_qa":
            return _ask(rng)
        case "summarise":
            story, summary = tell_with_summary(rng)
            return f"Tell the story in one sentence.\n\n{story}", summary
        case "translate":
            language, english, translation = write_translation(rng)
            return f"Translate to {language}: {english}", translation
    raise ValueError(f"tasks.toml names an unknown kind of task: {kind}")


def _rename(passages: Iterator[Passage], rng: random.Random) -> tuple[str, str]:
    for passage in passages:
        text = passage.text
        old_names = [name for name in passage.names if len(_find(name, text)) > 1]
        new = draw_name(rng)
        if old_names and new not in text:
            old = rng.choice(old_names)
            renamed = re.sub(rf"\b{old}\b", new, text)
            return f"Change the name {old} to {new} everywhere.\n\n{text}", renamed
    raise AssertionError("the passages never end")


def _find(name: str, text: str) -> list[str]:
    return re.findall(rf"\b{name}\b", text)


def _part_sentences(passages: Iterator[Passage]) -> tuple[str, str]:
    """Take a text of several sentences without speech, whose ends are plain to see."""
    text = next(
        passage.text
        for passage in passages
        if _SENTENCE_END.search(passage.text) and not _UNCLEAR_SENTENCES.search(passage.text)
    )
    return f"Put each sentence on its own line.\n\n{text}", _SENTENCE_END.sub("\n", text)


def _ask(rng: random.Random) -> tuple[str, str]:
    passage = tell_facts(rng)
    question, answer = rng.choice(passage.questions)
    head = "Read the story and answer the question."
    return f"{head}\n\n{passage.text}\n\nQuestion: {question}", answer


def tell_with_summary(rng: random.Random) -> tuple[str, str]:
    """Write a story of one hero and one thing, and its summary in one sentence."""
    patterns = load_patterns()["summary"]
    event, event_summary = rng.choice(patterns["events"])
    ending, ending_summary = rng.choice(patterns["endings"])
    asides = rng.sample(patterns["asides"], rng.choice([0, 0, 1, 1, 2]))
    steps = [rng.choice(patterns["openings"]), event, *asides, ending]
    if rng.random() < CLOSING_SHARE:
        steps.append(rng.choice(patterns["closings"]))
    used: set[str] = set()
    slots = _draw_hero(used, rng) | draw_words(event, used, rng)
    ending_slots = slots | draw_words(ending, used, rng)
    ending_text = fill_slots(ending, ending_slots)
    story = " ".join(ending_text if step is ending else fill_slots(step, slots) for step in steps)
    told = {
        "event": fill_slots(event_summary, slots),
        "ending": fill_slots(ending_summary, ending_slots),
    }
    return story, fill_slots(patterns["one_sentence"], slots | told)


def _draw_hero(used: set[str], rng: random.Random) -> dict[str, str]:
    tables = load_patterns()["words"]
    gender = rng.choice(["boy", "girl"])
    name = rng.choice(tables[f"{gender}s"])
    other = rng.choice([entry for entry in tables["girls"] + tables["boys"] if entry != name])
    if rng.random() < ANIMAL_HERO_SHARE:
        kind = draw_words("{animal}", used, rng)["animal"]
    else:
        kind = rng.choice(_KINDS[gender])
    slots = {"name": name, "other": other, "kind": kind, "trait": rng.choice(tables["trait"])}
    pronoun = _PRONOUNS[gender]
    return slots | {"he": pronoun, "He": pronoun.capitalize()}


def misspell(text: str, rng: random.Random) -> str:
    """Put two to five errors into a text, each in another place; fewer where it has no more."""
    num_errors = rng.randint(MIN_ERRORS, MAX_ERRORS)
    edits: dict[int, Edit] = {}
    for _ in range(MAX_TRIES):
        if len(edits) == num_errors:
            break
        edit = rng.choice(_ERRORS)(text, rng)
        if edit:
            edits.setdefault(edit[0], edit)
    for start, end, wrong in sorted(edits.values(), reverse=True):
        text = text[:start] + wrong + text[end:]
    return text


def _spoil_word(text: str, rng: random.Random) -> Edit | None:
    """Swap two neighbouring letters of a longer word, drop one or double one."""
    match = rng.choice(list(_LONG_WORD.finditer(text)))
    word, error = match[0], rng.choice(["swap", "drop", "double"])
    at = rng.randrange(1, len(word) - 1)
    if error == "swap":
        if word[at] == word[at + 1]:
            return None
        return match.start(), match.end(), word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    letter = "" if error == "drop" else 2 * word[at]
    return match.start(), match.end(), word[:at] + letter + word[at + 1 :]


def _confuse_word(text: str, rng: random.Random) -> Edit | None:
    """Write "an" for "a", "too" for "to", or the other way round."""
    matches = list(_CONFUSED_WORD.finditer(text))
    if not matches:
        return None
    match = rng.choice(matches)
    return match.start(), match.end(), _CONFUSED[match[0]]


def _drop_capital(text: str, rng: random.Random) -> Edit | None:
    matches = list(_SENTENCE_START.finditer(text))
    if not matches:
        return None
    match = rng.choice(matches)
    return match.start(), match.end(), match[0].lower()


def _drop_full_stop(text: str, rng: random.Random) -> Edit | None:
    return (len(text) - 1, len(text), "") if text.endswith(".") else None


_ERRORS: tuple[Callable[[str, random.Random], Edit | None], ...] = (
    *4 * (_spoil_word,),
    _confuse_word,
    _drop_capital,
    _drop_full_stop,
)
