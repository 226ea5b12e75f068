"""Trains an EAGLE-3 head for a target, from names and prompts to a folder that `race` takes.

The target writes after the prompts, the head learns from the target's states where it wrote, and is
judged on what the target writes after prompts that were held out.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
import torch

from specviz.decoding.eagle3_head import Eagle3Head
from specviz.decoding.model_runner import ModelRunner
from specviz.distill.folder import WORK, digest_of, open_work, publish, stored_dtype
from specviz.distill.head_files import write_head
from specviz.distill.head_loss import score_head
from specviz.distill.head_texts import HeadTexts, choose_draft_ids
from specviz.distill.optimizers import NEW_RATES, Muon
from specviz.distill.prompts import read_split
from specviz.distill.request import FitRequest, check_fit_request, short_name
from specviz.distill.texts import (
    NO_LIMIT,
    SharedLimits,
    Text,
    encode_prompts,
    plan_held_out,
    plan_jobs,
)
from specviz.distill.training_run import TrainingRun
from specviz.distill.writing import Writer, write_jobs
from specviz.errors import IncompatibleModelError
from specviz.models.compatibility import check_rollback
from specviz.models.eagle_form import MIN_LAYERS, PLAIN_ROPE, HeadForm, default_taps
from specviz.models.loading import LoadedModel, ModelPool

NUM_STEPS = 5
"""Tokens ahead that a head is trained for."""
BATCH_TOKENS = 1024
SHARPNESS = 2.0
"""Of the first queries and keys beside those that torch begins with."""
WRITING_SHARE = 0.35
TRAINING_SHARE = 0.6
WARM_UP, CLIP, DECAY_SHARE = 20, 1.0, 0.5
TIMED_STEPS = 5


@dataclass(frozen=True, slots=True)
class HeadFit:
    """What training a head brought."""

    agreement: tuple[float, ...]
    """Of each step ahead: share of the held-out tokens at which head and target have one first
    choice."""
    num_tokens: int
    """Held-out tokens of the first step."""
    num_tokens_written: int
    num_steps: int
    draft_vocab_size: int
    num_parameters: int
    seconds: float


def fit_head(request: FitRequest, tell: Callable[[str], None]) -> HeadFit:
    """Train a head and write it, going on with an interrupted training.

    Args:
        tell: Takes a sentence on what is done.

    Raises:
        RequestError: A value, the prompts or the folder cannot be used.
        ModelLoadError: The target cannot be loaded.
        IncompatibleModelError: It has too few layers, or its states cannot be put back.
    """
    check_fit_request(request)
    if request.num_threads is not None:
        torch.set_num_threads(request.num_threads)
    learned, held_out = read_split(request.prompts_file, request.held_out_file)
    target = ModelPool(request.device, request.dtype).get(request.target)
    check_rollback(target)
    _check_layers(target)
    begun = monotonic()
    if open_work(request.folder, _plan(request, target, learned, held_out)):
        tell(f"Going on with the training that {request.folder / WORK} holds.")
    texts, judged = _let_write(request, target, learned, held_out)
    num_written = sum(text.num_written for text in texts)
    tell(f"The target wrote {num_written:,} tokens to learn from.")
    draft_ids = choose_draft_ids(texts, _num_rows(target), target.eos_ids)
    head = new_head(target.model, draft_ids, request.seed)
    run = _train(request, head, HeadTexts(target.model, texts, draft_ids, BATCH_TOKENS))
    head.requires_grad_(False)
    agreement, num_tokens = measure_head(
        head, HeadTexts(target.model, judged, draft_ids, BATCH_TOKENS)
    )
    dtype = stored_dtype(request.target)
    model = request.folder / WORK / "model"
    write_head(head, short_name(request.target), dtype, model)
    fit = HeadFit(
        agreement=agreement,
        num_tokens=num_tokens,
        num_tokens_written=num_written,
        num_steps=run.state.steps,
        draft_vocab_size=len(draft_ids),
        num_parameters=sum(weight.numel() for weight in head.parameters()),
        seconds=monotonic() - begun,
    )
    publish(request.folder, model, keeps_work=request.keeps_work)
    return fit


def new_head(model: Any, draft_ids: torch.Tensor, seed: int) -> Eagle3Head:
    """Make a head of one layer, as wide as the target, that begins near the target's last states.

    Its output layer and last norm begin as the target's own, and each slot looks at itself.
    """
    config = model.config.get_text_config()
    num_heads = config.num_attention_heads
    output: torch.Tensor = model.get_output_embeddings().weight
    form = HeadForm(
        hidden_size=config.hidden_size,
        target_hidden_size=config.hidden_size,
        num_heads=num_heads,
        num_kv_heads=getattr(config, "num_key_value_heads", None) or num_heads,
        head_dim=getattr(config, "head_dim", None) or config.hidden_size // num_heads,
        intermediate_size=getattr(config, "intermediate_size", None) or 4 * config.hidden_size,
        num_layers=1,
        vocab_size=len(output),
        draft_vocab_size=len(draft_ids),
        taps=default_taps(config.num_hidden_layers),
        rope=dict(PLAIN_ROPE),
        max_positions=config.max_position_embeddings,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        head = Eagle3Head(form, model)
    width = form.hidden_size
    with torch.no_grad():
        _look_at_itself(head, form)
        head.fc.weight.mul_(0.1)
        head.fc.weight[:, -width:] += torch.eye(width)
        head.lm_head.weight.copy_(output[draft_ids.to(output.device)].float())
        norm = getattr(model.base_model, "norm", None)
        if norm is not None and isinstance(getattr(norm, "weight", None), torch.Tensor):
            head.norm.weight.copy_(norm.weight.float())
    head.draft_ids = draft_ids
    return head.to(model.device)


def _look_at_itself(head: Eagle3Head, form: HeadForm) -> None:
    """Let each slot attend to itself at first, whose token says most about the next one: its key
    is its query, and both are long."""
    attention: Any = head.layers[0].self_attn
    heads = attention.q_proj.weight.view(form.num_kv_heads, -1, form.head_dim, 2 * form.hidden_size)
    heads.copy_(SHARPNESS * heads[:, :1].expand_as(heads))
    attention.k_proj.weight.copy_(heads[:, 0].reshape(attention.k_proj.weight.shape))


@torch.no_grad()
def measure_head(head: Eagle3Head, texts: HeadTexts) -> tuple[tuple[float, ...], int]:
    """Measure how often head and target agree, so many tokens ahead; and over how many tokens."""
    same = torch.zeros(NUM_STEPS, dtype=torch.int64)
    slots = torch.zeros(NUM_STEPS, dtype=torch.int64)
    for number in range(len(texts)):
        score = score_head(head, texts.batch(number), NUM_STEPS)
        same, slots = same + score.num_same.cpu(), slots + score.num_slots.cpu()
    return tuple((same / slots.clamp(min=1)).tolist()), int(slots[0])


def _train(request: FitRequest, head: Eagle3Head, texts: HeadTexts) -> TrainingRun:
    texts.read_all()
    matrices = [
        weight
        for name, weight in head.named_parameters()
        if weight.dim() == 2 and not name.startswith("lm_head")
    ]
    known = {id(weight) for weight in matrices}
    others = [weight for weight in head.parameters() if id(weight) not in known]
    muon, adam = NEW_RATES
    optimizers = [
        Muon(matrices, lr=muon, weight_decay=0.01),
        torch.optim.AdamW(others, lr=adam / head.form.hidden_size, betas=(0.9, 0.95)),
    ]
    run = TrainingRun(request.folder / WORK / "training", head, optimizers, texts.device)
    run.resume()

    def step(last: int | None) -> float:
        score = score_head(
            head, texts.batch(_number(run.state.steps, len(texts), request.seed)), NUM_STEPS
        )
        value = float(score.loss.detach())
        if not np.isfinite(value):
            raise IncompatibleModelError(
                f"training broke off at step {run.state.steps}: the loss is {value}; the target "
                "gives states or logits that are not numbers"
            )
        left = 1.0 if last is None else 1.0 - run.state.steps / last
        run.state.tokens += int(score.num_slots[0])
        run.update(score.loss, min(1.0, left / DECAY_SHARE), WARM_UP, CLIP)
        return value

    num_steps = request.num_steps
    if num_steps is None:
        num_steps = _steps_in_time(request, run, lambda: step(None))
    last = num_steps
    run.advance("training", last, lambda: step(last), 0)
    run.save()
    return run


def _steps_in_time(request: FitRequest, run: TrainingRun, step: Callable[[], float]) -> int:
    """Return how many steps there is time for; a resumed run takes as many as it had begun with."""
    path = run.folder / "steps.json"
    if not path.exists():
        run.advance("first steps", TIMED_STEPS, step, 0)
        per_step = run.state.seconds / max(1, run.state.steps)
        run.save()
        wished = round(60 * TRAINING_SHARE * request.minutes / per_step)
        path.write_text(json.dumps(max(TIMED_STEPS, wished)))
    return int(json.loads(path.read_text()))


def _number(step: int, num_batches: int, seed: int) -> int:
    """The batch of a step: each epoch goes through all of them in an order of its own."""
    epoch, place = divmod(step, num_batches)
    return int(np.random.default_rng([seed, epoch]).permutation(num_batches)[place])


def _let_write(
    request: FitRequest, target: LoadedModel, learned: Sequence[str], held_out: Sequence[str]
) -> tuple[list[Text], list[Text]]:
    """Let the target write what is learned from, and what is judged by."""
    context = ModelRunner(target.model).context or NO_LIMIT
    limits = SharedLimits(min(_num_rows(target), len(target.tokenizer)), context)
    writer = Writer(target.model, limits.vocab_size, target.eos_ids)
    encoded = [
        encode_prompts(part, target, limits, uses_chat=request.uses_chat)
        for part in (learned, held_out)
    ]
    folder, length = request.folder / WORK, request.new_tokens
    judged, _ = write_jobs(
        writer,
        plan_held_out(encoded[1], length, context),
        request.seed,
        folder / "texts-0",
        "held out",
    )
    first = plan_jobs(encoded[0], range(1), length, context)
    texts, seconds = write_jobs(writer, first, request.seed + 1, folder / "texts-1", "writing")
    allowed = 60 * request.minutes * WRITING_SHARE / max(seconds, 1e-3)
    num_texts = request.num_texts or max(1, int(allowed))
    more = plan_jobs(encoded[0], range(1, num_texts), length, context)
    others, _ = write_jobs(writer, more, request.seed + 2, folder / "texts-2", "writing more")
    return texts + others, judged


def _plan(
    request: FitRequest, target: LoadedModel, learned: Sequence[str], held_out: Sequence[str]
) -> dict[str, Any]:
    def digest(prompts: Sequence[str]) -> str:
        return hashlib.sha1(json.dumps(list(prompts)).encode()).hexdigest()[:16]

    return {
        "--head": request.head,
        "target": digest_of(target.model),
        "prompts": digest(learned),
        "held-out prompts": digest(held_out),
        **request.options,
    }


def _num_rows(target: LoadedModel) -> int:
    return len(target.model.get_output_embeddings().weight)


def _check_layers(target: LoadedModel) -> None:
    num_layers = target.model.config.get_text_config().num_hidden_layers
    if num_layers < MIN_LAYERS:
        raise IncompatibleModelError(
            f"{target.name} has {num_layers} layers, and an EAGLE-3 head takes states at three "
            f"places of at least {MIN_LAYERS}; take a deeper target"
        )
