"""Lets the published packages make small EAGLE-3 heads, for `tests/race/test_independent_heads.py`.

    python tests/independent_heads.py tests/fixtures/heads

runs where `speculators` and `nvidia-modelopt` are installed, neither of which specviz needs: each
head is built, saved by its package's own export, and run by its package over made-up states. What
came of that is stored beside the files, and the test holds our loader and our step to it. Nothing
of specviz is imported here.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

WIDTH, INNER, HEADS, KV_HEADS, HEAD_DIM = 16, 24, 4, 2, 8
VOCAB, LAYERS, SLOTS = 48, 8, 9
DRAFT_IDS = (1, 2, 5, 7, 8, 11, 14, 15, 19, 21, 22, 26, 30, 33, 34, 37, 40, 41, 44, 47)
TAPS = (2, 4, 5)


def target() -> LlamaForCausalLM:
    """A random target for the packages to draft for."""
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        max_position_embeddings=256,
        tie_word_embeddings=False,
    )
    torch.manual_seed(1)
    return LlamaForCausalLM(config).float().eval()


def randomise(module: torch.nn.Module, seed: int) -> None:
    """Give every weight a value that shows, the norms too: they begin as ones, which hide where
    they stand."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight.copy_(1 + 0.4 * noise if "norm" in name else 0.3 * noise)


def inputs(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tapped states `[SLOTS, 3 * WIDTH]`, and the token that follows each."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(SLOTS, len(TAPS) * WIDTH, generator=generator)
    return features, torch.randint(VOCAB, (SLOTS,), generator=generator)


def table() -> tuple[torch.Tensor, torch.Tensor]:
    """`d2t` and `t2d`."""
    ids, mask = torch.tensor(DRAFT_IDS), torch.zeros(VOCAB, dtype=torch.bool)
    mask[ids] = True
    return ids - torch.arange(len(ids)), mask


def store(
    folder: Path, package: str, seed: int, found: tuple[torch.Tensor, torch.Tensor], **more: Any
) -> None:
    """Write what the package made of the inputs.

    Args:
        found: Logits `[SLOTS, draft_vocab]` where all slots are true, and those `[draft_vocab]` of
            the last slot where its state is the head's own.
    """
    features, ids = inputs(seed)
    tensors = {"features": features, "ids": ids, "logits": found[0], "own_logits": found[1]}
    tensors = {key: value.detach().contiguous().clone() for key, value in tensors.items()}
    save_file(tensors | more.pop("tensors", {}), folder / "reference.st")
    content = {"package": package, "version": version(package), **more}
    (folder / "reference.json").write_text(json.dumps(content, indent=1) + "\n")


def of_speculators(folder: Path, target_folder: Path, seed: int, kind: str, **flags: Any) -> None:
    """Make a head of vllm-project/speculators, with layers of Llama or of Qwen3."""
    from speculators.config import SpeculatorsConfig, VerifierConfig
    from speculators.models.eagle3 import Eagle3DraftModel, Eagle3SpeculatorConfig
    from speculators.proposals.greedy import GreedyTokenProposalConfig
    from transformers import AutoConfig

    layer = AutoConfig.for_model(
        kind,
        vocab_size=VOCAB,
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=1,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        max_position_embeddings=256,
        rms_norm_eps=1e-5,
    )
    layer._attn_implementation = "eager"
    config = Eagle3SpeculatorConfig(
        transformer_layer_config=layer,
        draft_vocab_size=len(DRAFT_IDS),
        eagle_aux_hidden_state_layer_ids=list(TAPS),
        speculators_config=SpeculatorsConfig(
            algorithm="eagle3",
            proposal_methods=[GreedyTokenProposalConfig(speculative_tokens=3)],
            default_proposal_method="greedy",
            verifier=VerifierConfig.from_config(target().config, name_or_path=str(target_folder)),
        ),
        **flags,
    )
    head = Eagle3DraftModel(config).float().eval()
    randomise(head, seed)
    head.d2t, head.t2d = table()
    rows: list[torch.Tensor] = []
    head.lm_head.register_forward_hook(lambda _, args, output: rows.append(output[0]))
    features, ids = inputs(seed)
    with torch.no_grad():
        head(features[None], ids[None], torch.zeros(1, SLOTS, dtype=torch.long), ttt_steps=2)
    head.config.speculators_config.verifier.name_or_path = "a-target"
    head.save_pretrained(folder)
    (folder / "config.py").unlink(missing_ok=True)  # The package's own source.
    # Row s of the second step stands behind the true slots up to s.
    store(folder, "speculators", seed, (rows[0], rows[1][SLOTS - 2]), reading="stated")


def of_modelopt(folder: Path, seed: int) -> None:
    """Make a head of NVIDIA's Model Optimizer."""
    import modelopt.torch.speculative as mtsp
    from modelopt.torch.export import export_speculative_decoding
    from modelopt.torch.speculative.config import EAGLE3_DEFAULT_CFG

    model, embedding = target(), target().get_input_embeddings().weight.detach()
    config = json.loads(json.dumps(EAGLE3_DEFAULT_CFG["config"], default=str))
    config["eagle_architecture_config"] |= {
        "num_hidden_layers": 1,
        "intermediate_size": INNER,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "draft_vocab_size": len(DRAFT_IDS),
    }
    config["eagle_use_torch_compile"] = False
    mtsp.convert(model, [("eagle", config)])
    head = model.eagle_module
    randomise(head, seed)
    head.d2t = table()[0]
    head._maybe_init_rope()
    features, ids = inputs(seed)
    embedded = embedding[ids][None]
    mask = torch.full((SLOTS, SLOTS), -torch.inf).triu(1)[None, None]
    with torch.no_grad():
        fused = head.fc(features)[None]
        _, _, logits, _ = model._eagle_forward(fused, embedded, mask, None)
        cache, most = DynamicCache(), SLOTS - 1
        _, states, _, _ = model._eagle_forward(
            fused[:, :most], embedded[:, :most], mask[..., :most, :most], None, cache
        )
        _, _, own, _ = model._eagle_forward(
            states[:, -1:], embedded[:, most:], torch.zeros(1, 1, 1, SLOTS), None, cache
        )
    export_speculative_decoding(model, export_dir=str(folder))
    store(
        folder,
        "nvidia-modelopt",
        seed,
        (logits[0], own[0, 0]),
        # It trains with a second norm and the plain rotation, and exports neither.
        reading="plain-rope double-norm",
        tensors={"embedding": embedding.clone()},
    )


def main() -> None:
    """Make all heads."""
    place = Path(sys.argv[1])
    target_folder = place / "target"
    target().save_pretrained(target_folder)
    makers = {
        "speculators-llama": lambda folder: of_speculators(folder, target_folder, 3, "llama"),
        "speculators-qwen3": lambda folder: of_speculators(
            folder,
            target_folder,
            4,
            "qwen3",
            norm_before_residual=True,
            fc_norm=True,
            norm_output=True,
        ),
        "modelopt": lambda folder: of_modelopt(folder, 5),
    }
    for name, make in makers.items():
        folder = place / name
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
    for file in target_folder.iterdir():
        file.unlink()
    target_folder.rmdir()


if __name__ == "__main__":
    main()
