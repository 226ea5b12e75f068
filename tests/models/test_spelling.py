"""Token texts and the growing output, for byte-level and sentence-like tokenizers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import TEXT, byte_tokenizer, sentence_tokenizer
from transformers import PreTrainedTokenizerFast

from specviz.models.spelling import REPLACEMENT, TokenSpeller

CHARACTERS = st.characters(exclude_characters=REPLACEMENT, exclude_categories=["Cs"])
"""All but the replacement sign, which at the end of an output is taken for half a character."""
TOKENIZERS = {"bytes": byte_tokenizer, "sentences": sentence_tokenizer}


def spelled(tokenizer: PreTrainedTokenizerFast, ids: list[int]) -> str:
    speller = TokenSpeller(tokenizer)
    return "".join(speller.append(token_id) for token_id in ids)


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize(
    "text",
    [TEXT, "🦊🦊🦊", "naïve", "東京", " two  spaces", "the foxes", "👩‍👩‍👧‍👦 family", "a\n\n b\t"],
)
def test_pieces_joined_are_the_decoded_text(text: str, name: str) -> None:
    tokenizer = TOKENIZERS[name]()
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert spelled(tokenizer, ids) == tokenizer.decode(ids, skip_special_tokens=True)


@settings(max_examples=200, deadline=None)
@given(st.text(CHARACTERS, max_size=20), st.sampled_from(sorted(TOKENIZERS)), st.data())
def test_any_text_with_special_tokens_in_between(text: str, name: str, data: st.DataObject) -> None:
    tokenizer = TOKENIZERS[name]()
    ids = tokenizer.encode(text, add_special_tokens=False)
    starts = [0, *(i for i, token in enumerate(ids) if str(tokenizer.decode([token])).isascii())]
    ids.insert(data.draw(st.sampled_from(starts)), tokenizer.eos_token_id)
    assert spelled(tokenizer, ids) == tokenizer.decode(ids, skip_special_tokens=True)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_bytes_at_all(data: st.DataObject) -> None:
    """Broken characters included: only a last one that is not complete may be missing."""
    tokenizer = byte_tokenizer()
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=24))
    expected = tokenizer.decode(ids, skip_special_tokens=True)
    joined = spelled(tokenizer, ids)
    assert expected.startswith(joined)
    assert set(expected[len(joined) :]) <= {REPLACEMENT}


def test_a_character_appears_with_the_token_that_completes_it() -> None:
    tokenizer = byte_tokenizer()
    ids = tokenizer.encode("🦊x")
    speller = TokenSpeller(tokenizer)
    pieces = [speller.append(token_id) for token_id in ids]
    assert pieces == ["", "", "", "🦊", "x"]


def test_what_is_complete_in_a_token_is_not_held_back() -> None:
    """A token can hold whole letters and the first byte of another."""
    tokenizer = byte_tokenizer()
    mixed = [
        token
        for token in range(len(tokenizer))
        if len(text := tokenizer.decode([token])) > 1 and text.endswith(REPLACEMENT)
    ]
    assert mixed
    for token in mixed:
        text = tokenizer.decode([token])
        assert TokenSpeller(tokenizer).append(token) == text.rstrip(REPLACEMENT)


def test_a_new_output_starts_from_nothing() -> None:
    tokenizer = byte_tokenizer()
    speller = TokenSpeller(tokenizer)
    speller.append(tokenizer.encode("🦊")[0])
    speller.reset()
    assert speller.append(tokenizer.encode("x")[0]) == "x"


def test_tokens_by_themselves() -> None:
    tokenizer = sentence_tokenizer()
    speller = TokenSpeller(tokenizer)
    vocab = tokenizer.get_vocab()
    assert speller.spell(vocab["▁fox"]) == " fox"
    assert speller.spell(vocab["fox"]) == "fox"
    assert speller.spell(vocab["</s>"]) == "</s>", "end marks are shown, not hidden"
    assert speller.append(vocab["</s>"]) == ""
    assert speller.spell(len(tokenizer) + 5) == f"[{len(tokenizer) + 5}]"
    bytes_ = TokenSpeller(byte_tokenizer())
    assert bytes_.spell(byte_tokenizer().encode("🦊")[0]) == REPLACEMENT
