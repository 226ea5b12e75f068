"""Fakes with the real interfaces: Markov-table models, chance that can be enumerated, a clock that
counts."""

from collections.abc import Callable, Hashable, Iterator, Sequence

import torch

from specviz.decoding.clock import HostMark
from specviz.decoding.decoder import Decoder, Limits
from specviz.decoding.draft_lengths import DraftLengths
from specviz.decoding.play import RecordedPlay
from specviz.decoding.proposal import Proposal, Proposer, chain
from specviz.decoding.recorder import Recorder
from specviz.decoding.sampling import Chance, Flip, SeededChance, to_probs
from specviz.trace.values import Sampling

Law = dict[Hashable, float]
GREEDY = Sampling()


class Enumeration:
    """A `Chance` that walks through every outcome of every choice, one run after another.

    `runs` yields once for each outcome; afterwards `weight` is that outcome's probability.
    """

    def __init__(self) -> None:
        self._script: list[int] = []
        self._options: list[list[tuple[int, float]]] = []
        self._place = 0
        self.weight = 1.0

    def runs(self) -> Iterator[None]:
        while True:
            self._options, self._place, self.weight = [], 0, 1.0
            yield
            while self._options and self._script[-1] == len(self._options[-1]) - 1:
                self._options.pop()
                self._script.pop()
            if not self._options:
                return
            self._script[-1] += 1

    def reset(self) -> None:
        """A lane resets its chance once, before its first choice."""
        assert self._place == 0

    def flip(self, prob: float) -> Flip:
        assert 0.0 <= prob <= 1.0
        return Flip(bool(self._pick([(1, prob), (0, 1.0 - prob)])), None)

    def choose(self, probs: torch.Tensor) -> int:
        law = (probs.double() / probs.double().sum()).tolist()
        assert min(law) >= 0.0
        return self._pick(list(enumerate(law)))

    def _pick(self, weighted: list[tuple[int, float]]) -> int:
        possible = [(outcome, weight) for outcome, weight in weighted if weight > 0]
        if self._place == len(self._script):
            self._script.append(0)
        outcome, weight = possible[self._script[self._place]]
        self._options.append(possible)
        self._place += 1
        self.weight *= weight
        return outcome


def enumerate_law(run: Callable[[Chance], Hashable]) -> Law:
    """The exact law of what `run` returns, over all random choices that it makes."""
    law: Law = {}
    chance = Enumeration()
    for _ in chance.runs():
        outcome = run(chance)
        law[outcome] = law.get(outcome, 0.0) + chance.weight
    assert abs(sum(law.values()) - 1.0) < 1e-12
    return law


def distance(left: Law, right: Law) -> float:
    """Largest difference of any probability."""
    return max(abs(left.get(key, 0.0) - right.get(key, 0.0)) for key in left.keys() | right.keys())


def random_table(
    vocab_size: int, seed: int, *, num_zeros: int = 0, scale: float = 1.5
) -> torch.Tensor:
    """Logits `[vocab, vocab, vocab]` float64 of the token after a pair of tokens."""
    generator = torch.Generator().manual_seed(seed)
    shape = (vocab_size,) * 3
    table = torch.randn(shape, generator=generator, dtype=torch.float64) * scale
    for _ in range(num_zeros):
        place = torch.randint(vocab_size, shape[:2], generator=generator)
        table.scatter_(2, place[..., None], -torch.inf)
    return table


def one_hot_table(vocab_size: int, seed: int) -> torch.Tensor:
    """Logits under which every next token is certain."""
    generator = torch.Generator().manual_seed(seed)
    places = torch.randint(vocab_size, (vocab_size, vocab_size, 1), generator=generator)
    table = torch.full((vocab_size,) * 3, -torch.inf, dtype=torch.float64)
    return table.scatter_(2, places, 0.0)


class MarkovRunner:
    """The interface of `ModelRunner` over a table; the law depends on the last two tokens.

    It keeps the ids it has read as the real one does, and checks that it is used as agreed.
    """

    def __init__(self, table: torch.Tensor, context: int | None = None) -> None:
        self.table = table
        self.vocab_size = table.shape[-1]
        self.context = context
        self.device = torch.device("cpu")
        self.reset()

    def reset(self) -> None:
        self._ids: list[int] = []
        self._num_tree = 0

    def expect_return_to(self, num_tokens: int) -> None:
        """A table has no states to copy."""

    def logits_after(self, ids: Sequence[int]) -> torch.Tensor:
        before = ids[-2] if len(ids) > 1 else 0
        return self.table[before, ids[-1]]

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        assert 1 <= num_logits <= len(ids)
        assert self._num_tree == 0, "keep() must follow forward_tree()"
        assert self.context is None or len(ids) <= self.context, "read past the context"
        self._ids = list(ids)
        self._grown = [list(ids)]
        rows = range(len(ids) - num_logits, len(ids))
        return torch.stack([self.logits_after(ids[: row + 1]) for row in rows])

    def forward_tree(
        self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int]
    ) -> torch.Tensor:
        self._ids = [*ids, *token_ids]
        self._num_tree = len(token_ids)
        branches = [list(ids)]
        for token_id, parent in zip(token_ids, parents, strict=True):
            branches.append([*branches[parent + 1], token_id])
        return torch.stack([self.logits_after(branch) for branch in branches])

    def grow_tree(self, token_ids: Sequence[int], parents: Sequence[int]) -> torch.Tensor:
        num_before = len(self._grown) - 1
        assert all(parent < num_before for parent in parents), "nodes of one level"
        new = [
            [*self._grown[parent + 1], token]
            for token, parent in zip(token_ids, parents, strict=True)
        ]
        assert not any(branch in self._grown for branch in new), "read twice"
        self._grown += new
        return torch.stack([self.logits_after(branch) for branch in new])

    def keep(self, num_committed: int, path: Sequence[int]) -> None:
        assert num_committed <= len(self._ids)
        kept = [self._ids[num_committed + node] for node in path]
        self._ids = self._ids[:num_committed] + kept
        self._num_tree = 0


