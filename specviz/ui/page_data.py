"""What the parts of the whole page are given: plain values for the browser."""

from dataclasses import asdict
from typing import Any

from specviz.trace.outcomes import outcome_table
from specviz.trace.proofs import DEFAULT_SAMPLES, MIN_SAMPLES
from specviz.ui.assets import read_examples
from specviz.ui.device_files import measured_passes
from specviz.ui.lesson_data import example_distributions, large_pass_data
from specviz.ui.options import PageOptions
from specviz.ui.page_limits import PageLimits
from specviz.ui.recorded import read_recorded, recorded_names
from specviz.ui.settings_data import settings_data
from specviz.ui.strings import languages

RECORDED = "2-sampled"
"""The recorded race that Round by round offers, and the lessons quote, before any other was run."""

LESSON_PROMPTS = ("story_fox_and_turtle", "translate_words_never_seen", "edit_spelling")
"""Examples that the lessons race."""


def header_data(options: PageOptions) -> dict[str, Any]:
    """Say where races run, and in which languages the page speaks."""
    return {"device": f"{options.device}, {options.dtype}", "languages": languages()}


def prompt_data(options: PageOptions) -> dict[str, Any]:
    """Say what each target is and has read, and how long a prompt may be."""
    return {
        "max_chars": options.limits.max_prompt_chars,
        "targets": {
            pair.target: {
                "num_parameters": pair.num_parameters,
                "kinds": pair.reading.kinds if pair.reading else (),
                "languages": pair.reading.languages if pair.reading else (),
            }
            for pair in options.pairs
        },
    }


def hub_data(options: PageOptions) -> dict[str, Any] | None:
    """Give the catalogue and what of the hub may be used; None where the page is silent of it."""
    if options.hub is None:
        return None
    pairs = [asdict(pair) for pair in options.hub.pairs]
    signs_in = options.takes_sign_in
    return {"access": options.hub.access.value, "pairs": pairs, "takes_sign_in": signs_in}


def limits_data(limits: PageLimits) -> dict[str, Any]:
    """Say what one visitor may ask for."""
    return {
        "prompt_chars": limits.max_prompt_chars,
        "prompt_tokens": limits.max_prompt_tokens,
        "new_tokens": limits.max_new_tokens,
        "lanes": limits.max_lanes,
        "seconds": limits.deadline_seconds,
        "visitor_races": limits.max_visitor_races,
        "visitor_starts": limits.max_visitor_starts,
        "address_races": limits.max_address_races,
        "queue_size": limits.queue_size,
        "allows_fits": limits.allows_fits,
    }


def status_data() -> dict[str, Any]:
    """Give the gallery's prompts, of which the strip may offer one."""
    examples = [example for group in read_examples() for example in group.examples]
    return {"prompts": {each.id: each.prompt for each in examples}}


def rounds_data() -> dict[str, Any]:
    """Give what Round by round draws with; without the recorded race it offers none."""
    recorded = RECORDED if RECORDED in recorded_names() else None
    return {"outcomes": outcome_table(), "recorded": recorded}


def lossless_data(options: PageOptions) -> dict[str, Any]:
    """Give what a proof is chosen from: the examples, the menu of lanes, how many draws."""
    examples = [example for group in read_examples() for example in group.examples]
    most = options.limits.max_proof_samples
    return {
        "examples": [{"id": each.id, "prompt": each.prompt} for each in examples],
        "menu": settings_data(options),
        "samples": {"least": MIN_SAMPLES, "usual": min(DEFAULT_SAMPLES, most), "most": most},
    }


def learn_data(options: PageOptions) -> dict[str, Any]:
    """Give what the lessons speak of and race: the shipped pair, else the first on offer.

    Before any race was run their numbers come from the recorded one, if it is there: from how it
    began, and its figures at the end. `recordings` are the races that a lesson may play instead.
    """
    pair = options.taught
    examples = [example for group in read_examples() for example in group.examples]
    packets = read_recorded(RECORDED)
    return {
        "target": pair.target,
        "drafts": pair.drafts,
        "parameters": {each.target: each.num_parameters for each in options.pairs},
        "prompts": {each.id: each.prompt for each in examples if each.id in LESSON_PROMPTS},
        "large": large_pass_data(),
        "devices": measured_passes(),
        "distributions": example_distributions(packets),
        "recordings": recorded_names(),
        "recorded": packets
        and {"started": packets[0]["events"][0], "figures": packets[-1]["figures"]},
    }
