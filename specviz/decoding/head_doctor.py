"""Tries out in which of several plausible ways an EAGLE-3 head was meant to be read.

Files of heads leave open, or state wrongly, at which layers states are taken, whether the rotation
is scaled, and how often a state is normalised. A head that is read wrongly still drafts, only
worse, so nothing but its agreement with the target shows it: how often the head's first choice is
the target's own, with the target's true states, where the target wrote.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import torch
from transformers import PreTrainedModel

from specviz.decoding.eagle3_head import Eagle3Head
from specviz.decoding.eagle3_pass import Eagle3Pass
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.sampling import SeededChance, to_probs
from specviz.models.eagle_form import HeadForm, Reading
from specviz.trace.values import Sampling

NUM_TOKENS = 200
"""That the target writes for this, over all starts."""
SAMPLING = Sampling(temperature=0.7)
CLEARLY = 2.0
"""Another reading wins where it is right more often by so many standard deviations of a fair coin
thrown wherever just one of the two is right."""


@dataclass(frozen=True, slots=True)
class ReadingScore:
    """How a head does that is read one way."""

    reading: Reading
    num_same: int
    """Tokens at which it chose as the target did."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What came of all readings, the stated one first."""

    scores: tuple[ReadingScore, ...]
    num_tokens: int
    used: Reading
    """The best, if it is clearly better than what is stated."""

    @property
    def is_as_stated(self) -> bool:
        """Whether the head is best read as its files state."""
        return self.used == Reading()

    def agreement(self, reading: Reading) -> float:
        """Share of the tokens at which the head chose as the target did, from 0 to 1."""
        found = next(score for score in self.scores if score.reading == reading)
        return found.num_same / self.num_tokens


@dataclass(frozen=True, slots=True)
class _Text:
    ids: list[int]
    first: int
    """Slots before this one belong to the start."""
    features: dict[int, torch.Tensor]
    """States `[len(ids) - 1, hidden]` by tap."""
    wanted: torch.Tensor
    """The target's first choices `[num_slots]`."""


@torch.inference_mode()
def diagnose(
    head: Eagle3Head, target: PreTrainedModel, starts: Iterable[Sequence[int]]
) -> Diagnosis:
    """Let the target write after each of some texts, and the head guess along in every reading.

    Leaves the head in the reading that is used.

    Args:
        starts: Ids, at least two each, and fewer than the target can read.
    """
    stated = head.form
    readings = stated.readings(int(target.config.get_text_config().num_hidden_layers))
    texts = _write(target, stated, readings, [list(start) for start in starts])
    marks = [_marks(head, stated.read_as(reading), texts) for reading in readings]
    scores = [
        ReadingScore(reading, int(mark.sum()))
        for reading, mark in zip(readings, marks, strict=True)
    ]
    best = max(range(len(readings)), key=lambda index: scores[index].num_same)
    num_better = int((marks[best] & ~marks[0]).sum())
    num_worse = int((marks[0] & ~marks[best]).sum())
    is_clear = num_better - num_worse > CLEARLY * sqrt(num_better + num_worse)
    used = readings[best] if is_clear else Reading()
    head.form = stated.read_as(used)
    return Diagnosis(tuple(scores), len(marks[0]), used)


def _write(
    target: PreTrainedModel,
    form: HeadForm,
    readings: Sequence[Reading],
    starts: Sequence[list[int]],
) -> list[_Text]:
    taps = sorted({tap for reading in readings for tap in form.read_as(reading).taps})
    runner = ModelRunner(target)
    chance, texts = SeededChance(0), []
    for start in starts:
        ids = list(start)
        room = NUM_TOKENS if runner.context is None else runner.context - len(ids)
        for _ in range(min(NUM_TOKENS // len(starts), room)):
            probs = to_probs(runner.forward(ids, 1), SAMPLING)
            ids.append(chance.choose(probs[0]))
        texts.append(ids)
    runner.tap(taps)
    return [_read(runner, taps, ids, len(start)) for ids, start in zip(texts, starts, strict=True)]


def _read(runner: ModelRunner, taps: Sequence[int], ids: list[int], num_start: int) -> _Text:
    runner.reset()
    logits = runner.forward(ids, len(ids))
    features = runner.features(ids[:-1], 0)
    parts = torch.split(features, features.shape[-1] // len(taps), dim=-1)
    first = max(0, num_start - 2)
    choices = logits.argmax(dim=-1)
    return _Text(ids, first, dict(zip(taps, parts, strict=True)), choices[1 + first :])


def _marks(head: Eagle3Head, form: HeadForm, texts: Sequence[_Text]) -> torch.Tensor:
    """Say of each token whether the head chose it: `[num_tokens]` bool."""
    head.form = form
    passing, found = Eagle3Pass(head), []
    for text in texts:
        features = torch.cat([text.features[tap] for tap in form.taps], dim=-1)
        states = passing.read(head.fuse(features), text.ids[1:], passing.new_cache(0))
        choices = head.draft_ids[passing.predict(states[text.first :]).argmax(dim=-1)]
        found.append(choices == text.wanted)
    return torch.cat(found)
