"""Lets visitors to the gated models of the hub that they may read themselves.

One visitor's right brings files here that another has no right to, so what counts is never whether
the files are here: it is the hub's answer to the key of whoever asks, or to the host's own.
"""

import threading

from huggingface_hub import constants, get_token
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils._headers import build_hf_headers
from huggingface_hub.utils._http import get_session, hf_raise_for_status

from specviz.errors import ModelLoadError
from specviz.hub_key import HubKey, held_key, token_of
from specviz.models import hub_files
from specviz.models.hub_problems import hub_problem
from specviz.texts import message

REFUSED = (401, 403, 404)
"""How the hub answers who may not read a model that is there."""


class HubDoor:
    """Knows which models are gated, and asks the hub about everybody who wants one of them."""

    def __init__(self) -> None:
        self._gated: set[str] = set()
        self._lock = threading.Lock()

    def note_gated(self, name: str) -> None:
        """Let nobody to this model from now on whom the hub does not let in."""
        with self._lock:
            self._gated.add(name)

    def let_in(self, name: str) -> HubKey | None:
        """Ask whether the visitor who is being served may have a model.

        Returns:
            The key to download it with; None where the model is open or the host's own right
            serves.

        Raises:
            ModelLoadError: They are not signed in or have no access, or the hub does not say.
        """
        with self._lock:
            if name not in self._gated:
                return None
        if get_token() is not None and _may_read(name, None):
            return None
        key, page = held_key(), f"{constants.ENDPOINT}/{name}"
        if key is None:
            raise ModelLoadError(message("refusal.hub_sign_in", model=name, page=page))
        if not _may_read(name, key):
            raise ModelLoadError(message("refusal.hub_not_you", model=name, page=page))
        return key


def _may_read(name: str, key: HubKey | None) -> bool:
    """Whether the hub lets a key in, or without one the host.

    The hub library's own `auth_check` asks the same and waits for the answer without an end.
    """
    try:
        answer = get_session().get(
            f"{constants.ENDPOINT}/api/models/{name}/auth-check",
            headers=build_hf_headers(token=token_of(key)),
            timeout=hub_files.ANSWER_SECONDS,
        )
        hf_raise_for_status(answer)
    # The hub's library lets errors of the HTTP library through.
    except Exception as error:
        if isinstance(error, HfHubHTTPError) and error.response.status_code in REFUSED:
            return False
        raise ModelLoadError(hub_problem(name, error)) from error
    return True
