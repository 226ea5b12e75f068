"""One text between two tokenizers, token by token: nothing of it is lost, doubled or made up."""

from typing import Any

import pytest
from other_tokenizers import GIVE_BACK, HOSTILE, LARGE, OTHER, PAIRS, SENTENCE, WORDS, bridge
from tiny_models import byte_tokenizer
from transformers import PreTrainedTokenizerFast

from specviz.models.cut_text import TextCutter
from specviz.models.shared_tokens import (
    ORDINARY,
    are_cut_alike,
    share_cut_alike,
    shared_tokens,
    tokens_a_token,
)
from specviz.models.text_bridge import MAX_OPEN
from specviz.models.token_bytes import token_bytes


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_what_the_draft_goes_on_with_is_cut_as_the_target_would(
    names: tuple[str, str], text: str
) -> None:
    """At each token of the text, half characters among them, the draft goes on with the rest."""
    target, draft = (GIVE_BACK[name] for name in names)
    ids = TextCutter(target).begin(HOSTILE[text])
    whole = TextCutter(target).text(ids)
    for num_ids in range(1, len(ids)):
        between = bridge(target, draft)
        read = between.read(ids[:num_ids])
        known = TextCutter(draft).text(read)
        assert known == TextCutter(target).text(ids[: num_ids - len(between.half)])
        rest = TextCutter(draft).go_on(whole[len(known) :])
        assert between.write(rest, is_ended=False) == ids[num_ids:]


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_a_long_text_that_grows_is_read_as_if_it_were_read_at_once(names: tuple[str, str]) -> None:
    target, draft = (GIVE_BACK[name] for name in names)
    text = ORDINARY + "".join(HOSTILE.values())
    ids = TextCutter(target).begin(text)
    assert len(ids) > 3 * MAX_OPEN
    growing = bridge(target, draft)
    for num_ids in range(1, len(ids) + 1):
        read = growing.read(ids[:num_ids])
    assert read == bridge(target, draft).read(ids) == draft(text)["input_ids"]
    num_kept = [len(growing._open), growing._max_open]
    assert num_kept[0] <= num_kept[1] < len(ids), "most of it is settled"


def test_another_text_is_read_anew() -> None:
    between, cut = bridge(LARGE, OTHER), TextCutter(LARGE).begin
    between.read(cut("the fox said"))
    assert TextCutter(OTHER).text(between.read(cut("once upon a time"))) == "once upon a time"
    assert TextCutter(OTHER).text(between.read(cut("once"))) == "once"


def test_half_a_character_that_the_draft_goes_on_with_otherwise_is_dropped() -> None:
    ids = TextCutter(LARGE).begin("the ü")[:-1]
    between = bridge(LARGE, OTHER)
    assert TextCutter(OTHER).text(between.read(ids)) == "the "
    assert len(between.half) == 1
    assert between.write(OTHER.encode("fox"), is_ended=False) == []
    assert between.write(OTHER.encode("üx"), is_ended=False) == TextCutter(LARGE).begin("üx")[1:]


def test_half_a_character_of_the_draft_is_not_handed_on() -> None:
    between = bridge(LARGE, OTHER)
    between.read(LARGE.encode("the fox"))
    for num_bytes in (1, 2, 3):
        drafted = OTHER.encode(" a🦊")[: -4 + num_bytes]
        assert between.write(drafted, is_ended=False) == LARGE.encode(" a")
    drafted = [*OTHER.encode(" a"), OTHER.encode("🦊")[1], *OTHER.encode(" fox")]
    assert between.write(drafted, is_ended=True) == LARGE.encode(" a"), "and so is what follows it"


def test_an_end_becomes_the_target_s_end() -> None:
    between = bridge(LARGE, SENTENCE)
    between.read(LARGE.encode("the fox"))
    drafted = TextCutter(SENTENCE).go_on(" said.")
    plain = LARGE.encode(" said.")
    assert between.write(drafted, is_ended=False) == plain
    assert between.write(drafted, is_ended=True) == [*plain, LARGE.eos_token_id]
    assert between.write([], is_ended=True) == [LARGE.eos_token_id]
    assert SENTENCE.eos_token_id in between.draft_eos <= between.draft_stops
    assert SENTENCE.unk_token_id in between.draft_stops


