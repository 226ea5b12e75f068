"""Which EAGLE-3 heads a page offers for its targets, beside their drafts."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from specviz.models.catalogue import known_heads, listed_name
from specviz.models.head_folders import target_of_head


def heads_of_targets(
    targets: Sequence[str], named: Iterable[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Give the heads of each target by their names, those that the host named first.

    A head belongs to the target that its config names. One that a host named and whose config
    speaks of none of these targets, or of none, is offered for the first: the race says whether it
    fits.
    """
    found: dict[str, list[str]] = {target: [] for target in targets}
    for name in named:
        folder = Path(name).expanduser()
        own = target_of_head(folder) if folder.is_dir() else None
        fitting = [target for target in targets if own is not None and _is_called(target, own)]
        for target in fitting or targets[:1]:
            found[target].append(listed_name(name) or name)
    for head in known_heads():
        for target in targets:
            if head.target is not None and _is_called(target, head.target):
                found[target].append(head.name)
    return {target: tuple(dict.fromkeys(heads)) for target, heads in found.items()}


def _is_called(target: str, name: str) -> bool:
    """Whether a config means a target by `name`: its own name, or the last part of a folder's."""
    return name in (target, Path(target).expanduser().name) or listed_name(name) == target
