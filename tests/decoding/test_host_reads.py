"""How often the host waits for what a device has computed: once in a recorded round."""

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch
from fakes import PlainDetokenizer, make_decoder
from static_fakes import recorded_lane
from tiny_models import CONTEXT, VOCAB, tiny_model
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from specviz.decoding.decoder import Decoder
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.recorder import Recorder, RoundFacts
from specviz.decoding.sampling import SeededChance
from specviz.decoding.static_chain import ChainKind
from specviz.decoding.static_runner import StaticRunner, StaticStep
from specviz.trace.values import Sampling

READ_BY_METHOD = {"tolist", "numpy", "cpu", "__array__", "__dlpack__"}
READ_BY_OPERATION = {
    "_local_scalar_dense", "item", "is_nonzero", "equal", "nonzero", "masked_select"
}  # fmt: skip
"""What each value that Python asks of a tensor ends in, and operations whose shape is a value."""
INDEXING = {"index", "index_put", "index_put_"}
"""With a mask these count what is true."""
SAMPLINGS = [Sampling(), Sampling(temperature=1.0, top_k=9, top_p=0.9, seed=3)]
GAMMA = 4


class HostChance(SeededChance):
    """Its numbers come from no tensor, so that every read that is counted is one of the device."""

    def reset(self) -> None:
        super().reset()
        self._random = random.Random(self._seed)

    def _drawn(self) -> float:
        return self._random.random()


class _Operations(TorchDispatchMode):
    """Notes operations that need a value on the host."""

    def __init__(self, found: list[str]) -> None:
        super().__init__()
        self._found = found

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        name = func.overloadpacket.__name__
        by_mask = name in INDEXING and any(
            each is not None and each.dtype == torch.bool for each in args[1]
        )
        if by_mask or name in READ_BY_OPERATION:
            self._found.append(name)
        return func(*args, **(kwargs or {}))


class _Methods(TorchFunctionMode):
    """Notes methods that copy a whole tensor to the host, which no operation tells on a CPU."""

    def __init__(self, found: list[str]) -> None:
        super().__init__()
        self._found = found

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        if getattr(func, "__name__", "") in READ_BY_METHOD:
            self._found.append(func.__name__)
        return func(*args, **(kwargs or {}))


def reads_of(action: Callable[[], object]) -> list[str]:
    """Each time that `action` reads something back."""
    found: list[str] = []
    with _Methods(found), _Operations(found):
        action()
    return found


class NoRecorder(Recorder):
    """Writes nothing down: a record is made when the round's clock has stopped."""

    def record(self, facts: RoundFacts) -> Any:
        return facts


def lane(sampling: Sampling, *, is_recorded: bool) -> Decoder:
    target, draft = (
        StaticRunner(tiny_model("llama", noise=noise), CONTEXT, (1, 2, GAMMA + 1))
        for noise in (0.0, 0.06)
    )
    target.prepare()
    draft.prepare()
    settings: dict[str, Any] = {
        "gamma": GAMMA,
        "sampling": sampling,
        "max_new_tokens": 60,
        "context": CONTEXT,
        "chance": HostChance(sampling.seed),
        "recorder": NoRecorder(sampling, PlainDetokenizer(), record_top=False),
    }
    if is_recorded:
        return recorded_lane(target, draft, **settings)
    return make_decoder(target, DraftModel(draft, sampling, VOCAB, frozenset()), **settings)


@pytest.mark.parametrize(
    "read",
    [
        lambda tensor: tensor.tolist(),
        lambda tensor: tensor.cpu(),
        lambda tensor: tensor.numpy(),
        lambda tensor: int(tensor[0]),
        lambda tensor: bool((tensor > 0).all()),
        lambda tensor: float(tensor.sum()),
        lambda tensor: tensor[tensor.argmax()],
        lambda tensor: tensor[tensor > 0],
        lambda tensor: tensor.nonzero(),
        lambda tensor: torch.equal(tensor, tensor),
    ],
)
def test_a_check_of_the_check(read: Callable[[torch.Tensor], object]) -> None:
    assert len(reads_of(lambda: read(torch.arange(3.0)))) == 1


def test_what_reads_nothing_back_counts_for_nothing() -> None:
    rows = torch.rand(4, 4)
    assert reads_of(lambda: rows.index_select(0, rows[0].argmax()[None])[0].cumsum(0)) == []


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "sampled"])
def test_a_recorded_round_reads_back_once(
    sampling: Sampling, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = lane(sampling, is_recorded=True)
    recorded.prefill((3, 1, 4, 1, 5))

    def refused(*args: object) -> None:
        raise AssertionError("a copy to the device that is waited for")

    monkeypatch.setattr(StaticStep, "fill", refused)
    num_accepted = set()
    while len(recorded.output_ids) + GAMMA < 60:
        before = len(recorded.output_ids)
        assert reads_of(recorded.step) == ["tolist"]
        num_accepted.add(len(recorded.output_ids) - before - 1)
    assert {0, GAMMA} <= num_accepted, "rejected at once and accepted in full are read alike"


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "sampled"])
def test_step_by_step_each_draft_is_read_back(sampling: Sampling) -> None:
    stepping = lane(sampling, is_recorded=False)
    stepping.prefill((3, 1, 4, 1, 5))
    assert len(reads_of(stepping.step)) > 2 * GAMMA


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "sampled"])
@pytest.mark.parametrize("shape", ["llama", "gpt2", "mistral"])
def test_what_is_recorded_runs_where_no_value_can_be_read(shape: str, sampling: Sampling) -> None:
    """The device `meta` holds shapes alone: asking it for a value is an error, and so is a tensor
    that was left on the host."""
    runner = StaticRunner(deepcopy(tiny_model(shape)).to("meta"), CONTEXT, (1, 2, GAMMA + 1))
    kind = ChainKind(GAMMA, sampling, VOCAB, frozenset({5}))
    with torch.inference_mode():
        drafted, judge = runner.record_chain(kind, torch.float64)
        drafted.fill([3, 1, 4], 4, [0.5] * kind.num_draws)
        assert drafted.run().is_meta
        runner.prepare()
        judge.logits.copy_(runner.read_block(*drafted.block))
        with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
            judge.judge([0.5] * kind.num_draws)
