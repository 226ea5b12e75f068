"""A lane's own chance, but for some coins that are made to fall on their other side."""

from collections.abc import Sequence

import torch

from specviz.decoding.sampling import Chance, Flip
from specviz.errors import DecodingError
from specviz.texts import message


class FlippedCoins:
    """Chance of which some coins, counted from 0, fall the other way; all else is as it was.

    The draw u of such a coin is moved to the side it did not fall on, so that it is uniform there:
    below the probability a it becomes a + (1 - a) u / a, else a (u - a) / (1 - a). With a = .6 a
    draw of .3, heads, becomes .8, and one of .8, tails, becomes .3. What is drawn before the first
    of them is therefore the same, and what is drawn after it goes on in the same stream: the second
    is counted in the text that the first one led to.
    """

    def __init__(self, inner: Chance, which: Sequence[int]) -> None:
        self._inner = inner
        self._which = frozenset(which)
        self._num_flips = 0

    def reset(self) -> None:
        """Start again, as for a new text."""
        self._inner.reset()
        self._num_flips = 0

    def flip(self, prob: float) -> Flip:
        """Throw a coin that shows heads with probability `prob`.

        Raises:
            DecodingError: A coin to be flipped has one side only.
        """
        flip = self._inner.flip(prob)
        number = self._num_flips
        self._num_flips += 1
        if number not in self._which:
            return flip
        if flip.draw is None or not 0 < prob < 1:
            raise DecodingError(message("refusal.coin_of_one_side", coin=number + 1))
        if flip.is_heads:
            return Flip(False, min(1.0, prob + (1 - prob) * flip.draw / prob))
        # Rounding must not carry it back over the edge.
        draw = prob * (flip.draw - prob) / (1 - prob)
        return Flip(True, draw if draw < prob else 0.0)

    def choose(self, probs: torch.Tensor) -> int:
        """Draw an index from the distribution `probs` `[vocab]`."""
        return self._inner.choose(probs)
