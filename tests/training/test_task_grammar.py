"""The task grammar writes repeatable tasks whose answers are right."""

import random
import re
from collections import Counter
from functools import cache

import pytest

from specviz.training.corpus import as_task
from specviz.training.story_grammar import write_stories
from specviz.training.task_grammar import misspell, tell_with_summary, write_tasks
from specviz.training.task_texts import load_patterns, tell_facts
from specviz.training.task_translation import (
    Adjective,
    Noun,
    Phrase,
    finish,
    join,
    noun_phrase,
    write_translation,
)

NUM_TASKS = 4_000
MAX_TASK_WORDS = 220

STAR = Noun("star", "estrella", "f", "étoile", "f")
CLOCK = Noun("clock", "reloj", "m", "horloge", "f")
MAN = Noun("man", "hombre", "m", "homme", "m")
KING = Noun("king", "rey", "m", "roi", "m")
CAT = Noun("cat", "gato", "m", "chat", "m")
SCHOOL = Noun("school", "escuela", "f", "école", "f")
LAKE = Noun("lake", "lago", "m", "lac", "m")
RED = Adjective("red", "rojo", "roja", "rouge", "rouge", "after")
WHITE = Adjective("white", "blanco", "blanca", "blanc", "blanche", "after")
SMALL = Adjective("small", "pequeño", "pequeña", "petit", "petite", "before")
SLEEPS = Phrase("sleeps", "duerme", "dort")
GOES_TO = Phrase("goes to", "va a", "va à")
NEAR = Phrase("near", "cerca de", "près de")


@cache
def sample() -> tuple[dict[str, str], ...]:
    return tuple(write_tasks(NUM_TASKS, seed=0))


def pairs(kind: str) -> list[tuple[str, str]]:
    """The sampled tasks of one kind: what stands below the instruction, and the response."""
    rows = [row for row in sample() if row["task"] == kind]
    return [(row["prompt"].split("\n\n", 1)[-1], row["response"]) for row in rows]


def test_same_seed_gives_same_tasks() -> None:
    assert list(write_tasks(100, seed=3)) == list(write_tasks(100, seed=3))


def test_other_seed_gives_other_tasks() -> None:
    prompts = [{row["prompt"] for row in write_tasks(100, seed=seed)} for seed in (3, 4)]
    assert not prompts[0] & prompts[1]


def test_nearly_all_tasks_are_distinct() -> None:
    assert len({row["prompt"] for row in sample()}) >= 0.99 * NUM_TASKS


def test_kinds_come_in_their_shares() -> None:
    shares = load_patterns()["shares"]
    counts = Counter(row["task"] for row in sample())
    assert sum(shares.values()) == 100
    for kind, percent in shares.items():
        assert counts[kind] / NUM_TASKS == pytest.approx(percent / 100, abs=0.025)


def test_tasks_are_short() -> None:
    for row in sample():
        assert len(as_task(row["prompt"], row["response"]).split()) <= MAX_TASK_WORDS


def test_no_template_is_left_unfilled() -> None:
    assert not [row for row in sample() if re.search(r"[{}]|  | / ", str([*row.values()][:2]))]


