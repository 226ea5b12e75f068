"""Writes openings of stories, one a line, for `python -m specviz distill --prompts`."""

import random
from pathlib import Path

from specviz.training.story_grammar import write_stories

# Other stories than the ones that the target learns from (seed 0).
SEED = 20_001
MIN_WORDS, MAX_WORDS = 3, 10


def story_prompts(num_prompts: int) -> list[str]:
    """Return that many different openings of 3 to 10 words, the same ones every time."""
    rng = random.Random(SEED)
    openings: dict[str, None] = {}
    for story in write_stories(20 * num_prompts, seed=SEED):
        words = story.split("\n", 1)[0].split(" ")
        openings[" ".join(words[: rng.randint(MIN_WORDS, MAX_WORDS)])] = None
        if len(openings) == num_prompts:
            break
    return list(openings)


def write_story_prompts(path: Path, num_prompts: int) -> None:
    """Write a file of prompts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{prompt}\n" for prompt in story_prompts(num_prompts)), "utf-8")
