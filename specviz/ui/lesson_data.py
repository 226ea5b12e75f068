"""What the lessons reckon with beside races: a pass that memory limits, and a real p and q."""

from dataclasses import asdict, dataclass
from typing import Any

Parts = dict[str, Any]

NUM_WORDS = 4
"""Words of a distribution that are shown by themselves; all others count as one."""
MOST_OVERLAP = 0.85
"""With more in common, a thousand draws could hardly tell draft and target apart."""


@dataclass(frozen=True, slots=True)
class LargePass:
    """One pass over one token, from a model's size and the published peaks of a GPU.

    Reckoned, not measured: each weight is read once and used for one multiplication and one
    addition.
    """

    num_parameters: float
    weight_bytes: int
    device: str
    gigabytes_a_second: float
    teraflops: float
    """Dense, in the format of the weights."""

    @property
    def gigabytes(self) -> float:
        """Weights that one pass reads."""
        return self.num_parameters * self.weight_bytes / 1e9

    @property
    def read_ms(self) -> float:
        """Time in which memory delivers them."""
        return self.gigabytes / self.gigabytes_a_second * 1e3

    @property
    def arithmetic_ms(self) -> float:
        """Time in which the arithmetic for one token is done."""
        return 2 * self.num_parameters / (self.teraflops * 1e12) * 1e3

    @property
    def num_tokens(self) -> int:
        """Tokens for which the arithmetic takes as long as reading the weights once."""
        return int(self.read_ms / self.arithmetic_ms)


LARGE_PASS = LargePass(
    num_parameters=7e9,
    weight_bytes=2,
    device="NVIDIA A100 80GB SXM",
    gigabytes_a_second=2039,
    teraflops=312,
)
"""Bandwidth and BF16 tensor core peak as NVIDIA's A100 data sheet gives them."""


def large_pass_data(large: LargePass = LARGE_PASS) -> dict[str, Any]:
    """Give a large model's pass with the times that follow from it."""
    return asdict(large) | {
        "gigabytes": large.gigabytes,
        "read_ms": large.read_ms,
        "arithmetic_ms": large.arithmetic_ms,
        "num_tokens": large.num_tokens,
    }


def example_distributions(packets: list[Parts] | None) -> dict[str, Any] | None:
    """Give the distributions of target and draft at one position of a recorded race.

    It is the position where the target is the least decided, among those where both top tens share
    enough words and Σ min(p, q) is at most `MOST_OVERLAP`. `words` have a `target_prob` and a
    `draft_prob` each; what is left of both is the last word, with the text None. The rule holds
    over words that are counted as one, too.
    """
    found = [
        each
        for each in _positions(packets or [])
        if len(each["words"]) > NUM_WORDS and each["overlap"] <= MOST_OVERLAP
    ]
    return min(found, key=lambda each: each["words"][0]["target_prob"], default=None)


def _positions(packets: list[Parts]) -> list[dict[str, Any]]:
    text = ""
    found = []
    for event in (event for packet in packets for event in packet["events"]):
        if event["event"] == "RaceStarted":
            text = event["request"]["prompt"]
        if event["event"] != "RoundFinished" or event["lane"] == 0:
            continue
        before = text
        drafted = event["round"]["drafted"]
        is_chain = all(token["parent"] == index - 1 for index, token in enumerate(drafted))
        # In a tree most guesses stand beside the text, and not behind the one before them.
        for token in drafted if is_chain else ():
            words = _words(token)
            overlap = sum(min(each["target_prob"], each["draft_prob"]) for each in words)
            found.append({"before": before, "words": words, "overlap": overlap})
            before += token["text"]
        text += "".join(token["text"] for token in event["round"]["emitted"])
    return found


def _words(token: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the likeliest words that both top tens hold, and the rest as one."""
    draft = {each[0]: each[2] for each in token["top_draft"]}
    shared = [each for each in token["top_target"] if each[0] in draft][:NUM_WORDS]
    words = [
        {"text": text, "target_prob": prob, "draft_prob": draft[token_id]}
        for token_id, text, prob in shared
    ]
    rest = {
        name: max(0.0, 1.0 - sum(each[name] for each in words))
        for name in ("target_prob", "draft_prob")
    }
    return [*words, {"text": None, **rest}]
