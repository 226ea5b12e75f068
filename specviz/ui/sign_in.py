"""Signing in to the hub on a page that runs on Spaces: the button, and the key that a call brings.

Gradio keeps who is signed in in a signed cookie of the visitor's own browser. Each call carries
it, and the key is held while that call is answered.
"""

from collections.abc import Callable, Generator, Iterator
from typing import Any

import gradio as gr

from specviz.hub_key import HubKey, each_holding, holding

Call = Callable[[Any], Any]


def sign_in_button() -> gr.LoginButton:
    """Make the button that signs a visitor in, or out again."""
    return gr.LoginButton(size="sm", elem_id="sv-sign-in")


def key_of(token: gr.OAuthToken | None) -> HubKey | None:
    """The key in what Gradio says of a visitor; None where nobody is signed in."""
    return None if token is None else HubKey(token.token)


def taking_key(call: Call) -> Call:
    """Let a function that a page calls be answered with the visitor's key."""

    def keyed(sent: Any, token: gr.OAuthToken | None = None) -> Any:
        with holding(key_of(token)):
            return call(sent)

    keyed.__name__, keyed.__doc__ = call.__name__, call.__doc__
    return keyed


def streaming_with_key(
    stream: Callable[[gr.Request], Generator[str]],
) -> Callable[..., Iterator[str]]:
    """Let what streams to a visitor go on with their key."""

    def keyed(request: gr.Request, token: gr.OAuthToken | None = None) -> Iterator[str]:
        yield from each_holding(key_of(token), stream(request))

    return keyed
