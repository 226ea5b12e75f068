"""The story grammar writes clean, different, repeatable stories."""

import re
from functools import cache

import pytest

from specviz.training.story_grammar import (
    MAX_WORDS,
    MIN_WORDS,
    Story,
    load_grammar,
    tell_stories,
    write_stories,
)

NUM_STORIES = 2_000


@cache
def sample() -> tuple[Story, ...]:
    return tuple(tell_stories(NUM_STORIES, seed=0))


def offenders(pattern: str) -> list[str]:
    """What in the sample matches the pattern, with a few letters on both sides."""
    return [
        story.text[max(0, match.start() - 20) : match.end() + 20]
        for story in sample()
        for match in re.finditer(pattern, story.text)
    ]


def test_same_seed_gives_same_stories() -> None:
    assert list(write_stories(50, seed=3)) == list(write_stories(50, seed=3))


def test_other_seed_gives_other_stories() -> None:
    assert not set(write_stories(50, seed=3)) & set(write_stories(50, seed=4))


def test_write_stories_gives_the_told_texts() -> None:
    assert list(write_stories(20, seed=0)) == [story.text for story in sample()[:20]]


def test_nearly_all_stories_are_distinct() -> None:
    assert len({story.text for story in sample()}) >= 0.99 * NUM_STORIES


def test_every_plot_is_used() -> None:
    plots = [plot.name for plot in load_grammar().plots]
    assert len(plots) == len(set(plots)) >= 16
    assert {story.plot for story in sample()} == set(plots)


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"[{}\[\]|]", id="unfilled template"),
        pytest.param(r"  ", id="double space"),
        pytest.param(r"\b[Aa] [aeiou]", id="a before a vowel"),
        pytest.param(r"\b[Aa]n [^aeiou]", id="an before a consonant"),
        pytest.param(r"[.!?] [a-z]", id="sentence without a capital"),
        pytest.param(r"\"[a-z]", id="speech without a capital"),
        pytest.param(r" [.,!?]", id="space before punctuation"),
        pytest.param(r"[.,!?][.,!?]", id="double punctuation"),
        pytest.param(r"\.\" (?:said|asked|he|she)\b", id="full stop before the speaker"),
    ],
)
def test_stories_are_cleanly_written(pattern: str) -> None:
    assert offenders(pattern) == []


def test_stories_have_the_right_shape() -> None:
    for story in sample():
        paragraphs = story.text.split("\n\n")
        assert 2 <= len(paragraphs) <= 4, story.text
        assert MIN_WORDS <= len(story.text.split()) <= MAX_WORDS
        assert all(paragraph == paragraph.strip() for paragraph in paragraphs)
        assert all(paragraph.count('"') % 2 == 0 for paragraph in paragraphs), story.text
        assert story.text[-1] in '.!?"'


def test_hero_comes_back() -> None:
    grammar = load_grammar()
    names = re.compile(rf"\b(?:{'|'.join(grammar.words['girls'] + grammar.words['boys'])})\b")
    for story in sample():
        hero = names.search(story.text)
        assert hero is not None, story.text
        assert len(re.findall(rf"\b{hero[0]}\b", story.text)) >= 3, story.text


def test_about_two_of_five_stories_begin_once_upon_a_time() -> None:
    share = sum(story.text.startswith("Once upon a time, ") for story in sample()) / NUM_STORIES
    assert 0.3 < share < 0.5
