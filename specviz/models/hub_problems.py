"""What went wrong with the hub, as one sentence: the libraries below raise some twenty kinds."""

import errno
from collections.abc import Iterator

from huggingface_hub import constants, get_token
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from specviz.models.location import one_line
from specviz.texts import Message, message

OUT_OF_REACH = ("refusal.hub_offline", "refusal.hub_switched_off", "refusal.hub_slow")
"""Problems where files that were downloaded before may serve."""


def hub_problem(name: str, error: BaseException, revision: str = "main") -> Message:
    """Name the text that says why a hub model cannot be had.

    The first error in the chain of causes that says something decides: the hub's own library wraps
    a refused connection into "file not found".
    """
    for each in _chain(error):
        problem = _http_problem(name, each, revision) or _transport_problem(name, each)
        if problem is not None:
            return problem
    return message("refusal.not_loaded", model=name, reason=one_line(error))


def _chain(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _http_problem(name: str, error: BaseException, revision: str) -> Message | None:
    """The hub answered, but not with what was asked for."""
    if isinstance(error, GatedRepoError):
        is_signed_in = get_token() is not None
        id_ = "refusal.hub_not_let_in" if is_signed_in else "refusal.hub_gated"
        return message(id_, model=name, page=f"{constants.ENDPOINT}/{name}")
    if isinstance(error, RepositoryNotFoundError):
        return message("refusal.hub_missing", model=name)
    if isinstance(error, RevisionNotFoundError):
        return message("refusal.hub_revision", model=name, revision=revision)
    if isinstance(error, HfHubHTTPError):
        return message(
            "refusal.hub_status", model=name, reason=f"HTTP {error.response.status_code}"
        )
    return None


def _transport_problem(name: str, error: BaseException) -> Message | None:
    """Nothing answered, or not to the end. The kinds of the HTTP library are known by their names,
    since the hub's library changes from one such library to another between versions."""
    if isinstance(error, OfflineModeIsEnabled):
        return message("refusal.hub_switched_off", model=name)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return message("refusal.disk_full", model=name)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in kinds:
        return message("refusal.hub_slow", model=name)
    if kinds & {"ConnectError", "ProxyError"}:
        return message("refusal.hub_offline", model=name, reason=one_line(error))
    if kinds & {"NetworkError", "ProtocolError"} or "Consistency check failed" in str(error):
        return message("refusal.hub_broken", model=name, reason=one_line(error))
    return None
