"""Measures for a page what a pass of its target costs: over more tokens, and for more texts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from specviz.host.fit_work import LoadTarget
from specviz.ui.options import PageOptions
from specviz.ui.page_tasks import ReadWork, Work
from specviz.ui.request_values import shown
from specviz.ui.strings import PageError
from specviz.ui.turns import Turns

if TYPE_CHECKING:
    from specviz.models.loading import LoadedModel

TURN_TOKENS = 50
"""As many tokens as the shipped target writes while one width is measured."""
NUM_TIMED = 5
LONGEST_MS = 1500.0
"""No wider pass is begun after one that took so long."""
News = dict[str, Any]


def make_cost_reader(options: PageOptions, load_target: LoadTarget) -> ReadWork:
    """Make what reads `{"target"}` and measures that target; each width is a turn."""

    def read(form: Any) -> Work:
        target = form.get("target") if isinstance(form, dict) else None
        pair = options.pair(target) if isinstance(target, str) else None
        if pair is None:
            allowed = ", ".join(each.target for each in options.pairs)
            raise PageError("error.unknown_target", found=shown(target), allowed=allowed)
        return lambda turns: _measure(load_target(pair.target), turns)

    return read


def _measure(loaded: "LoadedModel", turns: Turns) -> Iterator[News]:
    """Yield `{"kind": "pass", "tokens", "ms"}` for one text, then `{"kind": "batch", "texts",
    "tokens", "ms"}` for several at once."""
    # torch comes with it, and the page answers before it is read.
    from specviz.decoding.forms import RaceForm
    from specviz.decoding.pass_times import BATCH_LENGTHS, BATCHES, LENGTHS, batch_times, pass_times
    from specviz.models.threads import choose_threads

    model = loaded.model
    if model.device.type == "cpu":
        # As every race does.
        choose_threads([model])
    make_runner = RaceForm().make_runner
    for length in LENGTHS:
        with turns.take(TURN_TOKENS):
            (took,) = pass_times(model, make_runner, (length,), NUM_TIMED).values()
        yield {"kind": "pass", "tokens": length, "ms": took}
        if took > LONGEST_MS:
            break
    for batch in BATCHES:
        with turns.take(TURN_TOKENS):
            found = batch_times(model, (batch,), BATCH_LENGTHS, NUM_TIMED)
        for (texts, tokens), took in found.items():
            yield {"kind": "batch", "texts": texts, "tokens": tokens, "ms": took}
        if max(found.values()) > LONGEST_MS:
            break
