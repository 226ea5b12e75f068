"""From an EAGLE-3 head's files to its form and checked weights, whatever dialect they are in.

Sizes come from the tensors' shapes, since configs of heads on the hub are often wrong about them;
norms and biases from which tensors there are; only what no shape says from the config.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch

from specviz.errors import ModelLoadError
from specviz.models.eagle_files import HeadFiles
from specviz.models.eagle_form import (
    FINAL,
    PLAIN_ROPE,
    PLAIN_THETA,
    HeadForm,
    default_taps,
)
from specviz.texts import Message, message

ROPE_TYPES = ("default", "linear", "llama3", "yarn")
"""Rotations that depend on the position alone."""
FIRST = "layers.0."
OTHER_KINDS = (
    ("peagle", "P-EAGLE"),
    ("dflash", "DFlash"),
    ("dspark", "DSpark"),
    ("domino", "Domino"),
    ("medusa", "Medusa"),
    ("mlpspeculator", "MLP speculator"),
    ("eagle3deepseekv2", "EAGLE-3 with multi-head latent attention (MLA)"),
)
"""Parts of the names that configs give to heads of other kinds, in small letters and digits."""


class TargetShape(NamedTuple):
    """What a head's form depends on of its target."""

    name: str
    num_layers: int
    hidden_size: int
    vocab_size: int
    """Rows of its output layer."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadedHead:
    """The files of a head, and what was made of them for each target that it ran with."""

    files: HeadFiles
    built: WeakKeyDictionary[Any, Any] = field(default_factory=WeakKeyDictionary)

    @property
    def name(self) -> str:
        """What it was asked for by."""
        return self.files.name


def head_form(files: HeadFiles, target: TargetShape) -> HeadForm:
    """Find what a head looks like beside its target, as its files state it.

    Raises:
        ModelLoadError: It is of another kind, quantised, or its tensors do not fit each other or
            the target.
    """
    _refuse_other_kinds(files)
    tensors, config = files.tensors, files.config
    inner = layer_config(config)
    query = _tensor(files, f"{FIRST}self_attn.q_proj.weight")
    width = query.shape[1] // 2
    num_heads = _count(files, inner, "num_attention_heads")
    head_dim = _head_dim(files, query.shape[0], num_heads)
    keys = _tensor(files, f"{FIRST}self_attn.k_proj.weight").shape[0]
    theirs = config.get("target_hidden_size") or target.hidden_size
    fuse = tensors.get("fc.weight")
    num_taps = 1 if fuse is None else fuse.shape[1] // theirs
    if query.shape[1] != 2 * width or (fuse is not None and num_taps * theirs != fuse.shape[1]):
        raise _odd(files, "fc.weight" if fuse is not None else "q_proj", target)
    output = tensors.get("lm_head.weight")
    draft_ids = draft_ids_of(files, target)
    return HeadForm(
        hidden_size=width,
        target_hidden_size=theirs,
        num_heads=query.shape[0] // head_dim,
        num_kv_heads=keys // head_dim,
        head_dim=head_dim,
        intermediate_size=_tensor(files, f"{FIRST}mlp.gate_proj.weight").shape[0],
        num_layers=1 + max(int(found) for found in _layer_numbers(tensors)),
        vocab_size=_vocab_size(files, target),
        draft_vocab_size=len(draft_ids),
        taps=_taps(files, target, num_taps),
        rope=_rope(files, inner),
        max_positions=int(inner.get("max_position_embeddings") or 2048),
        rms_eps=float(inner.get("rms_norm_eps") or 1e-5),
        fuses=fuse is not None,
        norm_before_residual=_norms_residual(config),
        feeds_norm=config.get("norm_output") is True,
        has_embedding_norm=f"{FIRST}input_layernorm.weight" in tensors,
        has_last_norm="norm.weight" in tensors,
        has_tap_norms="fc_norm.0.weight" in tensors,
        has_joint_norm="input_norm.weight" in tensors,
        has_head_norms=f"{FIRST}self_attn.q_norm.weight" in tensors,
        has_biases=f"{FIRST}self_attn.q_proj.bias" in tensors,
        has_output_bias=f"{FIRST}self_attn.o_proj.bias" in tensors,
        owns_embedding="embed_tokens.weight" in tensors,
        owns_output=output is not None,
    )


def head_weights(files: HeadFiles, form: HeadForm) -> dict[str, torch.Tensor]:
    """Return the weights by the names of `Eagle3Head`."""
    weights = {key: value for key, value in files.tensors.items() if key not in ("d2t", "t2d")}
    for number in range(1, form.num_layers):
        # SGLang calls the one norm of a further layer as that of the first layer's states.
        other = weights.pop(f"layers.{number}.hidden_norm.weight", None)
        if other is not None:
            weights.setdefault(f"layers.{number}.input_layernorm.weight", other)
    return weights


def draft_ids_of(files: HeadFiles, target: TargetShape) -> torch.Tensor:
    """Return the target's id of each token of the draft vocabulary: `[draft_vocab]` int64, rising.

    Files hold differences: (0, 2, 2) stands for the ids 0, 3, 4.

    Raises:
        ModelLoadError: The table is none, or speaks of ids that the target lacks.
    """
    offsets, mask = files.tensors.get("d2t"), files.tensors.get("t2d")
    output = files.tensors.get("lm_head.weight")
    size = target.vocab_size if output is None else len(output)
    if offsets is None:
        if size > target.vocab_size:
            raise _bad_table(files, message("refusal.head_ids_beyond", target=target.name))
        return torch.arange(size)
    if offsets.dtype not in (torch.int64, torch.int32) or offsets.dim() != 1:
        kind = str(offsets.dtype).removeprefix("torch.")
        raise _bad_table(files, message("refusal.head_ids_dtype", found=kind))
    if len(offsets) != size:
        raise _bad_table(files, message("refusal.head_ids_count", found=len(offsets), rows=size))
    ids = torch.arange(size) + offsets.long()
    if bool((ids[1:] <= ids[:-1]).any()) or int(ids[0]) < 0:
        raise _bad_table(files, message("refusal.head_ids_order"))
    if int(ids[-1]) >= target.vocab_size:
        raise _bad_table(files, message("refusal.head_ids_beyond", target=target.name))
    if mask is not None and not torch.equal(mask.nonzero()[:, 0], ids):
        raise _bad_table(files, message("refusal.head_ids_mask"))
    return ids


def other_kind(config: Mapping[str, Any]) -> str | None:
    """Name the kind of a head that is no EAGLE-3 head by its config; None where that says nothing
    against it."""
    called = [config.get("speculators_model_type"), *(config.get("architectures") or [])]
    words = [re.sub(r"[^a-z0-9]", "", str(word).lower()) for word in called if word]
    kind = next((name for part, name in OTHER_KINDS for word in words if part in word), None)
    eagle = config.get("eagle_config") or {}
    return "P-EAGLE" if (eagle.get("parallel_draft_step") or 1) > 1 else kind


def _refuse_other_kinds(files: HeadFiles) -> None:
    tensors, kind = files.tensors, other_kind(files.config)
    if "mask_hidden" in tensors:
        kind = "P-EAGLE"
    if any("kv_a_proj" in key for key in tensors):
        kind = "EAGLE-3 with multi-head latent attention (MLA)"
    if kind is None and f"{FIRST}hidden_norm.weight" not in tensors:
        kind = "EAGLE-1" if "fc.weight" in tensors else "?"
    if kind is not None:
        raise ModelLoadError(message("refusal.head_kind", head=files.name, kind=kind))
    floating = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
    weights = [value for key, value in tensors.items() if key not in ("d2t", "t2d")]
    if files.is_quantised or any(weight.dtype not in floating for weight in weights):
        raise ModelLoadError(message("refusal.head_quantised", head=files.name))


def layer_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where the config speaks of the head's layers: speculators has a part of its own for them."""
    inner = config.get("transformer_layer_config")
    return inner if isinstance(inner, dict) else config


