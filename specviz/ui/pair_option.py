"""A target that a page offers, with what fits it."""

from dataclasses import dataclass, replace

from specviz.trace.reading import Reading
from specviz.trace.values import Method


@dataclass(frozen=True, slots=True)
class PairOption:
    """A target and the drafts that fit it, by the names a LaneSpec takes."""

    target: str
    drafts: tuple[str, ...]
    methods: tuple[Method, ...] = (Method.DRAFT_MODEL, Method.PROMPT_LOOKUP)
    """Ways to draft that this target allows; the first is chosen at the start."""
    exits: tuple[int, ...] = ()
    """Layers at which the method `early-exit` may leave the target, the default one first; empty
    where the target declares none, and a lane then names none."""
    num_parameters: int | None = None
    """Weights of the target; None where its files were not described."""
    reading: Reading | None = None
    """What the target has read; None where its folder does not say."""
    has_chat: bool = False
    """Whether the target says how a conversation is written for it, as far as that is known."""
    is_hub: bool = False
    """Whether it comes from the hub."""
    translated: tuple[str, ...] = ()
    """Those of its drafts that are known to have another tokenizer than the target."""
    heads: tuple[str, ...] = ()
    """EAGLE-3 heads of the target, by the names that a LaneSpec takes."""


def join_options(newer: PairOption, older: PairOption) -> PairOption:
    """Join two entries for one target: drafts, heads and methods together, `newer`'s first."""
    return replace(
        newer,
        drafts=tuple(dict.fromkeys((*newer.drafts, *older.drafts))),
        methods=tuple(dict.fromkeys((*newer.methods, *older.methods))),
        exits=newer.exits or older.exits,
        reading=newer.reading or older.reading,
        translated=tuple(dict.fromkeys((*newer.translated, *older.translated))),
        heads=tuple(dict.fromkeys((*newer.heads, *older.heads))),
    )


def hub_option(
    target: str,
    draft: str | None,
    exits: tuple[int, ...],
    num_parameters: int | None,
    *,
    has_chat: bool,
    has_mtp: bool = False,
    is_translated: bool = False,
    head: str | None = None,
) -> PairOption:
    """Give what a race of a hub pair may choose from; by itself exits only a target that declares
    some, and only one with layers for it (`has_mtp`) drafts by those."""
    methods = [Method.DRAFT_MODEL] if draft is not None else []
    methods += [Method.EAGLE3] if head is not None else []
    methods += [Method.EARLY_EXIT] if exits else []
    methods += [Method.MTP] if has_mtp else []
    return PairOption(
        target,
        () if draft is None else (draft,),
        (*methods, Method.PROMPT_LOOKUP),
        exits=exits,
        num_parameters=num_parameters,
        has_chat=has_chat,
        is_hub=True,
        translated=(draft,) if draft is not None and is_translated else (),
        heads=() if head is None else (head,),
    )
