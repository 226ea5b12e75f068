"""The addresses that a page answers at; every other one of the web framework is closed.

Gradio opens routes that this page has no use for: uploads, a proxy, monitoring, code edits. What is
not named here is answered with 404, also what a later version adds.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

HEALTH = "/health"
_API = "/gradio_api"
_ID = r"[A-Za-z0-9_-]{1,64}"


class Body(StrEnum):
    """What is sent to an address."""

    NONE = "none"
    EVENT = "event"
    """Gradio's event: a function by its number, with its inputs."""
    PROGRAM = "program"
    """The inputs of the door for programs, as a list."""
    NAMED = "named"
    """The same by their names."""
    CALL = "call"
    """A call of one of the page's server functions."""
    END = "end"
    """The end of an event."""


@dataclass(frozen=True, slots=True)
class Route:
    """An address with what may be sent there."""

    method: str
    pattern: re.Pattern[str]
    body: Body = Body.NONE


def _get(*patterns: str) -> tuple[Route, ...]:
    return tuple(Route("GET", re.compile(pattern)) for pattern in patterns)


def _post(pattern: str, body: Body) -> Route:
    return Route("POST", re.compile(pattern), body)


ROUTES = (
    *_get(
        "/",
        HEALTH,
        "/config/?",
        "/(assets|static|svelte)/.+",
        r"/(favicon\.ico|robots\.txt|manifest\.json|theme\.css|pwa_icon(/[0-9]+)?)",
        f"{_API}/(startup-events|theme.css|app_id/?|info/?|openapi.json)",
        f"{_API}/(user/?|token/?|login_check/?)",
        f"{_API}/file=.+",
        f"{_API}/heartbeat/{_ID}",
        f"{_API}/queue/(data|status)",
        f"{_API}/call/race/{_ID}",
    ),
    _post(f"{_API}/queue/join", Body.EVENT),
    _post(f"{_API}/run/predict/?", Body.EVENT),
    _post(f"{_API}/call/race/?", Body.PROGRAM),
    _post(f"{_API}/call/v2/race/?", Body.NAMED),
    _post(f"{_API}/component_server/?", Body.CALL),
    _post(f"{_API}/(cancel|reset/?)", Body.END),
)
SIGN_IN_ROUTES = _get("/login/(huggingface|callback)/?", "/logout/?")
"""Open where visitors may sign in to the hub."""


def find_route(method: str, path: str, routes: tuple[Route, ...]) -> Route | None:
    """Return the route of a request, or None where it is closed; HEAD is answered as GET is."""
    asked = "GET" if method == "HEAD" else method
    found = (each for each in routes if each.method == asked and each.pattern.fullmatch(path))
    return next(found, None)