def _taps(files: HeadFiles, target: TargetShape, num_taps: int) -> tuple[int, ...]:
    """Find the boundaries that are tapped.

    Ids at the top level are boundaries. Those of `eagle_config` number layers whose output is meant
    where they begin with 1, unless they reach the last layer: 1, 3, 4 of 8 layers are 2, 4, 5.
    """
    config = files.config
    eagle = config.get("eagle_config") or {}
    if "fc.weight" not in files.tensors:
        return (FINAL,)
    ids = config.get("eagle_aux_hidden_state_layer_ids")
    inner = eagle.get("eagle_aux_hidden_state_layer_ids")
    if ids is None and inner:
        is_boundary = max(inner) == target.num_layers or inner[0] != 1
        ids = inner if is_boundary else [number + 1 for number in inner]
    taps = tuple(default_taps(target.num_layers) if not ids else map(int, ids))
    if len(taps) != num_taps:
        raise ModelLoadError(
            message("refusal.head_num_taps", head=files.name, found=len(taps), wanted=num_taps)
        )
    return taps


def _rope(files: HeadFiles, inner: Mapping[str, Any]) -> dict[str, Any]:
    """The head's own rotation; a config that names none means the plain one of base 10,000."""
    given = inner.get("rope_parameters") or inner.get("rope_scaling") or {}
    rope = {key: value for key, value in given.items() if key != "type"}
    rope.setdefault("rope_type", given.get("type", PLAIN_ROPE["rope_type"]))
    rope.setdefault("rope_theta", inner.get("rope_theta") or PLAIN_THETA)
    if rope["rope_type"] not in ROPE_TYPES:
        raise ModelLoadError(
            message(
                "refusal.head_rope",
                head=files.name,
                found=str(rope["rope_type"]),
                allowed=", ".join(ROPE_TYPES),
            )
        )
    return rope


