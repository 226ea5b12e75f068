"""Packets can be asked for again, by their own visitor only."""

import json

from specviz.ui.panels import Panel
from specviz.ui.runs import RunStore


def test_a_run_is_replayed_from_any_number() -> None:
    store = RunStore()
    run = store.open(Panel.RACE)
    packets = [run.write([]) for _ in range(3)]
    assert store.replay(run.id, 0) == packets
    assert store.replay(run.id, 2) == packets[2:]
    assert store.replay(run.id, 9) == []


def test_nothing_is_told_to_who_does_not_hold_the_id() -> None:
    store = RunStore()
    run = store.open(Panel.RACE)
    run.write([])
    for guess in ("", "0", None, 1, [run.id], run.id[:-1]):
        assert store.replay(guess, 0) == []
    for number in (-1, "0", None, 0.5):
        assert store.replay(run.id, number) == []


def test_ids_are_long_and_never_repeat() -> None:
    store = RunStore(max_runs=500)
    ids = {store.open(Panel.RACE).id for _ in range(500)}
    assert len(ids) == 500
    assert min(map(len, ids)) >= 24


def test_old_runs_are_forgotten() -> None:
    store = RunStore(max_runs=3)
    runs = [store.open(Panel.RACE) for _ in range(5)]
    assert [store.get(run.id) is not None for run in runs] == [False, False, True, True, True]


def test_runs_that_go_on_are_remembered_before_those_that_are_over() -> None:
    store = RunStore(max_runs=2)
    going, over = store.open(Panel.RACE), store.open(Panel.RACE)
    over.write([], is_last=True)
    latest = store.open(Panel.RACE)
    assert [store.get(run.id) for run in (going, over, latest)] == [going, None, latest]


def test_a_run_is_forgotten_when_it_is_too_old() -> None:
    store = RunStore(max_age_seconds=-1.0)
    first, second = store.open(Panel.RACE), store.open(Panel.RACE)
    assert store.get(first.id) is None
    assert store.get(second.id) is second


def test_a_stopped_run_says_so_and_can_be_waited_for() -> None:
    run = RunStore().open(Panel.RACE)
    assert not run.should_stop()
    run.stop()
    assert run.should_stop()
    assert run.wait(0.0) is False
    run.finish()
    assert run.wait(0.0) is True


def test_a_run_waits_while_it_is_paused_and_goes_on_for_a_round() -> None:
    run = RunStore().open(Panel.RACE)
    assert run.wait_while_paused(0.0)
    run.take_step()
    assert run.wait_while_paused(0.0), "without a step a round pauses nothing"
    run.pause()
    assert not run.wait_while_paused(0.01)
    run.step()
    assert run.wait_while_paused(0.0)
    run.take_step()
    assert not run.wait_while_paused(0.01)
    run.resume()
    run.take_step()
    assert run.wait_while_paused(0.0)


def test_stopping_lets_a_paused_run_go() -> None:
    run = RunStore().open(Panel.RACE)
    run.pause()
    run.stop()
    assert run.wait_while_paused(0.0)


def test_nothing_holds_a_run_that_was_stopped() -> None:
    stepped, paused = (RunStore().open(Panel.RACE) for _ in range(2))
    stepped.step()
    stepped.stop()
    stepped.take_step()
    assert stepped.wait_while_paused(0.0)
    paused.stop()
    paused.pause()
    assert paused.wait_while_paused(0.0)


def test_a_visitor_ends_a_paused_run_by_control() -> None:
    run = RunStore().open(Panel.RACE)
    run.pause()
    run.stop()
    assert run.should_stop()
    assert run.wait_while_paused(0.0)


def test_the_runs_of_one_visitor_are_found() -> None:
    store = RunStore()
    mine, other = (store.open(Panel.RACE, name) for name in ("me", "you"))
    assert store.open(Panel.COMPARE, "me") is None, "one race at a time"
    mine.write([], is_last=True)
    mine_too = store.open(Panel.RACE, "me")
    assert store.of("me") == [mine, mine_too]
    assert store.of("you") == [other]
    assert store.of("nobody") == []


def test_packets_are_numbered_and_nothing_is_written_after_the_last() -> None:
    run = RunStore().open(Panel.COMPARE)
    assert run.write([], status={"state": "waiting"}) is not None
    assert run.write([], is_last=True) is not None
    assert run.is_closed
    assert run.write([]) is None
    packets = [json.loads(packet) for packet in run.packets]
    assert [packet["seq"] for packet in packets] == [0, 1]
    assert {(packet["run"], packet["panel"]) for packet in packets} == {(run.id, "compare")}
    assert packets[0]["status"] == {"state": "waiting"}
    assert "figures" not in packets[0]
