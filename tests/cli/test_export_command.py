"""The command that writes a race as a page and as a table."""

from pathlib import Path

import pytest

from specviz.cli import main
from specviz.trace.files import read_trace
from specviz.trace.rounds_csv import rounds_csv

ROOT = Path(__file__).parents[2]
RACE = ROOT / "assets" / "traces" / "2-sampled.json"


def test_a_race_is_written_as_a_page_and_as_a_table(tmp_path: Path) -> None:
    page, table = tmp_path / "race.html", tmp_path / "race.csv"
    assert main(["export", str(RACE), "--html", str(page), "--csv", str(table)]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert table.read_bytes().decode() == rounds_csv(read_trace(RACE))


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ([str(RACE)], "without --html"),
        (["nowhere.json", "--csv", "x.csv"], "nowhere.json"),
        ([str(RACE), "--csv", "nowhere/x.csv"], "nowhere/x.csv"),
    ],
)
def test_what_cannot_be_written_is_said_in_a_sentence(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *argv]) == 2
    error = capsys.readouterr().err
    assert error.startswith("specviz: ")
    assert told in error
    assert "Traceback" not in error
