"""Every field of a request has its limits, and the sentence names them."""

from dataclasses import replace

import pytest

from specviz.errors import RequestError
from specviz.race.validation import check_request
from specviz.trace.limits import MAX_GAMMA, MAX_NEW_TOKENS, MAX_SEED
from specviz.trace.values import LaneSpec, Method, RaceRequest, Rule, Sampling

BASELINE = LaneSpec("plain", Method.BASELINE, "big")
DRAFTED = LaneSpec("drafted", Method.DRAFT_MODEL, "big", draft="small", gamma=4)
GOOD = RaceRequest("Once", (BASELINE, DRAFTED))


def lane(**changes: object) -> RaceRequest:
    return replace(GOOD, lanes=(BASELINE, replace(DRAFTED, **changes)))  # type: ignore[arg-type]


def sampled(**changes: object) -> RaceRequest:
    return replace(GOOD, sampling=replace(Sampling(), **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "request_",
    [
        GOOD,
        replace(GOOD, max_new_tokens=1),
        replace(GOOD, max_new_tokens=MAX_NEW_TOKENS),
        sampled(temperature=5.0, top_k=1, top_p=1e-9, seed=MAX_SEED),
        sampled(temperature=0.01),
        lane(gamma=1),
        lane(name=None),
        replace(
            GOOD, lanes=(*GOOD.lanes, replace(DRAFTED, name=None), replace(DRAFTED, name=None))
        ),
        lane(gamma=MAX_GAMMA),
        lane(method=Method.PROMPT_LOOKUP, draft=None, max_ngram=2),
        lane(method=Method.EARLY_EXIT, draft=None, exit_layer=3),
    ],
)
def test_what_lies_on_the_limits_is_taken(request_: RaceRequest) -> None:
    check_request(request_)


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (replace(GOOD, prompt=" \n\t"), "prompt is empty"),
        (replace(GOOD, max_new_tokens=0), "max_new_tokens must be 1 to 4096, got 0"),
        (replace(GOOD, max_new_tokens=4097), "must be 1 to 4096, got 4097"),
        (sampled(temperature=-0.1), "temperature must be 0 to 5, got -0.1"),
        (sampled(temperature=5.1), "temperature must be 0 to 5, got 5.1"),
        (sampled(temperature=float("nan")), "temperature must be 0 to 5, got nan"),
        (sampled(temperature=float("inf")), "temperature must be 0 to 5, got inf"),
        (sampled(temperature=0.001), "at least 0.01, got 0.001"),
        (sampled(top_k=-1), "top_k .* got -1"),
        (sampled(top_p=0.0), "top_p must be above 0 and at most 1, got 0"),
        (sampled(top_p=1.01), "got 1.01"),
        (sampled(top_p=float("nan")), "got nan"),
        (sampled(seed=-1), "seed must be 0 to"),
        (sampled(seed=MAX_SEED + 1), "seed must be 0 to"),
        (lane(gamma=0), "gamma of lane 'drafted' must be 1 to 16, got 0"),
        (lane(gamma=17), "must be 1 to 16, got 17"),
        (lane(draft=None), "needs a draft model"),
        (lane(method=Method.PROMPT_LOOKUP), "takes no draft model"),
        (lane(method=Method.EARLY_EXIT), "takes no draft model"),
        (lane(method=Method.PROMPT_LOOKUP, draft=None, max_ngram=1), "max_ngram .* 2 to 16, got 1"),
        (lane(method=Method.EARLY_EXIT, draft=None, exit_layer=0), "exit_layer .* got 0"),
        (
            lane(method=Method.PROMPT_LOOKUP, draft=None, rule=Rule.ARGMAX_SOFTMAX),
            "argmax-softmax divides by a draft's probabilities",
        ),
        (
            replace(GOOD, lanes=(replace(BASELINE, rule=Rule.NO_RENORMALISE), DRAFTED)),
            "has the rule right, not no-renormalise",
        ),
        (
            replace(lane(flipped_coins=(3,)), sampling=Sampling()),
            "a coin can be flipped only in a lane that guesses, above temperature 0",
        ),
        (
            replace(lane(flipped_coins=(7, 3)), sampling=Sampling(0.8)),
            "flipped_coins must rise, each coin once, got 7, 3",
        ),
        (
            replace(lane(flipped_coins=tuple(range(17))), sampling=Sampling(0.8)),
            "at most 16 flipped coins, got 17",
        ),
        (lane(name="plain"), "different names"),
        (lane(target="other"), "share one target, got big, other"),
        (replace(GOOD, lanes=(BASELINE,)), "number of lanes must be 2 to 4, got 1"),
        (replace(GOOD, lanes=(BASELINE, *(DRAFTED,) * 4)), "2 to 4, got 5"),
        (replace(GOOD, lanes=(DRAFTED, BASELINE)), "first lane, and only it, must be the baseline"),
        (
            replace(GOOD, lanes=(BASELINE, replace(BASELINE, name="two"))),
            "first lane, and only it, must be the baseline",
        ),
        (replace(GOOD, lanes=(replace(BASELINE, gamma=2), DRAFTED)), "baseline drafts nothing"),
        (replace(GOOD, lanes=(replace(BASELINE, draft="x"), DRAFTED)), "baseline drafts nothing"),
    ],
)
def test_what_lies_outside_is_refused_with_what_is_allowed(
    request_: RaceRequest, sentence: str
) -> None:
    with pytest.raises(RequestError, match=sentence) as caught:
        check_request(request_)
    assert "\n" not in str(caught.value)