def test_specials_become_those_of_the_same_name_or_role_or_nothing() -> None:
    old = OTHER._tokenizer
    more = PreTrainedTokenizerFast(
        tokenizer_object=type(old).from_str(old.to_str()), eos_token="<|end|>"
    )
    more.add_special_tokens({"additional_special_tokens": ["<|turn|>"]})
    theirs = more.convert_tokens_to_ids("<|turn|>")
    target: Any = PreTrainedTokenizerFast(
        tokenizer_object=type(LARGE._tokenizer).from_str(LARGE._tokenizer.to_str()),
        eos_token="<|end|>",
    )
    target.add_special_tokens({"additional_special_tokens": ["<|only|>", "<|turn|>"]})
    only, turn = target.convert_tokens_to_ids(["<|only|>", "<|turn|>"])
    ids = [turn, *LARGE.encode("the fox"), only, *LARGE.encode("a fox"), turn]
    expected = [theirs, *more.encode("the fox"), *more.encode("a fox"), theirs]
    assert bridge(target, more).read(ids) == expected
    sentence = bridge(SENTENCE, more).read([1, *TextCutter(SENTENCE).begin("the fox"), 2])
    assert sentence == [*more.encode("the fox"), more.eos_token_id], "begin: nothing; end: end"


def test_names_of_specials_in_a_text_are_letters() -> None:
    """The draft has a token <|end|>, but somebody wrote these letters."""
    between = bridge(SENTENCE, LARGE)
    ids = TextCutter(SENTENCE).begin("the <|end|> fox </s>")
    read = between.read(ids)
    assert LARGE.eos_token_id not in read
    assert TextCutter(LARGE).text(read) == "the <|end|> fox </s>"
    drafted = TextCutter(LARGE).go_on(" </s> <|end|>")
    written = between.write(drafted, is_ended=False)
    assert TextCutter(SENTENCE).text([*ids, *written]) == "the <|end|> fox </s> </s> <|end|>"
    assert SENTENCE.eos_token_id not in written


def test_a_tokenizer_that_does_not_give_back_its_text_writes_what_it_can() -> None:
    between = bridge(LARGE, WORDS)
    between.read(LARGE.encode("Once the fox"))
    drafted = TextCutter(WORDS).begin("said the fox")
    assert between.write(drafted, is_ended=False) == LARGE.encode(" said the fox")
    other = bridge(WORDS, LARGE)
    other.read(TextCutter(WORDS).begin("the fox"))
    write = lambda text: other.write(LARGE.encode(text), is_ended=False)  # noqa: E731
    ids_of = WORDS.convert_tokens_to_ids
    assert write(" said the fox") == ids_of(["said", "the", "fox"])
    assert write(" said The fox") == ids_of(["said"]), "letters that became small"
    assert write(" said 🦊") == ids_of(["said"]), "what it does not know"
    assert write("es said") == [], "a word that goes on"


def test_what_stands_before_every_text_is_the_draft_s_own() -> None:
    assert bridge(LARGE, WORDS).read(LARGE.encode("the fox")) == [
        WORDS.cls_token_id,
        *WORDS.convert_tokens_to_ids(["the", "fox"]),
    ]


def test_bytes_of_tokens() -> None:
    large, sentence = token_bytes(LARGE), token_bytes(SENTENCE)
    assert large is not None
    assert sentence is not None
    for tokenizer, pieces in ((LARGE, large), (SENTENCE, sentence)):
        for text in HOSTILE.values():
            ids = TextCutter(tokenizer).begin(text)
            assert b"".join(pieces[x] for x in ids).decode().removeprefix(" ") == text
    assert LARGE.eos_token_id not in large
    assert token_bytes(WORDS) is None


def test_tokens_are_shared_by_their_bytes() -> None:
    shared = shared_tokens(LARGE, SENTENCE)
    the, the_ours = (x.convert_tokens_to_ids(y) for x, y in ((SENTENCE, "▁the"), (LARGE, "Ġthe")))
    assert the_ours is None or shared[the] == the_ours
    letter = SENTENCE.convert_tokens_to_ids("x")
    assert shared[letter] == LARGE.convert_tokens_to_ids("x"), "not the byte that stands in for it"
    assert len(set(shared.values())) == len(shared)
    assert shared_tokens(LARGE, WORDS) == {}


def test_how_alike_two_tokenizers_cut() -> None:
    assert share_cut_alike(LARGE, LARGE) == 1.0
    assert are_cut_alike(LARGE, LARGE)
    ours, near, far = (byte_tokenizer(400, ORDINARY[:n]) for n in (None, 500, 60))
    shares = [share_cut_alike(ours, each) for each in (near, far)]
    assert 1 > shares[0] > shares[1] > 0
    assert share_cut_alike(LARGE, WORDS) == 0.0
    assert tokens_a_token(LARGE, SENTENCE) > 1 > tokens_a_token(SENTENCE, LARGE)
