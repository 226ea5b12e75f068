"""Measures how far a model's logits move when tokens are read in a block instead of one by one."""

from transformers import PreTrainedModel

from specviz.decoding.model_runner import ModelRunner

NUM_TOKENS = 24
BLOCK = 6
STRIDE = 37


def measure_logit_noise(model: PreTrainedModel) -> float:
    """Return the largest absolute difference of any logit between both ways of reading.

    A verification reads several tokens at once and a plain step reads one; in floating point the
    two round differently. Where the target's two best logits are closer than about twice this, two
    honest greedy runs may part. The text is a fixed run of ids, so one model on one device has one
    answer.
    """
    blocks, singles = ModelRunner(model), ModelRunner(model)
    length = min(NUM_TOKENS, blocks.context or NUM_TOKENS) // BLOCK * BLOCK
    text = [(STRIDE * place + 1) % blocks.vocab_size for place in range(length)]
    largest = 0.0
    for end in range(BLOCK, length + 1, BLOCK):
        together = blocks.forward(text[:end], BLOCK)
        for row in range(BLOCK):
            alone = singles.forward(text[: end - BLOCK + row + 1], 1)
            largest = max(largest, float((together[row] - alone[0]).abs().max()))
    return largest
