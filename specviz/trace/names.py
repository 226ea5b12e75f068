"""What lanes are called: by the name that somebody gave, else by what they run and differ in.

The page derives the same names in the reader's language (`assets/js/model/names.js`);
`tests/fixtures/lane_names.json` holds both to it.
"""

from collections.abc import Callable, Sequence
from pathlib import PurePath

from specviz.trace.values import LaneSpec, Method, Rule, Schedule, Trace, Translation, Tree

METHOD_NAMES: dict[Method, str] = {
    Method.BASELINE: "target alone",
    Method.DRAFT_MODEL: "target + draft model",
    Method.PROMPT_LOOKUP: "target + prompt lookup",
    Method.EARLY_EXIT: "target + early exit",
    Method.EAGLE3: "target + EAGLE-3",
    Method.MTP: "target + its own extra layers",
}
"""What a lane is called that is the only one to run this method."""
RULE_NAMES: dict[Rule, str] = {
    Rule.TARGET_RESAMPLE: "corrects from the target itself",
    Rule.ARGMAX_SOFTMAX: "most probable drafts over their softmax",
    Rule.KEEP_AFTER_REJECTION: "keeps drafts behind a rejection",
    Rule.NO_RENORMALISE: "residual not renormalised",
}
"""What is wrong with a lane of another rule than the right one."""
TRANSLATION_NAMES: dict[Translation | None, str] = {
    None: "",
    Translation.TEXT: "through its text",
    Translation.SHARED: "shared tokens",
}
"""How a draft of another tokenizer drafts; of one with the target's there is nothing to say."""
DETAILS: dict[str, Callable[[LaneSpec], str]] = {
    "draft": lambda spec: short_name(spec.draft or "?"),
    "head": lambda spec: short_name(spec.head or "?"),
    "head_reading": lambda spec: f"read {spec.head_reading or 'as stated'}",
    "exit_layer": lambda spec: f"layer {spec.exit_layer or '?'}",
    "max_ngram": lambda spec: f"longest match {spec.max_ngram}",
    "gamma": lambda spec: f"γ {gamma_text(spec)}",
    "flipped_coins": lambda spec: _coins(spec.flipped_coins),
    "tree": lambda spec: tree_text(spec),
    "translation": lambda spec: TRANSLATION_NAMES[spec.translation],
}
"""In what lanes of one method can differ, and how that is said."""
TEXTS: dict[str, Callable[[LaneSpec], str]] = {
    "gamma": lambda spec: gamma_text(spec),
    "tree": lambda spec: tree_text(spec),
}
"""Choices of which several fields together are one: alike where they read alike."""


def lane_names(specs: Sequence[LaneSpec]) -> tuple[str, ...]:
    """Name the lanes of a race, no two of them alike unless somebody named them so.

    A lane with a wrong rule says so, whoever named it.

    Example: two draft-model lanes with γ 2 and 6 are "target + draft model (γ 2)" and "… (γ 6)";
    two that are the same in all are "… (#1)" and "… (#2)".
    """
    return tuple(
        _marked(spec.name or _derived(index, specs), spec) for index, spec in enumerate(specs)
    )


def names_of(trace: Trace) -> tuple[str, ...]:
    """Name the lanes of a finished race."""
    return lane_names([lane.spec for lane in trace.lanes])


def gamma_text(spec: LaneSpec) -> str:
    """Write a draft length, or how it is chosen and what it is at most: "auto, at most 10"."""
    match spec.schedule:
        case Schedule.FIXED:
            return str(spec.gamma)
        case Schedule.HEURISTIC:
            chosen = "+2/−1"
        case Schedule.CONFIDENCE:
            chosen = f"while q ≥ {spec.confidence:g}"
        case Schedule.COST_AWARE:
            chosen = "auto"
    return f"{chosen}, at most {spec.gamma}"


def tree_text(spec: LaneSpec) -> str:
    """Write how a lane's drafts hang together: "chain", "static tree, 4 branches, 24 nodes"."""
    if spec.tree is Tree.NONE:
        return "chain"
    return f"{spec.tree} tree, {spec.branches} branches, {spec.budget} nodes"


def short_name(model: str) -> str:
    """Give a local folder by its last name; shipped names and hub ids stay as they are."""
    return PurePath(model).name if PurePath(model).is_absolute() else model


def _coins(flipped: tuple[int, ...]) -> str:
    if not flipped:
        return "coins as they fell"
    word = "coin" if len(flipped) == 1 else "coins"
    return f"{word} {', '.join(str(coin + 1) for coin in flipped)} flipped"


def _marked(name: str, spec: LaneSpec) -> str:
    return name if spec.rule is Rule.RIGHT else f"{name}, WRONG: {RULE_NAMES[spec.rule]}"


def _derived(index: int, specs: Sequence[LaneSpec]) -> str:
    spec = specs[index]
    alike = [other for other in specs if (other.method, other.rule) == (spec.method, spec.rule)]
    if len(alike) == 1:
        return METHOD_NAMES[spec.method]
    parts = [
        text
        for field, say in DETAILS.items()
        if len({_choice(other, field) for other in alike}) > 1 and (text := say(spec))
    ]
    before = [other for other in specs[:index] if _choices(other) == _choices(spec)]
    if sum(_choices(other) == _choices(spec) for other in alike) > 1:
        parts.append(f"#{len(before) + 1}")
    name = METHOD_NAMES[spec.method]
    return f"{name} ({', '.join(parts)})" if parts else name


def _choices(spec: LaneSpec) -> tuple[object, ...]:
    return (spec.method, spec.rule, *(_choice(spec, field) for field in DETAILS))


def _choice(spec: LaneSpec, field: str) -> object:
    return TEXTS[field](spec) if field in TEXTS else getattr(spec, field)
