"""Texts that a target is to write, and has written, after prompts; what both models can read."""

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.decoding.model_runner import ModelRunner
from specviz.errors import IncompatibleModelError, RequestError
from specviz.models.chat import encode_turn, has_chat_template
from specviz.models.loading import LoadedModel

MIN_ROOM = 8
MIN_SHARE_OF_IDS = 0.99
NO_LIMIT = 2**31
"""Stands for the context of a model that reads texts of any length."""


@dataclass(frozen=True, slots=True)
class Text:
    """A prompt and what the target wrote after it."""

    prompt: int
    """Which prompt: its index in the list of prompts."""
    ids: tuple[int, ...]
    """Ids of the prompt and of what was written."""
    num_prompt: int
    """How many of the ids, the first ones, are the prompt's."""

    @property
    def num_written(self) -> int:
        """How many ids the target wrote."""
        return len(self.ids) - self.num_prompt


@dataclass(frozen=True, slots=True)
class Job:
    """One text to be written."""

    prompt: int
    ids: tuple[int, ...]
    temperature: float
    """0 is greedy."""
    num_new: int
    """It ends after so many ids, or after an id that ends a text."""


@dataclass(frozen=True, slots=True)
class SharedLimits:
    """What both models of a pair can read."""

    vocab_size: int
    """Ids below this have a meaning and a row in both; output layers may have more rows."""
    context: int
    """Longest text, in ids."""


def shared_limits(target: LoadedModel, draft: LoadedModel) -> SharedLimits:
    """Find what both models can read.

    Raises:
        IncompatibleModelError: An output layer is too small for the tokenizer.
    """
    num_ids = len(target.tokenizer)
    sizes, contexts = [num_ids], [NO_LIMIT]
    for loaded in (target, draft):
        runner = ModelRunner(loaded.model)
        if runner.vocab_size < MIN_SHARE_OF_IDS * num_ids:
            raise IncompatibleModelError(
                f"{loaded.name} has an output layer of {runner.vocab_size} rows for a tokenizer of "
                f"{num_ids} ids; choose a model whose files belong together"
            )
        sizes.append(runner.vocab_size)
        contexts.append(runner.context or NO_LIMIT)
    return SharedLimits(min(sizes), min(contexts))


def encode_prompts(
    prompts: Sequence[str], target: LoadedModel, limits: SharedLimits, *, uses_chat: bool
) -> dict[int, tuple[int, ...]]:
    """Encode the prompts, by their index; those that cannot be read or leave no room are left out.

    Raises:
        RequestError: A chat template is asked for and there is none, or no prompt is left.
        PromptError: The chat template refuses a prompt.
    """
    tokenizer = target.tokenizer
    if uses_chat and not has_chat_template(tokenizer):
        raise RequestError(f"{target.name} has no chat template; leave out --chat")
    encoded = {}
    for index, prompt in enumerate(prompts):
        if uses_chat:
            ids = encode_turn(tokenizer, prompt, target.name)
        else:
            ids = tuple(tokenizer(prompt)["input_ids"])
        if ids and max(ids) < limits.vocab_size and len(ids) + MIN_ROOM <= limits.context:
            encoded[index] = ids
    if not encoded:
        raise RequestError(
            f"no prompt leaves room to write: both models read at most {limits.context} tokens, "
            "the answer included; give shorter prompts"
        )
    return encoded


def plan_jobs(
    encoded: dict[int, tuple[int, ...]], numbers: Sequence[int], new_tokens: int, context: int
) -> list[Job]:
    """Plan the texts of these numbers after each prompt; about as long prompts stand together.

    Half of the texts are written at T = 1; of the others the first is greedy, the rest are cool.
    """
    jobs = []
    for index, ids in encoded.items():
        room = min(new_tokens, context - len(ids))
        jobs += [Job(index, ids, _temperature(number), room) for number in numbers]
    return sorted(jobs, key=lambda job: len(job.ids))


def plan_held_out(
    encoded: dict[int, tuple[int, ...]], new_tokens: int, context: int, first: int = 0
) -> list[Job]:
    """Plan one text after each held-out prompt, every other one greedy; the first one if `first`
    is 1."""
    jobs = []
    for number, (index, ids) in enumerate(encoded.items(), start=first):
        jobs += plan_jobs({index: ids}, [number % 2], new_tokens, context)
    return sorted(jobs, key=lambda job: len(job.ids))


def _temperature(number: int) -> float:
    if number == 1:
        return 0.0
    return 0.7 if number % 2 else 1.0
