"""The target's law behind each text that was asked for lately, and what it writes by itself."""

from collections import OrderedDict
from collections.abc import Iterable

import torch

from specviz.decoding.sampling import Chance
from specviz.proof.joint_cells import NextLaw
from specviz.proof.text_scores import Text

MAX_BYTES = 64_000_000
"""What laws that are kept may take; one of 50,000 tokens takes 400 kB."""


class KnownLaws:
    """Asks for the law behind a text once, as long as there is room to keep it."""

    def __init__(self, next_law: NextLaw, max_bytes: int = MAX_BYTES) -> None:
        self._next_law = next_law
        self._max_bytes = max_bytes
        self._laws: OrderedDict[Text, torch.Tensor] = OrderedDict()

    def after(self, text: Text) -> torch.Tensor:
        """The law `[vocab]` behind `text`, float64 on the CPU."""
        law = self._laws.pop(text, None)
        if law is None:
            law = self._next_law(text)
        self._laws[text] = law
        if len(self._laws) * law.nbytes > self._max_bytes:
            self._laws.popitem(last=False)
        return law

    def draw(self, num_tokens: int, end_ids: Iterable[int], chance: Chance) -> Text:
        """Write as the target alone does: token by token, each drawn from its law.

        Args:
            num_tokens: Most tokens of the text.
            end_ids: Any of these ends it.
        """
        ends = frozenset(end_ids)
        text: Text = ()
        while len(text) < num_tokens and ends.isdisjoint(text[-1:]):
            text = (*text, chance.choose(self.after(text)))
        return text
