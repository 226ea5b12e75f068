"""The gallery holds prompts of six kinds, each with a hint and what the hint invites to."""

import json

from fake_race import OPTIONS

from specviz.ui.assets import Example, read_examples
from specviz.ui.options import PageDefaults
from specviz.ui.request_form import build_request
from specviz.ui.strings import read_table

TEXTS = read_table("en")


def _examples() -> list[Example]:
    return [example for group in read_examples() for example in group.examples]


def test_the_gallery_has_six_groups_of_prompts_with_hints() -> None:
    groups = read_examples()
    labels = ["Story", "Code", "Question", "Copy-edit", "Summarise", "Translate"]
    assert [TEXTS[f"prompt.{group.id}"] for group in groups] == labels
    assert min(len(group.examples) for group in groups) >= 4
    examples = _examples()
    assert len(examples) >= 26
    assert len({example.id for example in examples}) == len(examples)
    assert len({example.prompt for example in examples}) == len(examples)
    assert len({TEXTS[f"prompt.{example.id}"] for example in examples}) == len(examples)
    assert max(len(example.prompt) for example in examples) < 500
    for hint in (TEXTS[f"prompt.{example.id}_hint"] for example in examples):
        assert 40 <= len(hint) <= 180
        assert hint.endswith(".")
        assert ". " not in hint, "a hint is one sentence"


def test_no_text_of_the_gallery_is_left_over() -> None:
    ids = {group.id for group in read_examples()} | {example.id for example in _examples()}
    tries = {f"try_{name}" for example in _examples() for name in example.tries}
    hints = {f"{example.id}_hint" for example in _examples()}
    keys = {key.removeprefix("prompt.") for key in TEXTS if key.startswith("prompt.")}
    # What a visitor proves on is told among the gallery's kinds too.
    assert keys == ids | hints | tries | {"own"}


def test_what_a_hint_invites_to_is_a_race_that_the_page_runs() -> None:
    tried = [settings for example in _examples() for settings in example.tries.values()]
    assert len(tried) >= 10
    for settings in tried:
        assert set(settings) <= {"lanes", "temperature"}
        lanes = settings.get("lanes", [{"method": "draft-model", "gamma": 4}])
        sampling = {"temperature": settings.get("temperature", 0.0)}
        request = build_request("A prompt", lanes, sampling, 16, OPTIONS)
        assert len(request.lanes) == len(lanes) + 1
    assert {json.dumps(settings) for settings in tried} > {'{"temperature": 1}'}


def test_a_hint_that_names_prompt_lookup_can_be_tried_with_it() -> None:
    for example in _examples():
        if "prompt lookup" in TEXTS[f"prompt.{example.id}_hint"]:
            methods = [lane["method"] for each in example.tries.values() for lane in each["lanes"]]
            assert "prompt-lookup" in methods, example.id


def test_tasks_of_the_gallery_are_under_the_one_template() -> None:
    tasks = [e.prompt for group in read_examples()[2:] for e in group.examples]
    assert all(task.startswith("Task: ") and task.endswith("\n\nAnswer:\n") for task in tasks)


def test_the_first_prompt_is_one_of_the_gallery() -> None:
    assert PageDefaults().prompt in [example.prompt for example in _examples()]
