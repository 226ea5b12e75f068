"""What bytes of a text the tokens of a tokenizer stand for, whatever it writes them down as.

GPT-2 and its kin write each byte as one visible sign ("Ġthe" is " the"), SentencePiece writes
spaces as "▁" and rare bytes as "<0xE6>". Pieces of two tokenizers are compared by their bytes.
"""

import json
import re
from typing import Any

_PLAIN = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
"""Bytes that byte-level tokenizers write as the character of that number; the others follow from
U+0100 on, in order (Radford et al. 2019, the GPT-2 tokenizer)."""
_BYTE_OF_SIGN = {chr(byte): byte for byte in _PLAIN} | {
    chr(0x100 + index): byte
    for index, byte in enumerate(byte for byte in range(0x100) if byte not in _PLAIN)
}
_SPACE = "\u2581"
_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def token_bytes(tokenizer: Any) -> dict[int, bytes] | None:
    """Return the bytes of every ordinary token by its id; special tokens stand for none and are
    left out. Ids rise, but for those of single bytes that stand in for missing characters: they
    come last.

    None where the tokenizer writes its pieces in another way, and what they stand for depends on
    their neighbours (WordPiece), or is not known.
    """
    kinds = _decoder_kinds(tokenizer)
    if kinds is None:
        return None
    added = getattr(tokenizer, "added_tokens_decoder", {})
    result: dict[int, bytes] = {}
    pieces = tokenizer.get_vocab().items()
    for piece, token_id in sorted(pieces, key=lambda x: (bool(_BYTE_PIECE.fullmatch(x[0])), x[1])):
        if token_id in added:
            if not added[token_id].special:
                result[token_id] = added[token_id].content.encode()
            continue
        data = _of_signs(piece) if "ByteLevel" in kinds else _of_sentence_piece(piece)
        if data:
            result[token_id] = data
    return result


def _of_signs(piece: str) -> bytes | None:
    try:
        return bytes(_BYTE_OF_SIGN[sign] for sign in piece)
    except KeyError:
        return None


def _of_sentence_piece(piece: str) -> bytes:
    found = _BYTE_PIECE.fullmatch(piece)
    return bytes([int(found[1], 16)]) if found else piece.replace(_SPACE, " ").encode()


def _decoder_kinds(tokenizer: Any) -> set[str] | None:
    """The steps that turn pieces into text; None where they are not those of one of the two."""
    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    if decoder is None:
        return None
    stated = json.loads(decoder.__getstate__())
    steps = stated.get("decoders", [stated])
    kinds = {step["type"] for step in steps}
    if kinds == {"ByteLevel"}:
        return kinds
    replaces = any(step.get("pattern", {}).get("String") == _SPACE for step in steps)
    return kinds if "Metaspace" in kinds or replaces else None
