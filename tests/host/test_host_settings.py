"""Everything can be set by flags and by variables, and what is wrong is said in a sentence."""

from dataclasses import fields
from pathlib import Path

import pytest

from specviz.errors import RequestError
from specviz.host.settings import (
    SETTINGS,
    HostSettings,
    is_public,
    read_settings,
    settings_table,
)

README = Path(__file__).resolve().parents[2] / "README.md"
VALUES = {
    "target": "a/target",
    "draft": "a/draft",
    "head": "a/head, another",
    "device": "cuda:1",
    "dtype": "float16",
    "quantize": "4bit",
    "port": "8000",
    "address": "0.0.0.0",
    "profile": "public",
    "allow_hub": "1",
    "hub_catalogue": "yes",
    "frames": "https://course.example",
    "behind_proxy": "on",
    "logs": "json",
}


def test_every_setting_has_a_flag_and_a_variable_that_say_the_same() -> None:
    assert [each.name for each in SETTINGS] == [each.name for each in fields(HostSettings)]
    variables = {each.variable: VALUES[each.name] for each in SETTINGS}
    arguments = []
    for each in SETTINGS:
        arguments += [each.flag] if each.is_switch else [each.flag, VALUES[each.name]]
    by_variables, _ = read_settings([], variables)
    assert read_settings(arguments, {}) == (by_variables, False)
    for each in SETTINGS:
        assert getattr(by_variables, each.name) != getattr(HostSettings(), each.name), each.name


def test_a_flag_counts_more_than_its_variable() -> None:
    variables = {"SPECVIZ_PORT": "8000", "SPECVIZ_DEVICE": "cuda"}
    settings, _ = read_settings(["--port", "9000"], variables)
    assert (settings.port, settings.device) == (9000, "cuda")


def test_an_empty_variable_counts_as_none() -> None:
    assert read_settings([], {"SPECVIZ_PORT": "", "SPECVIZ_ALLOW_HUB": ""})[0] == HostSettings()


def test_a_switch_can_be_off() -> None:
    assert not read_settings([], {"SPECVIZ_ALLOW_HUB": "0"})[0].allow_hub


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("SPECVIZ_PORT", "x", "SPECVIZ_PORT must be a whole number from 1 to 65535, got 'x'"),
        ("SPECVIZ_PORT", "70000", "from 1 to 65535, got '70000'"),
        ("SPECVIZ_PORT", "٣", "must be a whole number"),
        ("SPECVIZ_DEVICE", "the fast one", "SPECVIZ_DEVICE must be auto, cpu"),
        ("SPECVIZ_DTYPE", "int8", "must be auto or float32 or bfloat16"),
        ("SPECVIZ_PROFILE", "open", "must be local or public, got 'open'"),
        ("SPECVIZ_ALLOW_HUB", "perhaps", "must be 1 or 0, got 'perhaps'"),
        ("SPECVIZ_FRAMES", "https://a.example; script-src *", "origins such as"),
        ("SPECVIZ_QUANTIZE", "2bit", "must be 8bit or 4bit"),
        ("SPECVIZ_DRAFT", "a/draft", "a draft is named ('a/draft') and no target"),
        ("SPECVIZ_TAGRET", "a/target", "perhaps SPECVIZ_TARGET was meant"),
        ("SPECVIZ_XYZZY", "1", "nothing reads the variable SPECVIZ_XYZZY; unset"),
    ],
)
def test_what_is_wrong_is_said(variable: str, value: str, sentence: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_settings([], {variable: value})
    assert sentence in str(caught.value)


def test_a_wrong_flag_is_named_as_it_was_given() -> None:
    with pytest.raises(RequestError, match="--profile must be local or public"):
        read_settings(["--profile", "open"], {})


@pytest.mark.parametrize(
    ("profile", "variables", "is_for_strangers"),
    [
        (None, {}, False),
        (None, {"SPACE_ID": "somebody/specviz"}, True),
        ("local", {"SPACE_ID": "somebody/specviz"}, False),
        ("public", {}, True),
    ],
)
def test_a_space_is_public_by_itself(
    profile: str | None, variables: dict[str, str], is_for_strangers: bool
) -> None:
    assert is_public(HostSettings(profile=profile), variables) is is_for_strangers


def test_the_readme_has_the_table() -> None:
    assert settings_table() in README.read_text(encoding="utf-8")