class MarkovTree:
    """Proposes a two-level tree: siblings sampled without replacement, or the most probable ones
    as point masses."""

    def __init__(
        self, table: torch.Tensor, sampling: Sampling, widths: Sequence[int], *, is_sampled: bool
    ) -> None:
        self._runner = MarkovRunner(table)
        self._sampling = sampling
        self._widths = widths
        self._is_sampled = is_sampled

    def reset(self, prompt_ids: Sequence[int]) -> None:
        self._runner.reset()

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        tokens: list[int] = []
        parents: list[int] = []
        rows: list[torch.Tensor] = []
        level = [(-1, list(committed_ids))]
        for width in self._widths[:gamma]:
            below = []
            for parent, ids in level:
                law = to_probs(self._runner.logits_after(ids)[None], self._sampling)[0]
                for token in self._siblings(law, width, chance):
                    below.append((len(tokens), [*ids, token]))
                    tokens.append(token)
                    parents.append(parent)
                    rows.append(law)
            level = below
        draft_probs = torch.stack(rows) if rows and self._is_sampled else None
        return Proposal(tuple(tokens), tuple(parents), draft_probs)

    def _siblings(self, law: torch.Tensor, width: int, chance: Chance) -> list[int]:
        if not self._is_sampled:
            return law.topk(width).indices.tolist()
        left, siblings = law.clone(), []
        for _ in range(min(width, int((law > 0).sum()))):
            siblings.append(chance.choose(left))
            left[siblings[-1]] = 0.0
        return siblings


class ScriptedProposer:
    """Drafts the next tokens of a fixed text, right or wrong, as point masses."""

    def __init__(self, num_prompt: int, script: Sequence[int]) -> None:
        self._num_prompt = num_prompt
        self._script = script

    def reset(self, prompt_ids: Sequence[int]) -> None:
        assert len(prompt_ids) == self._num_prompt

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        done = len(committed_ids) - self._num_prompt
        return chain(self._script[done : done + gamma])


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.ms = 0.0

    def now_ms(self) -> float:
        return self.ms

    def mark(self) -> HostMark:
        return HostMark(self.ms)


class PlainDetokenizer:
    """Writes token 7 as `<7>`."""

    def reset(self, prompt_ids: Sequence[int]) -> None:
        pass

    def token_text(self, token_id: int) -> str:
        return f"<{token_id}>"

    def append(self, token_id: int) -> str:
        return self.token_text(token_id)


def make_decoder(
    target: object,
    proposer: Proposer,
    *,
    gamma: int,
    sampling: Sampling = GREEDY,
    max_new_tokens: int = 8,
    eos_ids: frozenset[int] = frozenset(),
    context: int | None = None,
    chance: Chance | None = None,
    clock: FakeClock | None = None,
    recorder: object | None = None,
    recorded: RecordedPlay | None = None,
    lengths: DraftLengths | None = None,
) -> Decoder:
    """A decoder around fakes; `recorder` defaults to a real one without top lists."""
    return Decoder(
        target,  # type: ignore[arg-type]
        proposer,
        gamma=gamma,
        sampling=sampling,
        limits=Limits(max_new_tokens, eos_ids, context),
        chance=chance or SeededChance(sampling.seed),
        clock=clock or FakeClock(),
        recorder=recorder or Recorder(sampling, PlainDetokenizer(), record_top=False),  # type: ignore[arg-type]
        recorded=recorded,
        lengths=lengths,
    )


def run_to_end(decoder: Decoder, prompt_ids: Sequence[int]) -> tuple[int, ...]:
    """Decode until the lane ends and return its output."""
    decoder.prefill(prompt_ids)
    while decoder.stop_reason is None:
        decoder.step()
    return decoder.output_ids


def text_law(
    table: torch.Tensor, sampling: Sampling, prompt_ids: Sequence[int], num_tokens: int
) -> Law:
    """The target's own law of the next `num_tokens` tokens, by the chain rule."""
    runner = MarkovRunner(table)
    law: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(num_tokens):
        longer: dict[tuple[int, ...], float] = {}
        for text, weight in law.items():
            logits = runner.logits_after([*prompt_ids, *text])
            for token, prob in enumerate(to_probs(logits[None], sampling)[0].tolist()):
                if prob > 0:
                    longer[(*text, token)] = weight * prob
        law = longer
    return dict(law)
