"""Shows one race in the terminal: the texts coloured by fate, and the rounds that made them."""

import unicodedata

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.models.eagle_form import STATED
from specviz.trace.counts import is_chain, last_accepted, levels_of
from specviz.trace.loops import loop_of
from specviz.trace.names import gamma_text, names_of, tree_text
from specviz.trace.outcomes import FATE_OF_OUTCOME, FATE_OF_SOURCE, OUTCOMES, OutcomeStyle
from specviz.trace.values import (
    LaneSpec,
    LaneTrace,
    Method,
    Outcome,
    Round,
    Source,
    StopReason,
    Trace,
    Translation,
    Tree,
)

MAX_ROUNDS_SHOWN = 40
_STYLES = {
    "accepted": "underline bright_blue",
    "rejected": "strike red",
    "discarded": "strike bright_black",
    "correction": "bold black on yellow",
    "bonus": "bold white on magenta",
    "plain": "",
}
LEVELS_APART = " │ "
_BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


_TRANSLATED = {
    Translation.TEXT: "the draft has another tokenizer: its text is cut into the target's tokens",
    Translation.SHARED: "the draft has another tokenizer: it drafts tokens that both have",
}


def print_race(console: Console, trace: Trace) -> None:
    """Print the text of every lane, a legend, and the rounds of the lanes that draft."""
    titles = lane_titles(trace)
    for title, lane in zip(titles, trace.lanes, strict=True):
        console.rule(Text(title), align="left")
        console.print(lane_text(trace.request.prompt, lane))
        for note in _notes(trace, lane):
            console.print(note)
    console.print()
    console.print(_legend())
    for title, lane in zip(titles, trace.lanes, strict=True):
        if lane.spec.method is not Method.BASELINE and lane.rounds:
            console.print()
            console.print(rounds_table(title, lane))


def _notes(trace: Trace, lane: LaneTrace) -> list[Text]:
    """What there is to know about how a lane's text ended, and whether it repeats itself."""
    notes = []
    if lane.spec.head_reading not in (None, STATED):
        reading = (
            f"the head is read as {lane.spec.head_reading}, which its files do not state; "
            "models --doctor says how well each reading agrees with the target"
        )
        notes.append(Text(reading, style="yellow"))
    if lane.spec.translation is not None:
        notes.append(Text(_TRANSLATED[lane.spec.translation], style="dim"))
    if lane.error is not None:
        notes.append(Text(f"ended by an error: {lane.error}", style="bold red"))
    if lane.stop_reason is StopReason.CONTEXT:
        most = len(trace.request.prompt_ids) + len(lane.emitted)
        text = (
            f"context full: the target reads at most {most} tokens, the prompt included, so the "
            f"text ends before the {trace.request.max_new_tokens} tokens that were asked for"
        )
        notes.append(Text(text, style="yellow"))
    if found := loop_of(lane):
        start, period, length = found.loop.start + 1, found.loop.period, found.loop.num_tokens
        text = f"repeats itself from token {start} on: {period} over and over, for {length} tokens"
        if found.alpha_inside is not None:
            text += f"; α is {found.alpha_inside:.0%} there ({found.num_judged_inside} judged)"
        notes.append(Text(text, style="yellow"))
    return notes


def lane_titles(trace: Trace) -> tuple[str, ...]:
    """Names of the lanes, each with its draft length, and with its tree where that is not named."""
    return tuple(
        _title(name, lane.spec) for name, lane in zip(names_of(trace), trace.lanes, strict=True)
    )


def _title(name: str, spec: LaneSpec) -> str:
    if not spec.gamma:
        return name
    tree = tree_text(spec)
    is_said = spec.tree is Tree.NONE or tree in name
    return f"{name} γ={gamma_text(spec)}" + ("" if is_said else f", {tree}")


def lane_text(prompt: str, lane: LaneTrace) -> Text:
    """Return prompt and output; a rejected guess stands struck before its correction, of a tree all
    that were tried in its place."""
    text = Text()
    text.append(printable(prompt), style="dim")
    for round_ in lane.rounds:
        last = last_accepted(round_)
        for token in round_.emitted:
            if token.source is Source.CORRECTION:
                for guess in round_.drafted:
                    if guess.outcome is Outcome.REJECTED and guess.parent == last:
                        _append(
                            text, one_line(guess.text), OUTCOMES[FATE_OF_OUTCOME[guess.outcome]]
                        )
            _append(text, printable(token.text), OUTCOMES[FATE_OF_SOURCE[token.source]])
    return text


def rounds_table(name: str, lane: LaneTrace) -> Table:
    """Return one row a round: the guesses, of a tree level by level, how many were kept, what
    followed, the times."""
    title = f"Rounds of {name}"
    if len(lane.rounds) > MAX_ROUNDS_SHOWN:
        title += f" (the first {MAX_ROUNDS_SHOWN} of {len(lane.rounds)}; --trace keeps them all)"
    table = Table(title=Text(title), title_justify="left", box=None, padding=(0, 1))
    table.add_column("round", justify="right")
    table.add_column("guessed")
    table.add_column("kept", justify="right")
    table.add_column("then")
    for name in ("draft ms", "verify ms", "other ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for round_ in lane.rounds[:MAX_ROUNDS_SHOWN]:
        table.add_row(*_cells(round_))
    return table


def printable(text: str) -> str:
    """Return a model's text without what would steer the terminal."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if (unicodedata.category(sign) == "Cc" and sign not in "\n\t") or sign in _BIDI_CONTROLS
        else sign
        for sign in text
    )


def one_line(text: str) -> str:
    """Return a token's text with line breaks and tabs made visible."""
    return printable(text.replace("\r", "").replace("\n", "⏎").replace("\t", "⇥"))


def _cells(round_: Round) -> list[Text]:
    guessed, then = Text(), Text()
    levels = None if is_chain(round_) else levels_of(round_)
    for index, draft in enumerate(round_.drafted):
        if levels and index and levels[index] != levels[index - 1]:
            guessed.append(LEVELS_APART)
        _append(guessed, one_line(draft.text), OUTCOMES[FATE_OF_OUTCOME[draft.outcome]])
    for token in round_.emitted:
        if token.source is not Source.DRAFT:
            _append(then, one_line(token.text), OUTCOMES[FATE_OF_SOURCE[token.source]])
    num_kept = sum(token.outcome is Outcome.ACCEPTED for token in round_.drafted)
    kept = Text(f"{num_kept}/{len(round_.drafted)}" if round_.drafted else "–")
    times = (round_.draft_ms, round_.verify_ms, round_.other_ms)
    return [Text(str(round_.index + 1)), guessed, kept, then, *(Text(f"{ms:.2f}") for ms in times)]


def _append(text: Text, piece: str, fate: OutcomeStyle) -> None:
    """Add a token; leading spaces and the line breaks at its end stay outside the colour."""
    body = piece.lstrip(" ")
    text.append(piece[: len(piece) - len(body)])
    word = body.rstrip("\n")
    if fate.mark and not word:
        word = "⏎" if body else "␣"
    text.append(word + fate.mark, style=_STYLES[fate.name] or None)
    text.append(body[len(body.rstrip("\n")) :])


def _legend() -> Text:
    text = Text()
    for fate in OUTCOMES:
        if _STYLES[fate.name]:
            _append(text, fate.name, fate)
            text.append("  ")
    return text
