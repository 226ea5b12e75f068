"""Makes packets small for the wire: Gradio streams text as it is, quotes escaped, nothing deflated.

`assets/js/core/packing.js` is the other side.
"""

import zlib
from base64 import b64encode

WORTH_CHARS = 600
"""A shorter packet goes as it is."""


def pack(packet: str) -> str:
    """Deflate a packet into base64; what does not begin with `{` is deflated."""
    if len(packet) < WORTH_CHARS:
        return packet
    return b64encode(zlib.compress(packet.encode())).decode("ascii")
