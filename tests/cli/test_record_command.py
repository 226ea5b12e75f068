"""The command that races the recorded races again."""

from pathlib import Path

import pytest
from fake_race import FakeRace

from specviz.bench.plan import read_gallery
from specviz.cli import main
from specviz.cli.record import ASSETS, RECORDINGS
from specviz.trace.files import read_trace
from specviz.trace.values import RaceFinished


def test_every_recording_is_written_under_its_name(tmp_path: Path) -> None:
    places: list[tuple[str, str]] = []

    def factory(device: str, dtype: str) -> FakeRace:
        places.append((device, dtype))
        return FakeRace(pause=0)

    assert main(["record", "--out", str(tmp_path / "traces")], factory) == 0
    assert places == [("cpu", "float32")]
    for recording in RECORDINGS:
        trace = read_trace(tmp_path / "traces" / f"{recording.name}.json")
        assert trace.request.max_new_tokens == recording.max_new_tokens
        assert [lane.spec for lane in trace.lanes[1:]] == list(recording.lanes)
        assert trace.request.sampling == recording.sampling


def test_one_recording_can_be_named(tmp_path: Path) -> None:
    argv = ["record", "--name", "1-greedy", "--out", str(tmp_path)]
    assert main(argv, lambda device, dtype: FakeRace(pause=0)) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["1-greedy.json"]


def test_what_ships_was_recorded_by_this_command() -> None:
    prompts = {prompt.id: prompt.text for prompt in read_gallery(ASSETS / "prompts")}
    names = sorted(path.stem for path in (ASSETS / "traces").glob("*.json"))
    assert names == sorted(recording.name for recording in RECORDINGS)
    for recording in RECORDINGS:
        trace = read_trace(ASSETS / "traces" / f"{recording.name}.json")
        assert trace.request.prompt == prompts[recording.prompt]
        assert [lane.spec for lane in trace.lanes[1:]] == list(recording.lanes)


def test_a_race_without_an_end_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def endless(device: str, dtype: str) -> object:
        return lambda request: (
            event for event in FakeRace(pause=0)(request) if not isinstance(event, RaceFinished)
        )

    assert main(["record", "--out", str(tmp_path)], endless) == 2  # type: ignore[arg-type]
    assert "the race ended without a trace" in capsys.readouterr().err
