"""The bar that is pointed at lies far off, and none is pointed at by luck."""

from specviz.trace.proofs import ContinuationBar, ProofProgress, TokenBar
from specviz.trace.telltale import find_telltale


def progress(
    bars: tuple[TokenBar, ...], continuations: tuple[ContinuationBar, ...] = ()
) -> ProofProgress:
    return ProofProgress(100, 100, 0.0, 0.1, bars, 0.0, 0.1, continuations, ())


def bar(prob: float, num_lane: int) -> TokenBar:
    return TokenBar(0, " a", prob, 0, num_lane)


def test_the_bar_that_lies_farthest_off_is_found() -> None:
    """Deviations by hand: (52 - 50) / 5 and (30 - 10) / 3."""
    found = find_telltale(progress((bar(0.5, 52), bar(0.1, 30))))
    assert found is not None
    assert (found.kind, found.index, found.share, found.target_prob) == ("next", 1, 0.3, 0.1)


def test_what_luck_does_is_not_pointed_at() -> None:
    assert find_telltale(progress((bar(0.5, 69), bar(0.0, 3)))) is None
    assert find_telltale(progress(())) is None


def test_continuations_are_asked_where_next_tokens_say_nothing() -> None:
    rest = ContinuationBar((1, 2), " a b", True, 0.5, 50, 10)
    found = find_telltale(progress((bar(0.5, 52),), (rest,)))
    assert found is not None
    assert (found.kind, found.is_rest, found.text) == ("continuation", True, " a b")
