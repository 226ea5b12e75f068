"""Tokenizers that differ, joined two and two, and texts on which that shows."""

from itertools import permutations

from tiny_models import byte_tokenizer, sentence_tokenizer, word_tokenizer
from transformers import PreTrainedTokenizerFast

from specviz.models.text_bridge import TextBridge

LARGE = byte_tokenizer()
OTHER = byte_tokenizer(text="zebras zigzag through quizzes " * 9)
SENTENCE, WORDS = sentence_tokenizer(), word_tokenizer()
GIVE_BACK = {"large": LARGE, "other": OTHER, "sentence": SENTENCE}
PAIRS = list(permutations(GIVE_BACK, 2))
HOSTILE = {
    "emoji": "the fox 🦊🦊 and 👩‍👩‍👧 the 🏳️‍🌈 end",
    "combining": "the cafe\u0301 a\u0301\u0323 of n\u0303andu",
    "Chinese": "狐狸说：你好，世界。the fox 東京は大きい",
    "line ends": "the fox\r\n\r\n  said:\n\n\n\ta fox\r\n",
    "spaces": "the   fox    a  \u00a0 fox ",
    "names of specials": "the <|other|> fox <0x0A> and [UNK] the ##ox",
    "digits": "1234567 the 3.14159 fox 2,718",
}


def bridge(target: PreTrainedTokenizerFast, draft: PreTrainedTokenizerFast) -> TextBridge:
    eos = [each.eos_token_id for each in (target, draft)]
    return TextBridge(target, draft, *(frozenset({x} if x is not None else ()) for x in eos))