def _norms_residual(config: Mapping[str, Any]) -> bool:
    """Speculators' early configs left out what was always so; all others mean the contrary."""
    is_speculators = "speculators_model_type" in config
    return bool(config.get("norm_before_residual", is_speculators))


def _head_dim(files: HeadFiles, num_rows: int, num_heads: int) -> int:
    norm = files.tensors.get(f"{FIRST}self_attn.q_norm.weight")
    head_dim = num_rows // num_heads if norm is None else len(norm)
    if head_dim < 2 or num_rows % head_dim or head_dim % 2:
        raise ModelLoadError(
            message("refusal.head_heads", head=files.name, rows=num_rows, heads=num_heads)
        )
    return head_dim


def _count(files: HeadFiles, inner: Mapping[str, Any], key: str) -> int:
    found = inner.get(key)
    if not isinstance(found, int) or found < 1:
        raise ModelLoadError(
            message("refusal.head_config", head=files.name, key=key, found=repr(found))
        )
    return found


def _vocab_size(files: HeadFiles, target: TargetShape) -> int:
    own = files.tensors.get("embed_tokens.weight")
    return target.vocab_size if own is None else len(own)


def _layer_numbers(tensors: Mapping[str, torch.Tensor]) -> list[str]:
    return [found[1] for key in tensors if (found := re.match(r"layers\.(\d+)\.", key))]


def _tensor(files: HeadFiles, key: str) -> torch.Tensor:
    if key not in files.tensors:
        raise ModelLoadError(message("refusal.tensors_lack", model=files.name, tensor=key, n=1))
    return files.tensors[key]


def _odd(files: HeadFiles, tensor: str, target: TargetShape) -> ModelLoadError:
    return ModelLoadError(
        message("refusal.head_width", head=files.name, tensor=tensor, target=target.name)
    )


def _bad_table(files: HeadFiles, reason: Message) -> ModelLoadError:
    return ModelLoadError(message("refusal.head_ids", head=files.name, reason=reason))
