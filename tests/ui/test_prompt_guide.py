"""A prompt far from what was read is told so, with the example that shares most with it."""

from dataclasses import replace

import pytest
from traces import small_race

from specviz.trace.reading import Beginnings, Reading
from specviz.trace.replay import events_of
from specviz.trace.values import RaceStarted
from specviz.ui.assets import Example, read_examples
from specviz.ui.prompt_guide import NearestExample, PromptGuide
from specviz.ui.strings import read_table

READING = Reading(("stories",), ("en",), (0.01, 0.5), (Beginnings(2, 300, (-6.0, -1.0)),))
TARGET = "shipped-target"
EXAMPLES = [example for group in read_examples() for example in group.examples]


def started(log_prob: float | None) -> RaceStarted:
    race = small_race()
    request = replace(
        race.request, prompt="What is it?", prompt_ids=(1, 2, 3, 4, 5), prompt_log_prob=log_prob
    )
    first = next(iter(events_of(replace(race, request=request))))
    assert isinstance(first, RaceStarted)
    return first


def test_a_far_prompt_comes_with_an_example_and_a_near_one_without() -> None:
    guide = PromptGuide({TARGET: READING}, EXAMPLES)
    far, near = guide.about(started(-7.0)), guide.about(started(-1.0))
    assert far is not None
    assert near is not None
    assert (far["distance"], far["share_below"], far["num_texts"]) == ("far", 0.0, 300)
    assert far["example"] in {example.id for example in EXAMPLES}
    assert (near["distance"], near["example"]) == ("near", None)


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert PromptGuide({TARGET: READING}, EXAMPLES).about(started(None)) is None
    assert PromptGuide({"another": READING}, EXAMPLES).about(started(-7.0)) is None
    assert PromptGuide().about(started(-7.0)) is None


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("What is the capital of France?", "question"),
        ('def fibonacci(n):\n    """Return the nth Fibonacci number."""\n', "code"),
        ("Translate 'hello' to Spanish", "translate"),
        ("Once upon a time there was a king", "story"),
    ],
)
def test_the_nearest_example_is_of_the_prompt_s_kind(prompt: str, kind: str) -> None:
    assert (NearestExample(EXAMPLES).to(prompt) or "").startswith(kind)


@pytest.mark.parametrize("prompt", ["从前有一只小狐狸。", "🦊🌲", "Es war einmal ein Hund"])
def test_the_first_example_is_offered_where_none_is_near(prompt: str) -> None:
    assert NearestExample(EXAMPLES).to(prompt) == EXAMPLES[0].id
    assert NearestExample([]).to(prompt) is None


def test_what_is_there_to_be_strange_is_not_offered() -> None:
    odd = [example for example in EXAMPLES if example.is_odd]
    assert len(odd) >= 4
    plain = Example("plain", "A dog and a cat.", {})
    guide = PromptGuide({TARGET: READING}, [replace(plain, id="odd", is_odd=True), plain])
    told = guide.about(started(-7.0))
    assert told is not None
    assert told["example"] == "plain"


def test_what_the_shipped_target_has_read_has_words_in_every_language() -> None:
    from specviz.host.offers import page_options

    (pair,) = page_options(None, None, "cpu", "float32").pairs
    assert pair.reading is not None
    keys = {f"reading.{kind}" for kind in pair.reading.kinds}
    keys |= {f"reading.in_{code}" for code in pair.reading.languages}
    for language in ("en", "es"):
        assert keys <= set(read_table(language))
