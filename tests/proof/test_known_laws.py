"""The law behind a text is asked for once, as long as there is room, and drawn from as it is."""

import torch

from specviz.decoding.sampling import SeededChance
from specviz.proof.known_laws import KnownLaws
from specviz.proof.text_scores import Text

LAW = torch.tensor([0.5, 0.0, 0.5], dtype=torch.float64)


class Asked:
    """A law that is the same behind every text, and for which texts it was asked."""

    def __init__(self) -> None:
        self.texts: list[Text] = []

    def __call__(self, text: Text) -> torch.Tensor:
        self.texts.append(text)
        return LAW


def test_a_law_is_asked_for_once_while_there_is_room() -> None:
    asked = Asked()
    laws = KnownLaws(asked, max_bytes=2 * LAW.nbytes)
    for text in ((), (0,), (), (2,), (0,)):
        laws.after(text)
    assert asked.texts == [(), (0,), (2,), (0,)], "the one that was not asked for longest goes"


def test_a_text_is_drawn_token_by_token_and_ends_where_it_must() -> None:
    laws = KnownLaws(Asked())
    chance = SeededChance(0)
    texts = [laws.draw(3, (2,), chance) for _ in range(200)]
    assert all(text[-1] == 2 or len(text) == 3 for text in texts)
    assert all(token == 0 for text in texts for token in text[:-1])
    assert {len(text) for text in texts} == {1, 2, 3}
    # Half of the texts end at once: 200 such draws lie outside once in a million.
    assert 65 < sum(text == (2,) for text in texts) < 135
