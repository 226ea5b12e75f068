"""How many tokens each round drafts: always as many, or as the rounds before suggest.

A length is chosen before anything of its round is drawn, and a draft that ends early ends by what
was drafted, never by what is judged later: so every schedule leaves the law of the text as it is.
What a schedule has learned goes with its lane's text.
"""

from typing import Protocol

from specviz.trace.values import LaneSpec, Outcome, Round, Schedule

MEMORY = 0.95
"""What a round still counts after the next one: about the last twenty matter."""
FIRST_GAMMA = 4
"""Of a lane that knows nothing yet."""
PRIOR_ALPHA, PRIOR_JUDGED = 0.7, 2.0
"""Acceptance before anything was judged, and for how many judged tokens that counts."""
POSITION_JUDGED = 4.0
"""For how many judged tokens the acceptance of all positions counts at each of them."""
PRIOR_SLOPE, SLOPE_WEIGHT = 0.04, 10.0
"""What one token more adds to a pass, as a share of it, before two lengths were seen; and for how
much spread of lengths that counts."""
LONGEST_TIME = 3.0
"""A round that took more than so many times the mean was held up by something else."""


class DraftLengths(Protocol):
    """Chooses the draft length of a lane's next round."""

    def reset(self) -> None:
        """Forget the text before."""

    def next_gamma(self) -> int:
        """Most tokens to draft in the next round, at least 1."""

    def observe(self, round_: Round) -> None:
        """Learn from a round that has ended."""


class Fixed:
    """The same length in every round; also that of a draft that ends where it is unsure."""

    def __init__(self, gamma: int) -> None:
        self._gamma = gamma

    def reset(self) -> None:
        """Nothing is learned here."""

    def next_gamma(self) -> int:
        """Always the same."""
        return self._gamma

    def observe(self, round_: Round) -> None:
        """Nothing is learned here."""


class Heuristic:
    """Two more after a round that kept all, one fewer after any other, as transformers does
    (`num_assistant_tokens_schedule="heuristic"`)."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._gamma = min(FIRST_GAMMA, self._longest)

    def next_gamma(self) -> int:
        """The length as it stands."""
        return self._gamma

    def observe(self, round_: Round) -> None:
        """Lengthen or shorten; a round that drafted nothing says nothing."""
        if not round_.drafted:
            return
        kept = sum(token.outcome is Outcome.ACCEPTED for token in round_.drafted)
        step = 2 if kept == len(round_.drafted) else -1
        self._gamma = max(1, min(self._longest, self._gamma + step))


class CostAware:
    """The length that promises the most tokens a millisecond, by the lane's own recent rounds.

    argmax over γ of (1 + Σ_{j=1..γ} r_j) / (γ·d + V(γ)): r_j = a_1·…·a_j with a_i the share of the
    tokens judged at position i of a draft that were accepted, drawn towards the acceptance of all
    positions where few were; d milliseconds a drafted token, V(γ) a pass over γ + 1 tokens and what
    is drawn from it, a line through the measured times. With γ·c + v in place of γ·d + V this is
    the speedup of Leviathan et al. 2023, arXiv:2211.17192, by position. Recent rounds count more.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.reset()

    def reset(self) -> None:
        """Forget acceptance and times."""
        self._judged = [0.0] * self._longest
        self._accepted = [0.0] * self._longest
        self._num_drafted = self._draft_ms = 0.0
        self._passes = _Line()

    def next_gamma(self) -> int:
        """The best length by what was seen; a first guess before."""
        if self._num_drafted == 0:
            return min(FIRST_GAMMA, self._longest)
        draft_ms = self._draft_ms / self._num_drafted
        best, best_rate = 1, 0.0
        chance, tokens = 1.0, 1.0
        alpha = self._alpha()
        for gamma in range(1, self._longest + 1):
            at = gamma - 1
            chance *= (self._accepted[at] + POSITION_JUDGED * alpha) / (
                self._judged[at] + POSITION_JUDGED
            )
            tokens += chance
            took = gamma * draft_ms + self._passes.at(gamma)
            rate = tokens / took if took > 0 else tokens
            if rate > best_rate:
                best, best_rate = gamma, rate
        return best

    def observe(self, round_: Round) -> None:
        """Count a round, and what the rounds before still tell a little less."""
        for counts in (self._judged, self._accepted):
            counts[:] = [MEMORY * count for count in counts]
        self._num_drafted *= MEMORY
        self._draft_ms *= MEMORY
        self._passes.fade()
        num_drafted = len(round_.drafted)
        for position, token in enumerate(round_.drafted[: self._longest]):
            if token.outcome is Outcome.DISCARDED:
                break
            self._judged[position] += 1
            self._accepted[position] += token.outcome is Outcome.ACCEPTED
        if num_drafted:
            self._num_drafted += num_drafted
            self._draft_ms += self._bounded(round_.draft_ms, num_drafted)
        self._passes.add(num_drafted, round_.verify_ms + round_.other_ms)

    def _alpha(self) -> float:
        """The acceptance of all positions."""
        judged = sum(self._judged) + PRIOR_JUDGED
        return (sum(self._accepted) + PRIOR_ALPHA * PRIOR_JUDGED) / judged

    def _bounded(self, draft_ms: float, num_drafted: int) -> float:
        # The first round's own time is all that is known then.
        before = self._num_drafted - num_drafted
        if before <= 0:
            return draft_ms
        return min(draft_ms, LONGEST_TIME * num_drafted * self._draft_ms / before)


class _Line:
    """Milliseconds of a pass by how many tokens were drafted: a line through recent ones."""

    def __init__(self) -> None:
        self._weight = self._x = self._y = self._xx = self._xy = 0.0

    def fade(self) -> None:
        """Let what was added count less."""
        self._weight *= MEMORY
        self._x *= MEMORY
        self._y *= MEMORY
        self._xx *= MEMORY
        self._xy *= MEMORY

    def add(self, length: int, ms: float) -> None:
        """Take a pass in."""
        if self._weight > 0:
            ms = min(ms, LONGEST_TIME * self.at(length))
        self._weight += 1
        self._x += length
        self._y += ms
        self._xx += length * length
        self._xy += length * ms

    def at(self, length: int) -> float:
        """What a pass of this length takes, at least a tenth of the mean."""
        mean_x, mean_y = self._x / self._weight, self._y / self._weight
        spread = self._xx - self._x * mean_x
        together = self._xy - self._x * mean_y
        slope = (together + SLOPE_WEIGHT * PRIOR_SLOPE * mean_y) / (spread + SLOPE_WEIGHT)
        return max(0.1 * mean_y, mean_y + max(0.0, slope) * (length - mean_x))


def lengths_of(spec: LaneSpec) -> DraftLengths:
    """Make the chooser of a lane."""
    match spec.schedule:
        case Schedule.HEURISTIC:
            return Heuristic(spec.gamma)
        case Schedule.COST_AWARE:
            return CostAware(spec.gamma)
        case Schedule.FIXED | Schedule.CONFIDENCE:
            return Fixed(spec.gamma)
