"""Tiny random models of many shapes, made from their configs, and tiny tokenizers."""

from collections.abc import Callable
from functools import cache

import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoModelForCausalLM,
    FalconH1Config,
    Gemma2Config,
    GPT2Config,
    GPTNeoXConfig,
    GraniteMoeHybridConfig,
    Lfm2Config,
    LlamaConfig,
    MistralConfig,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen3_5TextConfig,
    Qwen3Config,
)

VOCAB = 48
WINDOW = 12
"""Sliding window of the Mistral and Gemma 2 shapes, shorter than the texts of the tests."""
CONTEXT = 128

_DEEP = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "bos_token_id": 0,
    "eos_token_id": None,
    "pad_token_id": None,
    "tie_word_embeddings": False,
}

CONFIGS: dict[str, Callable[[], PretrainedConfig]] = {
    "llama": lambda: LlamaConfig(**_DEEP),
    "qwen3": lambda: Qwen3Config(**_DEEP, head_dim=8),
    "gpt2": lambda: GPT2Config(
        vocab_size=VOCAB,
        n_embd=32,
        n_layer=3,
        n_head=4,
        n_positions=CONTEXT,
        bos_token_id=0,
        eos_token_id=None,
    ),
    "gpt_neox": lambda: GPTNeoXConfig(
        **{k: v for k, v in _DEEP.items() if k != "num_key_value_heads"}
    ),
    "gemma2": lambda: Gemma2Config(
        **_DEEP, head_dim=8, sliding_window=WINDOW, query_pre_attn_scalar=8
    ),
    "mistral": lambda: MistralConfig(**_DEEP, sliding_window=WINDOW),
}
SHAPES = tuple(CONFIGS)

_MIXED = {**_DEEP, "pad_token_id": 0}
_TURNS = ["linear_attention", "full_attention"] * 2
_MIXER = {"mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1}

HYBRID_CONFIGS: dict[str, Callable[[], PretrainedConfig]] = {
    "qwen3_5": lambda: Qwen3_5TextConfig(
        **_MIXED,
        head_dim=8,
        layer_types=_TURNS,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
    ),
    "lfm2": lambda: Lfm2Config(**_MIXED, layer_types=["conv", "full_attention"] * 2),
    "falcon_h1": lambda: FalconH1Config(**_MIXED, **_MIXER, mamba_d_ssm=32, mamba_chunk_size=16),
    "granite": lambda: GraniteMoeHybridConfig(
        **_MIXED,
        **_MIXER,
        mamba_expand=1,
        mamba_chunk_size=16,
        layer_types=_TURNS,
        num_local_experts=0,
        shared_intermediate_size=48,
        position_embedding_type="rope",
    ),
}
HYBRIDS = tuple(HYBRID_CONFIGS)
"""Shapes with recurrent or convolution layers beside attention."""


@cache
def tiny_model(
    shape: str, seed: int = 0, *, noise: float = 0.0, dtype: torch.dtype = torch.float64
) -> PreTrainedModel:
    """A random model; with `noise` its weights are those of the same seed, shaken a little.

    Weights are wide, so that the argmax depends on the text and drafts are not trivially right.
    """
    return random_model((CONFIGS | HYBRID_CONFIGS)[shape](), seed, noise=noise, dtype=dtype)


def random_model(
    config: PretrainedConfig,
    seed: int = 0,
    *,
    noise: float = 0.0,
    dtype: torch.dtype = torch.float64,
) -> PreTrainedModel:
    """Build the model of `config` with normally distributed weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    weights, shaking = (torch.Generator().manual_seed(seed + offset) for offset in (1, 1001))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.35, generator=weights)
                shake = torch.randn(parameter.shape, generator=shaking, dtype=parameter.dtype)
                parameter += noise * shake
    return model.eval().requires_grad_(False)


def prompts(num_prompts: int, vocab_size: int = VOCAB, seed: int = 0) -> list[list[int]]:
    """Random prompts of 1 to 20 tokens; every other one repeats itself, for prompt lookup."""
    generator = torch.Generator().manual_seed(seed)
    result = []
    for number in range(num_prompts):
        length = 1 + (7 * number + 4) % 20
        ids = torch.randint(2, vocab_size, (length,), generator=generator).tolist()
        result.append(ids * 2 if number % 2 else ids)
    return result


TEXT = (
    "Once upon a time there was a fox. The fox said: naïve café, Übermut, 東京, 🦊!\n"
    "def add(a, b):\n    return a + b\n  two  spaces\tand a tab 3.14159 + 2,718 = ?\n"
)


@cache
def byte_tokenizer(vocab_size: int = 300, text: str = TEXT) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer: any id sequence decodes, characters fall apart into bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|end|>", clean_up_tokenization_spaces=False
    )


@cache
def sentence_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer as Llama 2's: words begin with ▁, rare characters fall back to bytes."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    words = ["▁", "▁a", "▁fox", "▁the", "fox", "es", "a", "f", "o", "x", "t", "h", "e", "s", "."]
    vocab = {piece: number for number, piece in enumerate([*pieces, *words])}
    tokenizer = Tokenizer(
        models.BPE(
            vocab=vocab, merges=[("f", "o"), ("fo", "x")][:0], unk_token="<unk>", byte_fallback=True
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(content=" ", left=1),
        ]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        clean_up_tokenization_spaces=False,
    )


@cache
def word_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer as BERT's: words fall apart into ##pieces, spaces are lost and put back, letters
    become small, and what it does not know is [UNK]."""
    letters = [chr(letter) for letter in range(ord("a"), ord("z") + 1)]
    whole = ["[UNK]", "[CLS]", "[SEP]", *letters, "the", "fox", "said", "once", ".", ",", "!"]
    pieces = [*whole, *(f"##{piece}" for piece in [*letters, "ox", "aid"])]
    vocab = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
