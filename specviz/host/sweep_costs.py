"""What the file of a sweep says of models and device: sizes, and what passes of the target cost."""

from collections.abc import Iterable
from pathlib import Path

from specviz.bench.sweep_record import CheckCosts, ModelSize, PassTime
from specviz.models.catalogue import shipped_folder
from specviz.models.description import describe_model
from specviz.models.dtypes import QUANTIZED_BYTES

_BYTES = {"float64": 8.0, "float32": 4.0, "bfloat16": 2.0, "float16": 2.0}


def model_sizes(
    names: Iterable[str], dtype: str, quantize: str | None = None
) -> tuple[ModelSize, ...]:
    """Give the sizes of those models whose files lie in a folder that is known or named.

    Raises: ModelLoadError for a shipped model without its files, or a file that cannot be read.
    """
    num_bytes = QUANTIZED_BYTES[quantize] if quantize else _BYTES.get(dtype)
    sizes = []
    for name in dict.fromkeys(names):
        folder = shipped_folder(name) or Path(name).expanduser()
        if num_bytes is None or not (folder / "config.json").is_file():
            continue
        count = describe_model(name, "", folder).num_parameters
        if count:
            sizes.append(ModelSize(name, count, round(count * num_bytes)))
    return tuple(sizes)


def measure_check_costs(
    target: str, device: str, dtype: str, quantize: str | None = None, compile_: str = "auto"
) -> CheckCosts:
    """Time passes of the target over 1 to 256 tokens, and of 1 to 16 texts at once.

    Raises: ModelLoadError where it cannot be loaded.
    """
    # Imported here, so that help and refusals do not wait for torch.
    from specviz.decoding.forms import Compile, Forms
    from specviz.decoding.pass_times import LENGTHS, batch_times, pass_times
    from specviz.models.loading import ModelPool
    from specviz.models.threads import choose_threads

    pool = ModelPool(device, dtype, quantize=quantize)
    model = pool.get(target).model
    if pool.device.type == "cpu":
        # As every race of it does.
        choose_threads([model])
    context = getattr(model.config, "max_position_embeddings", None)
    form = Forms.on(pool.device, Compile(compile_)).of_race([model], ())
    lengths = [x for x in LENGTHS if context is None or x + 64 <= context]
    by_tokens = pass_times(model, form.make_runner, lengths)
    form.give_back()
    by_batch = batch_times(model)
    return CheckCosts(
        tuple(PassTime(1, tokens, ms) for tokens, ms in by_tokens.items()),
        tuple(PassTime(batch, tokens, ms) for (batch, tokens), ms in by_batch.items()),
    )
