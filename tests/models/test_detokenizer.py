"""Token texts and the growing output, for byte-level and sentence-like tokenizers."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import TEXT, byte_tokenizer, sentence_tokenizer
from transformers import PreTrainedTokenizerFast

from specviz.models.detokenizer import MAX_PROMPT_CONTEXT, REPLACEMENT, IncrementalDetokenizer

CHARACTERS = st.characters(exclude_characters=REPLACEMENT, exclude_categories=["Cs"])
"""All but the replacement sign, which at the end of an output is taken for half a character."""
TOKENIZERS = {"bytes": byte_tokenizer, "sentences": sentence_tokenizer}


def joined_pieces(
    tokenizer: PreTrainedTokenizerFast, ids: list[int], prompt_ids: Sequence[int] = ()
) -> str:
    detokenizer = IncrementalDetokenizer(tokenizer)
    detokenizer.reset(prompt_ids)
    return "".join(detokenizer.append(token_id) for token_id in ids)


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize(
    "text",
    [TEXT, "🦊🦊🦊", "naïve", "東京", " two  spaces", "the foxes", "👩‍👩‍👧‍👦 family", "a\n\n b\t"],
)
def test_pieces_joined_are_the_decoded_text(text: str, name: str) -> None:
    tokenizer = TOKENIZERS[name]()
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert joined_pieces(tokenizer, ids) == tokenizer.decode(ids, skip_special_tokens=True)


@settings(max_examples=200, deadline=None)
@given(st.text(CHARACTERS, max_size=20), st.sampled_from(sorted(TOKENIZERS)), st.data())
def test_any_text_with_special_tokens_in_between(text: str, name: str, data: st.DataObject) -> None:
    tokenizer = TOKENIZERS[name]()
    ids = tokenizer.encode(text, add_special_tokens=False)
    starts = [0, *(i for i, token in enumerate(ids) if str(tokenizer.decode([token])).isascii())]
    ids.insert(data.draw(st.sampled_from(starts)), tokenizer.eos_token_id)
    assert joined_pieces(tokenizer, ids) == tokenizer.decode(ids, skip_special_tokens=True)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_bytes_at_all(data: st.DataObject) -> None:
    """Broken characters included: only a last one that is not complete may be missing."""
    tokenizer = byte_tokenizer()
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=24))
    expected = tokenizer.decode(ids, skip_special_tokens=True)
    joined = joined_pieces(tokenizer, ids)
    assert expected.startswith(joined)
    assert set(expected[len(joined) :]) <= {REPLACEMENT}


def test_a_character_appears_with_the_token_that_completes_it() -> None:
    tokenizer = byte_tokenizer()
    ids = tokenizer.encode("🦊x")
    detokenizer = IncrementalDetokenizer(tokenizer)
    pieces = [detokenizer.append(token_id) for token_id in ids]
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
        assert IncrementalDetokenizer(tokenizer).append(token) == text.rstrip(REPLACEMENT)


def test_a_new_output_starts_from_nothing() -> None:
    tokenizer = byte_tokenizer()
    detokenizer = IncrementalDetokenizer(tokenizer)
    detokenizer.append(tokenizer.encode("🦊")[0])
    detokenizer.reset(())
    assert detokenizer.append(tokenizer.encode("x")[0]) == "x"


def test_tokens_by_themselves() -> None:
    tokenizer = sentence_tokenizer()
    detokenizer = IncrementalDetokenizer(tokenizer)
    vocab = tokenizer.get_vocab()
    assert detokenizer.token_text(vocab["▁fox"]) == " fox"
    assert detokenizer.token_text(vocab["fox"]) == "fox"
    assert detokenizer.token_text(vocab["</s>"]) == "</s>", "end marks are shown, not hidden"
    assert detokenizer.append(vocab["</s>"]) == ""
    assert detokenizer.token_text(len(tokenizer) + 5) == f"[{len(tokenizer) + 5}]"
    bytes_ = IncrementalDetokenizer(byte_tokenizer())
    assert bytes_.token_text(byte_tokenizer().encode("🦊")[0]) == REPLACEMENT


PROMPTS = ["the fox", "a fox ", "naïve 東京🦊", "the fox\n", "🦊🦊", " ", "x" * 80]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("text", [" the foxes", "the", "東京 🦊", " ", "\n a"])
def test_an_output_goes_on_where_its_prompt_ends(text: str, prompt: str, name: str) -> None:
    """Decoded alone, "▁the" loses its space: the word would stick to the prompt's last."""
    tokenizer = TOKENIZERS[name]()
    prompt_ids = tokenizer.encode(prompt, add_special_tokens=False)
    if name == "sentences":
        prompt_ids.insert(0, tokenizer.bos_token_id)
    ids = tokenizer.encode(text, add_special_tokens=False)
    before = tokenizer.decode(prompt_ids, skip_special_tokens=True)
    whole = tokenizer.decode(prompt_ids + ids, skip_special_tokens=True)
    assert joined_pieces(tokenizer, ids, prompt_ids) == whole.removeprefix(before)


def test_a_first_word_keeps_its_space_behind_marks_and_pieces_that_show_nothing() -> None:
    tokenizer = sentence_tokenizer()
    vocab = tokenizer.get_vocab()
    word = [vocab["▁fox"]]
    for marks in ([], [vocab["</s>"], vocab["<s>"]], [vocab["<s>"]] * 9):
        assert joined_pieces(tokenizer, word, [vocab["▁the"], *marks]) == " fox"
    assert joined_pieces(tokenizer, word, [vocab["<s>"]]) == "fox", "nothing stands before it"


def test_a_prompt_that_shows_nothing_for_long_costs_no_search_of_all_of_it() -> None:
    tokenizer = sentence_tokenizer()
    vocab = tokenizer.get_vocab()
    asked: list[int] = []
    decode = tokenizer.decode

    class Watched:
        def decode(self, ids: list[int], **options: bool) -> str:
            asked.append(len(ids))
            return str(decode(ids, **options))

    detokenizer = IncrementalDetokenizer(Watched())
    detokenizer.reset([vocab["▁the"]] + [vocab["<s>"]] * 5000)
    assert max(asked) == MAX_PROMPT_CONTEXT