def test_articles_fit_the_next_word() -> None:
    responses = [row["response"] for row in sample() if row["task"] != "translate"]
    assert not [text for text in responses if re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", text)]


def test_edited_stories_are_not_the_training_stories() -> None:
    told = {paragraph for text in write_stories(500, seed=0) for paragraph in text.split("\n\n")}
    copied = {text for text, _ in pairs("copy")}
    assert len(copied & told) < 0.05 * len(copied)


def test_copy_equals_its_text() -> None:
    assert all(text == response for text, response in pairs("copy"))


def test_copy_edit_is_close_to_its_text() -> None:
    for text, response in pairs("copy_edit"):
        changed = [a != b for a, b in zip(text.split(), response.split(), strict=True)]
        assert 2 <= sum(changed) <= 5 or (sum(changed) == 1 and not text.endswith("."))


def test_misspell_changes_only_what_it_may() -> None:
    rng = random.Random(0)
    text = "A cat went to the old house. It found an egg."
    for _ in range(200):
        wrong = misspell(text, rng)
        assert wrong != text
        assert len(wrong.split()) == len(text.split())


def test_rename_can_be_undone() -> None:
    rows = [row for row in sample() if row["task"] == "rename"]
    for row in rows:
        head, text = row["prompt"].split("\n\n", 1)
        match = re.fullmatch(r"Change the name (\w+) to (\w+) everywhere\.", head)
        assert match
        old, new = match.groups()
        assert len(re.findall(rf"\b{old}\b", text)) >= 2
        assert not re.search(rf"\b{old}\b", row["response"])
        assert re.sub(rf"\b{new}\b", old, row["response"]) == text


def test_each_sentence_is_on_its_own_line() -> None:
    for text, response in pairs("sentence_lines"):
        lines = response.split("\n")
        assert " ".join(lines) == text
        assert len(lines) >= 2
        assert all(re.fullmatch(r"[^.!?]+[.!?]", line) for line in lines)


def test_answers_stand_in_the_story() -> None:
    grammar_words = {"is", "was", "the", "and", "a", "an", "s"}
    for text, answer in pairs("story_qa"):
        story, question = text.split("\n\nQuestion: ")
        known = set(re.findall(r"\w+", story.lower()))
        assert set(re.findall(r"\w+", answer.lower())) - grammar_words <= known
        assert question.endswith("?")
        assert answer.endswith(".")


def test_each_question_is_about_one_fact() -> None:
    rng = random.Random(0)
    for _ in range(500):
        questions = [question for question, _ in tell_facts(rng).questions]
        assert len(questions) == len(set(questions))


def test_facts_have_many_patterns() -> None:
    patterns = load_patterns()["facts"]["patterns"]
    assert len(patterns) >= 25
    assert all(len(pattern) % 2 == 1 and len(pattern) >= 3 for pattern in patterns)


def test_summary_is_one_sentence_of_the_words_of_the_story() -> None:
    rng = random.Random(0)
    added = {"a", "an", "and", "it", "lost", "bought", "to", "from"}
    for _ in range(500):
        story, summary = tell_with_summary(rng)
        assert re.fullmatch(r"\w+, an? [^.]+\.", summary)
        words = set(re.findall(r"\w+", summary))
        assert words - added <= set(re.findall(r"\w+", story))


def test_translations_have_as_many_sentences() -> None:
    rng = random.Random(0)
    for _ in range(500):
        language, english, other = write_translation(rng)
        assert language in ("Spanish", "French")
        assert english.count(".") == other.count(".") <= 3


def test_translations_are_contracted() -> None:
    wrong = {
        "Spanish": r"\b(a|de) el\b",
        "French": r"\b(à|de) le\b|\b(le|la|de|ma) [aeiouhéèêôœ]",
    }
    rng = random.Random(0)
    for _ in range(2_000):
        language, _, other = write_translation(rng)
        assert not re.search(wrong[language], other, re.IGNORECASE), other


@pytest.mark.parametrize(
    ("phrases", "translations"),
    [
        pytest.param(
            (noun_phrase(CAT, "the", RED), SLEEPS),
            ("The red cat sleeps.", "El gato rojo duerme.", "Le chat rouge dort."),
            id="color after the noun",
        ),
        pytest.param(
            (noun_phrase(MAN, "the", SMALL), GOES_TO, noun_phrase(LAKE, "the")),
            (
                "The small man goes to the lake.",
                "El hombre pequeño va al lago.",
                "Le petit homme va au lac.",
            ),
            id="al and au",
        ),
        pytest.param(
            (noun_phrase(KING, "a"), GOES_TO, noun_phrase(SCHOOL, "the")),
            ("A king goes to the school.", "Un rey va a la escuela.", "Un roi va à l'école."),
            id="elision after à",
        ),
        pytest.param(
            (noun_phrase(MAN, "the"), SLEEPS, NEAR, noun_phrase(LAKE, "the")),
            (
                "The man sleeps near the lake.",
                "El hombre duerme cerca del lago.",
                "L'homme dort près du lac.",
            ),
            id="del and du",
        ),
        pytest.param(
            (noun_phrase(KING, "the"), SLEEPS, NEAR, noun_phrase(SCHOOL, "a")),
            (
                "The king sleeps near a school.",
                "El rey duerme cerca de una escuela.",
                "Le roi dort près d'une école.",
            ),
            id="elision of de",
        ),
        pytest.param(
            (noun_phrase(STAR, "my"), Phrase("is", "es", "est"), WHITE.agree(STAR)),
            ("My star is white.", "Mi estrella es blanca.", "Mon étoile est blanche."),
            id="mon before a vowel",
        ),
        pytest.param(
            (noun_phrase(CLOCK, "my", SMALL), Phrase("is", "es", "est"), WHITE.agree(CLOCK)),
            (
                "My small clock is white.",
                "Mi reloj pequeño es blanco.",
                "Ma petite horloge est blanche.",
            ),
            id="ma before an adjective",
        ),
    ],
)
def test_translation_by_hand(phrases: tuple[Phrase, ...], translations: tuple[str, ...]) -> None:
    assert finish(join(*phrases)) == translations
