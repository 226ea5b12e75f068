"""Writes the rounds of a race as a table: one row a round, in the order in which they ended.

CSV as RFC 4180 has it. The text of a round stands as a JSON string: white space and line ends are
seen, and a row stays one line. No spreadsheet takes a cell for a formula: a name that begins as one
gets an apostrophe before it.
"""

import csv
import io
import json
from collections import Counter

from specviz.trace.names import names_of
from specviz.trace.replay import events_of
from specviz.trace.values import Outcome, Round, RoundFinished, Trace

COLUMNS = (
    "lane",
    "name",
    "method",
    "draft",
    "round",
    "position",
    "gamma",
    "num_drafted",
    "num_accepted",
    "num_rejected",
    "num_discarded",
    "num_emitted",
    "last_source",
    "draft_ms",
    "verify_ms",
    "other_ms",
    "clock_ms",
    "text",
)
"""Lanes count from 0, rounds from 1; `position` is the number of tokens written before the round,
`last_source` where its last token comes from, `clock_ms` the lane's clock after it."""
BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rounds_csv(trace: Trace) -> str:
    """Return the table of all rounds, with a line of column names first."""
    names = names_of(trace)
    clocks = [0.0] * len(trace.lanes)
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(COLUMNS)
    for event in events_of(trace):
        if isinstance(event, RoundFinished):
            clocks[event.lane] += event.round.ms
            spec = trace.lanes[event.lane].spec
            about = (
                event.lane,
                _cell(names[event.lane]),
                spec.method.value,
                _cell(spec.draft or ""),
            )
            table.writerow([*about, *_row(event.round, clocks[event.lane])])
    return written.getvalue()


def _row(round_: Round, clock_ms: float) -> list[object]:
    fates = Counter(token.outcome for token in round_.drafted)
    return [
        round_.index + 1,
        round_.position,
        round_.gamma,
        len(round_.drafted),
        *(fates[outcome] for outcome in (Outcome.ACCEPTED, Outcome.REJECTED, Outcome.DISCARDED)),
        len(round_.emitted),
        round_.emitted[-1].source.value if round_.emitted else "",
        round_.draft_ms,
        round_.verify_ms,
        round_.other_ms,
        clock_ms,
        json.dumps("".join(token.text for token in round_.emitted), ensure_ascii=False),
    ]


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(BEGINS_FORMULA) else text
