"""The command that fits a draft to a target: what it asks for, writes, prints and refuses."""

import json
import os
import shlex
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from specviz.cli import distill, main
from specviz.cli.fit_display import told
from specviz.cli.gentle_end import GentleEnd
from specviz.distill.fit_news import (
    FitBegun,
    FitMeasured,
    FitNews,
    FitOutcome,
    HeadMeasured,
    LearningEnd,
    LearningEnded,
)
from specviz.distill.request import FitRequest
from specviz.models import catalogue
from specviz.trace.fits import FitScore, read_fit


@pytest.fixture
def fitted_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of fitted drafts."""
    monkeypatch.setattr(catalogue, "FITTED_FOLDER", tmp_path / "fitted")
    monkeypatch.setattr(distill, "FITTED_FOLDER", tmp_path / "fitted")
    monkeypatch.delenv("SPECVIZ_MODELS", raising=False)
    return tmp_path / "fitted"


def write_prompts(folder: Path, num_prompts: int) -> str:
    words = ["the fox", "a fox", "once", "two spaces", "def add", "return a", "there", "said"]
    prompts = [f"{word} {number}" for number in range(3) for word in words][:num_prompts]
    (folder / "prompts.txt").write_text("\n".join(prompts))
    return str(folder / "prompts.txt")


def test_distill_fits_a_draft_that_then_races_by_its_name(
    tiny_pair: tuple[str, str],
    fitted_place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target, draft = tiny_pair
    argv = ["--target", target, "--draft", draft, "--prompts", write_prompts(tmp_path, 8)]
    argv += ["--texts", "1", "--steps", "2", "--new-tokens", "8", "--threads", "1"]
    assert main(["distill", *argv]) == 0
    (folder,) = fitted_place.iterdir()
    assert folder.name == f"{Path(draft).name}-for-{Path(target).name}"
    shown = " ".join(capsys.readouterr().out.split())
    assert "6 prompts to learn from, 2 held out, which are never trained on" in shown
    assert "all: α" in shown
    assert "all: same first choice" in shown
    assert "of 2 held-out prompts" in shown
    assert "The app lists it from its next start" in shown
    command = shown[shown.index("python -m specviz race") :]
    assert f"--draft fitted/{folder.name} --prompt" in command
    words = [*shlex.split(command)[3:], "--max-new-tokens", "8", "--json"]
    assert main(words) == 0
    lanes = json.loads(capsys.readouterr().out)["lanes"]
    assert [found["name"] for found in lanes] == ["target alone", "before", "after"]
    assert main(["distill", *argv]) == 2
    assert "already holds a model; choose another --out" in capsys.readouterr().err


def test_distill_makes_a_new_draft_where_it_is_told(
    tiny_pair: tuple[str, str],
    fitted_place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    argv = ["--target", tiny_pair[0], "--new", "tiny", "--prompts", write_prompts(tmp_path, 24)]
    argv += ["--held-out", write_prompts(tmp_path, 24), "--out", str(tmp_path / "out")]
    assert main(["distill", *argv]) == 2
    assert "every prompt is held out" in capsys.readouterr().err
    del argv[6:8]
    assert main(["distill", *argv, "--texts", "1", "--steps", "1", "--new-tokens", "8"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Fitting new tiny to {tiny_pair[0]}: 19 prompts to learn from, 5 held out" in shown
    assert (
        "The app lists drafts and heads in fitted/ and in the folder that SPECVIZ_MODELS names"
        in shown
    )
    assert "--lane" not in shown
    assert (tmp_path / "out" / "fit.json").exists()
    assert not fitted_place.exists()


def test_a_fit_that_did_not_help_says_so_and_ends_with_status_1(
    tiny_pair: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fit = read_fit(Path(__file__).parents[1] / "fixtures" / "fit_v1.json")
    worse = replace(fit, before=fit.after, after=fit.before)

    def fitted(request: object, note: Callable[[FitNews], None]) -> FitOutcome:
        note(FitBegun(10, 2, is_resumed=False))
        for step, alpha in ((0, 0.693), (10, 0.653)):
            note(FitMeasured(step, 80, FitScore(alpha, 0.7, 900), step == 0, 1.0))
        note(LearningEnded(LearningEnd.PLATEAU, 30, 0))
        return FitOutcome(worse, has_helped=False)

    monkeypatch.setattr("specviz.distill.fit_draft.fit_draft", fitted)
    argv = ["--target", tiny_pair[0], "--draft", tiny_pair[1], "--out", str(tmp_path / "out")]
    assert main(["distill", *argv, "--prompts", write_prompts(tmp_path, 8)]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "Warning: 12 prompts are few" in shown
    assert "step 10 of 80: held-out alpha 0.653 Learning ended at step 30" in shown
    assert "held-out alpha no longer rose; the weights of step 0 did best" in shown
    assert "Fitting did not help" in shown
    assert "Written to" not in shown


def test_an_interrupted_fit_says_how_to_go_on(
    tiny_pair: tuple[str, str],
    fitted_place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("specviz.distill.fit_draft.fit_draft", interrupted)
    argv = ["--target", tiny_pair[0], "--new", "tiny", "--prompts", write_prompts(tmp_path, 8)]
    assert main(["distill", *argv]) == 130
    shown = capsys.readouterr()
    assert "What was done is kept: the same command goes on from here." in shown.out
    assert "interrupted" in shown.err


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ("--target t --prompts p", "one of the arguments --draft --head --new is required"),
        ("--target t --draft d --new tiny --prompts p", "not allowed with argument"),
        ("--target t --new huge --prompts p", "invalid choice: 'huge'"),
        ("--draft d --prompts p", "the following arguments are required: --target"),
    ],
)
def test_a_fit_that_cannot_be_read_ends_in_one_sentence(
    argv: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["distill", *argv.split()])
    shown = capsys.readouterr().err
    assert ended.value.code == 2
    assert sentence in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--minutes", "0"], "--minutes must be 0.1 to 1440, got 0"),
        (["--prompts", "none.txt"], "none.txt cannot be read: No such file"),
        (["--target", "specviz-none/x/y"], "is neither a shipped model, nor a local folder"),
        (["--draft", "fitted/none"], "there is no fitted draft fitted/none"),
    ],
)
def test_a_fit_that_cannot_be_made_ends_with_status_2_and_one_sentence(
    argv: list[str],
    sentence: str,
    tiny_pair: tuple[str, str],
    fitted_place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ["--target", tiny_pair[0], "--draft", tiny_pair[1], "--out", str(tmp_path / "out")]
    given += ["--prompts", write_prompts(tmp_path, 8)]
    assert main(["distill", *given, *argv]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("specviz: ")
    assert sentence in shown.err
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_wish_to_end_is_taken_between_two_pieces() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with GentleEnd() as end:
        end.look()
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            end.look()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_head_says_what_was_measured_on_the_way() -> None:
    asked = FitRequest("t", None, None, Path("p"), None, Path("f"), head="eagle3")
    measured = HeadMeasured(6, 12, 2.5, (0.75, 0.5), True, 9.0)
    assert told(measured, asked) == ["step 6 of 12: held-out tau 2.50 (0.75 0.50), the best so far"]
    assert "held-out tau no longer rose" in told(LearningEnded(LearningEnd.PLATEAU, 9, 6), asked)[0]
    assert told(FitBegun(9, 3, False), asked)[0].startswith(
        "Fitting an EAGLE-3 head to t: 9 prompts"
    )
