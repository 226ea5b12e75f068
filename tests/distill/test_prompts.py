"""Prompt files, and which prompts are held out."""

import json
from pathlib import Path

import pytest

from specviz.distill.prompts import read_prompts, split_prompts
from specviz.distill.request import FitRequest, check_fit_request, command_of
from specviz.errors import RequestError


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_text_file_holds_one_prompt_a_line(tmp_path: Path) -> None:
    lines = [r"def f():\n\treturn", "", "  two spaces ", r"C:\\new", r"\d+", "same", "same", "ü"]
    prompts = read_prompts(written(tmp_path / "p.txt", lines), at_least=6)
    assert prompts == ("def f():\n\treturn", "  two spaces ", "C:\\new", r"\d+", "same", "ü")


def test_json_lines_of_all_kinds(tmp_path: Path) -> None:
    rows = [{"prompt": "a\nb", "id": 1}, {"turns": ["first", "second"]}, "plain"]
    path = written(tmp_path / "p.jsonl", [json.dumps(row) for row in rows])
    assert read_prompts(path, at_least=3) == ("a\nb", "first", "plain")


@pytest.mark.parametrize(
    ("name", "lines", "sentence"),
    [
        ("p.txt", ["one"] * 20, "p.txt holds 1 different prompts, at least 8 are needed"),
        ("p.jsonl", ['{"prompt": '], "p.jsonl line 1 is not JSON"),
        ("p.jsonl", ['"x"', '{"text": "x"}'], "p.jsonl line 2 holds no prompt"),
        ("p.json", ['{"turns": []}'], "p.json line 1 holds no prompt"),
        ("p.jsonl", ['{"prompt": "  "}'], "line 1 holds no prompt"),
        ("p.jsonl", ["17"], "line 1 holds no prompt"),
    ],
)
def test_a_bad_file_is_one_sentence(
    name: str, lines: list[str], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(RequestError) as caught:
        read_prompts(written(tmp_path / name, lines))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"none.txt cannot be read: No such file"):
        read_prompts(tmp_path / "none.txt")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(RequestError, match=r"bytes.txt cannot be read: it is not UTF-8"):
        read_prompts(tmp_path / "bytes.txt")


def test_a_fifth_is_held_out_whatever_the_order() -> None:
    prompts = [f"prompt {number}" for number in range(50)]
    learned, held_out = split_prompts(prompts)
    assert len(held_out) == 10
    assert set(learned) | set(held_out) == set(prompts)
    assert not set(learned) & set(held_out)
    assert set(split_prompts(prompts[::-1])[1]) == set(held_out)
    assert len(split_prompts(prompts[:8])[1]) == 2


def test_given_held_out_prompts_are_never_learned_from() -> None:
    learned, held_out = split_prompts(["a", "b", "c"], ["c", "z"])
    assert (learned, held_out) == (("a", "b"), ("c", "z"))
    with pytest.raises(RequestError, match="every prompt is held out"):
        split_prompts(["a"], ["a", "b"])


def a_request(place: Path, **changes: object) -> FitRequest:
    values = {
        "target": "owner/target",
        "draft": "owner/draft",
        "new_size": None,
        "prompts_file": place / "my prompts.txt",
        "held_out_file": None,
        "folder": place / "out",
    }
    return FitRequest(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"minutes": 0.0}, "--minutes must be 0.1 to 1440, got 0"),
        ({"minutes": float("nan")}, "--minutes must be"),
        ({"num_steps": 0}, "--steps must be 1 to"),
        ({"num_texts": 0}, "--texts must be 1 to 10000, got 0"),
        ({"new_tokens": 4}, "--new-tokens must be 8 to 4096, got 4"),
        ({"seed": -1}, "--seed must be 0 to"),
        ({"num_threads": 0}, "--threads must be 1 to 1024, got 0"),
    ],
)
def test_a_value_out_of_range_is_refused(
    changes: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(RequestError) as caught:
        check_fit_request(a_request(tmp_path, **changes))
    assert sentence in str(caught.value)


def test_a_folder_with_a_model_is_left_alone(tmp_path: Path) -> None:
    check_fit_request(a_request(tmp_path, folder=tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(RequestError, match="already holds a model; choose another --out"):
        check_fit_request(a_request(tmp_path, folder=tmp_path))


def test_the_command_names_no_folders_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "a draft").mkdir()
    request = a_request(
        tmp_path, draft=str(tmp_path / "a draft"), seed=3, uses_chat=True, num_threads=2
    )
    assert command_of(request, 6, 70) == (
        "python -m specviz distill --target owner/target --draft 'a draft' "
        "--prompts 'my prompts.txt' --texts 6 --steps 70 --seed 3 --chat"
    )
    fresh = a_request(
        tmp_path, draft=None, new_size="tiny", held_out_file=tmp_path / "h.txt", device="cuda"
    )
    assert "--new tiny --prompts" in command_of(fresh, 6, 70)
    assert "--held-out h.txt --texts 6 --steps 70 --device cuda" in command_of(fresh, 6, 70)
