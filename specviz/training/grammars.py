"""The sources of text that are written by rule, as rows like those of a corpus file."""

from collections.abc import Iterator
from pathlib import Path

from specviz.training.code_grammar import write_code
from specviz.training.story_grammar import write_stories
from specviz.training.task_grammar import write_tasks

# How many rows are written of each; the texts differ, so more rows are more to learn from.
NUM_STORIES = 40_000
NUM_TASKS = 40_000
NUM_CODE_ROWS = 40_000
_FOLDER = Path(__file__).parent
_FILES = {
    "story_grammar": ("story_grammar.py", "stories.toml"),
    "task_grammar": (
        "task_grammar.py",
        "task_texts.py",
        "task_translation.py",
        "tasks.toml",
        "stories.toml",
    ),
    "code_grammar": ("code_grammar.py", "code_patterns.py", "code_errors.py", "functions.toml"),
}
GRAMMARS = {
    "story_grammar": "short stories that a grammar of our own writes",
    "task_grammar": "tasks on short texts, written and answered by rule",
    "code_grammar": "simple Python functions, and tasks on them, written by rule",
}
"""Name of a source to what it is."""


def grammar_rows(source: str) -> Iterator[dict[str, str]]:
    """Write the rows of a source of `GRAMMARS`, the same ones every time."""
    if source == "story_grammar":
        return ({"text": text} for text in write_stories(NUM_STORIES, seed=0))
    if source == "task_grammar":
        return write_tasks(NUM_TASKS, seed=0)
    return write_code(NUM_CODE_ROWS, seed=0)


def grammar_changed(source: str) -> float:
    """When the rules of a source of `GRAMMARS` were last changed, in seconds since the epoch."""
    return max((_FOLDER / name).stat().st_mtime for name in _FILES[source])
