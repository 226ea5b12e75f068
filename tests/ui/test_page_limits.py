"""Two profiles in one table, of which the public one allows no more in anything."""

from dataclasses import fields

import pytest

from specviz.trace.limits import MAX_NEW_TOKENS
from specviz.ui.page_limits import LOCAL, PUBLIC, PageLimits, limits_of, limits_table


@pytest.mark.parametrize("name", [field.name for field in fields(PageLimits)])
def test_strangers_may_nothing_more(name: str) -> None:
    local, public = getattr(LOCAL, name), getattr(PUBLIC, name)
    assert local is None or (public is not None and public <= local)


def test_the_public_limits_are_those_that_were_chosen() -> None:
    assert (PUBLIC.max_prompt_chars, PUBLIC.max_prompt_tokens) == (2_000, 512)
    assert (PUBLIC.max_new_tokens, PUBLIC.queue_size) == (192, 32)
    assert (PUBLIC.max_visitor_races, PUBLIC.max_visitor_starts) == (2, 6)
    assert LOCAL.max_new_tokens <= MAX_NEW_TOKENS


@pytest.mark.parametrize(
    ("device", "seconds"), [("cpu", 20.0), ("cuda", 60.0), ("cuda:1", 60.0), ("mps", 60.0)]
)
def test_a_race_of_strangers_has_its_time(device: str, seconds: float) -> None:
    assert limits_of(is_public=True, device=device).deadline_seconds == seconds
    assert limits_of(is_public=False, device=device) is LOCAL


def test_every_limit_is_printed_for_both() -> None:
    lines = limits_table("cuda").splitlines()
    assert lines[0].split() == ["local", "public"]
    told = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert set(told) == {field.name for field in fields(PageLimits)}
    assert told["deadline_seconds"] == ["300", "60"]
    assert told["allows_fits"] == ["yes", "no"]
    assert told["max_prompt_tokens"] == ["no", "limit", "512"]
