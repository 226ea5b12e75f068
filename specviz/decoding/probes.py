"""Tries out on a few tokens what no config says: whether two ways of reading give one answer."""

from collections.abc import Sequence
from typing import Protocol

import torch

from specviz.decoding.proposal import ROOT
from specviz.errors import IncompatibleModelError
from specviz.texts import message

TOLERANCE = 1e-3
"""Of logits in float32, as a part of the largest one."""
TOLERANCE_EPS = 8
"""The same in dtypes of lower precision, in units of their rounding."""
STATE_TOLERANCE_EPS = 32
"""The same where states were put back: what is rounded into a state stays in it. In 16 bit, tiny
random hybrids differ by up to 13 units; those that forget their state by half the largest logit."""
TEXT = (1, 2, 3)
NUM_SIBLINGS = 40
STATE_TEXT = (1, 5, 3, 7, 2, 9, 4, 6)
NUM_BEFORE = 4
"""Tokens of it that are read before the states are copied."""


class Reader(Protocol):
    """Reads texts and trees that it has not read before."""

    vocab_size: int

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        """As `ModelRunner.forward`."""

    def read_tree(
        self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int]
    ) -> torch.Tensor:
        """As `ModelRunner.forward_tree`."""


def is_same_but_for_rounding(
    logits: torch.Tensor, expected: torch.Tensor, tolerance_eps: int = TOLERANCE_EPS
) -> bool:
    """Say whether two tensors of logits of one shape differ by rounding alone."""
    tolerance = max(TOLERANCE, tolerance_eps * torch.finfo(expected.dtype).eps)
    scale = float(expected.abs().max().clamp_min(1.0))
    # Written so that a NaN on either side is a difference.
    return float((logits - expected).abs().max()) <= tolerance * scale


def check_trees(name: str, tree: Reader, chain: Reader, window: int | None) -> None:
    """Let `tree` read a branch behind many others, and `chain` the same text as a chain.

    In a tree, siblings stand at one position but one after the other in the cache. Only a model
    that goes by `position_ids` reads that right: with ALiBi, relative positions or positions
    counted in the cache, a branch seems as far away as it has siblings before it.

    Args:
        window: Most tokens that a tree may have with the text before it; None: any number.

    Raises:
        IncompatibleModelError: The two differ, or the model, called `name`, cannot do it at all.
    """
    room = NUM_SIBLINGS if window is None else window - len(TEXT) - 1
    num_siblings = max(1, min(NUM_SIBLINGS, room))
    tokens = [node % tree.vocab_size for node in range(num_siblings + 1)]
    parents = [ROOT] * num_siblings + [num_siblings - 1]
    try:
        branch = tree.read_tree(TEXT, tokens, parents)[-1:]
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        raise IncompatibleModelError(
            message("refusal.tree_unread", model=name, reason=str(error))
        ) from error
    if not is_same_but_for_rounding(branch, chain.forward([*TEXT, *tokens[-2:]], 1)):
        raise IncompatibleModelError(message("refusal.tree_by_order", model=name))


class StatefulReader(Protocol):
    """Reads texts one after the other and goes back where they part."""

    vocab_size: int

    def reset(self) -> None:
        """Forget everything."""

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        """As `ModelRunner.forward`."""


def check_states(name: str, reader: StatefulReader) -> None:
    """Let `reader` take back a few tokens and go on from its states, in a block and by one token.

    Recurrent layers of the first Mamba read a block as if nothing stood before it; others keep
    their states where no cache can put them back.

    Raises:
        IncompatibleModelError: The logits are not those of reading at once, or the model, called
            `name`, cannot do it at all.
    """
    text = [token_id % reader.vocab_size for token_id in STATE_TEXT]
    wrong = [(token_id + 1) % reader.vocab_size for token_id in text[NUM_BEFORE + 1 : -1]]
    try:
        expected = reader.forward(text, len(text) - NUM_BEFORE)
        reader.reset()
        reader.forward(text[:NUM_BEFORE], 1)
        reader.forward([*text[: NUM_BEFORE + 1], *wrong], len(wrong) + 1)
        block = reader.forward(text[:-1], len(text) - NUM_BEFORE - 1)
        found = torch.cat([block, reader.forward(text, 1)])
    except (TypeError, ValueError, RuntimeError, LookupError, AttributeError) as error:
        raise IncompatibleModelError(
            message("refusal.states_fail", model=name, reason=str(error))
        ) from error
    if not is_same_but_for_rounding(found, expected, STATE_TOLERANCE_EPS):
        raise IncompatibleModelError(message("refusal.states_differ", model=name))
