"""Tries out for a page how an EAGLE-3 head is best read for its target."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from specviz.host.fit_work import LoadTarget
from specviz.ui.options import PageOptions
from specviz.ui.page_tasks import ReadWork, Work
from specviz.ui.request_values import shown
from specviz.ui.strings import PageError
from specviz.ui.turns import Turns

if TYPE_CHECKING:
    from specviz.models.eagle_head import LoadedHead

TURN_TOKENS = 200
"""As many as the target writes for the head to be judged by."""
LoadHead = Callable[[str], "LoadedHead"]


def make_doctor_reader(
    options: PageOptions, load_target: LoadTarget, load_head: LoadHead
) -> ReadWork:
    """Make what reads `{"target", "head"}` and examines that head; all of it is one turn.

    Args:
        load_target: Gives a target as races have it, waiting for it where it is being loaded.
        load_head: Gives a head likewise.
    """

    def read(form: Any) -> Work:
        fields = form if isinstance(form, dict) else {}
        target, head = fields.get("target"), fields.get("head")
        pair = options.pair(target) if isinstance(target, str) else None
        if pair is None:
            allowed = ", ".join(each.target for each in options.pairs)
            raise PageError("error.unknown_target", found=shown(target), allowed=allowed)
        if not isinstance(head, str) or head not in pair.heads:
            raise PageError("error.unknown_head", found=shown(head), allowed=", ".join(pair.heads))
        return lambda turns: _examine(pair.target, head, load_target, load_head, turns)

    return read


def _examine(
    target: str, head: str, load_target: LoadTarget, load_head: LoadHead, turns: Turns
) -> Iterator[dict[str, Any]]:
    """Yield one piece of news: `kind` "diagnosis" and what `head_facts` gives."""
    # torch comes with it, and the page answers before it is read.
    from specviz.models.threads import choose_threads
    from specviz.race.eagle_heads import head_facts, read_head

    loaded, files = load_target(target), load_head(head)
    with turns.take(TURN_TOKENS):
        if loaded.model.device.type == "cpu":
            # As every race does.
            choose_threads([loaded.model])
        read = read_head(files, loaded)
    yield {"kind": "diagnosis", **head_facts(read)}
