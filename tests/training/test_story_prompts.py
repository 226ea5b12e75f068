"""Openings of stories: different, short, the same ones every time."""

from specviz.training.story_prompts import story_prompts


def test_openings_are_different_and_repeat() -> None:
    prompts = story_prompts(50)
    assert prompts == story_prompts(50)
    assert len(set(prompts)) == 50
    assert all(3 <= len(prompt.split()) <= 10 for prompt in prompts)
