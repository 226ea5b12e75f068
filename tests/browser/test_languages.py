"""The page speaks the language that was asked for, Gradio's own labels included."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.strings import read_table

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


@pytest.mark.parametrize(
    ("locale", "query", "language"),
    [
        ("en-US", "?lang=es", "es"),
        ("es-ES", "", "es"),
        ("es-ES", "?lang=en", "en"),
        ("ja-JP", "", "en"),
    ],
)
def test_tabs_labels_and_status_are_in_one_language(
    open_page: OpenPage, fake_address: str, locale: str, query: str, language: str
) -> None:
    page = open_page(f"{fake_address}/{query}", locale=locale)
    texts = read_table(language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("#sv-tab-race-button")).to_have_text(texts["tab.race"])
    expect(page.locator("#sv-race")).to_have_text(texts["control.race"])
    expect(page.locator("#sv-race-status .sv-status-text")).to_have_text(texts["status.idle_race"])


def test_a_race_that_cannot_be_run_is_refused_in_the_language_of_the_page(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?lang=es&prompt=refuse")
    page.click("#sv-race")
    expect(page.locator("#sv-prompt-note")).to_have_text(
        "El prompt tiene 900 tokens y fake-target lee como mucho 512, "
        "incluida la respuesta; acórtalo."
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "está vacío"),
        ("race me", "no es JSON, desde la línea 1, columna 1"),
        ('{"schema_version": 2, "requ', "es JSON cortado: le falta el final"),
        ("[1, 2]", "es una lista, no un objeto"),
        ('{"a": 1}', "no tiene schema_version"),
        ('{"schema_version": null}', "schema_version debe ir de 1 a 7, es null"),
        ('{"schema_version": 2}', "request falta"),
    ],
)
def test_a_wrong_file_is_named_in_the_language_of_the_page(
    open_page: OpenPage, fake_address: str, tmp_path: Path, text: str, reason: str
) -> None:
    page = open_page(f"{fake_address}/?lang=es")
    file = tmp_path / "wrong.json"
    file.write_text(text, encoding="utf-8")
    page.set_input_files("#sv-race-status .sv-file", file)
    todo = "usa un archivo escrito por «Guardar carrera» o por --trace."
    expect(page.locator("#sv-race-status .sv-refusal")).to_have_text(
        f"Esto no es una carrera de specviz: {reason}; {todo}"
    )


def test_a_race_of_a_newer_specviz_is_named_as_such(
    open_page: OpenPage, fake_address: str, tmp_path: Path
) -> None:
    page = open_page(fake_address)
    file = tmp_path / "newer.json"
    file.write_text('{"schema_version": 9}', encoding="utf-8")
    page.set_input_files("#sv-race-status .sv-file", file)
    expect(page.locator("#sv-race-status .sv-refusal")).to_contain_text(
        "This race was saved by a newer specviz (schema_version 9"
    )


def test_a_race_is_told_in_the_language_of_the_page(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lang=es")
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    texts = read_table("es")
    told = texts["closing.faster"].split("{")[0].strip()
    expect(page.locator("#sv-race-status .sv-status-text")).to_contain_text(told)
    expect(page.locator(".sv-lane h2").first).to_have_text(texts["lane.baseline"])
