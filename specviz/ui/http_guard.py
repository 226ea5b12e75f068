"""Stands before the page: closed addresses, checked bodies, headers, errors in a sentence.

A layer of ASGI outside of everything that the web framework does, so that no answer goes by it. It
also says where a visitor is (`visitors.served_address`), and answers at `/health`.
"""

import ipaddress
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import gradio as gr

from specviz.ui.http_bodies import BadBody, BodyChecks, too_long
from specviz.ui.http_routes import HEALTH, ROUTES, SIGN_IN_ROUTES, Body, find_route
from specviz.ui.page_limits import LOCAL, PageLimits
from specviz.ui.visitors import serving_address

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Health = Callable[[], dict[str, Any]]
"""Says how the server stands; it serves races where `is_ready` is true."""

HUB_FRAMES = ("https://huggingface.co", "https://*.huggingface.co", "https://*.hf.space")
"""Whose pages may show this one within theirs, beside itself."""
_log = logging.getLogger(__name__)


class HttpGuard:
    """What one page is guarded by; `wrap` puts it before an app."""

    def __init__(
        self,
        page: gr.Blocks,
        limits: PageLimits = LOCAL,
        *,
        health: Health | None = None,
        frames: tuple[str, ...] = (),
        takes_sign_in: bool = False,
        is_behind_proxy: bool = False,
    ) -> None:
        """`frames` are more origins whose pages may show this one. `is_behind_proxy` trusts what
        the header X-Forwarded-For says of where a visitor is."""
        self._bodies = BodyChecks(page, limits)
        self._health = health or (lambda: {"is_ready": True})
        self._routes = ROUTES + (SIGN_IN_ROUTES if takes_sign_in else ())
        self._is_behind_proxy = is_behind_proxy
        ancestors = " ".join(("'self'", *HUB_FRAMES, *frames))
        policy = f"frame-ancestors {ancestors}; object-src 'none'; base-uri 'self'"
        self._headers = (
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"content-security-policy", policy.encode("ascii")),
        )

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        """Put the guard before an app while it starts, when nobody can ask for anything yet."""
        app.middleware_stack = self.wrap(app.middleware_stack)
        yield

    def wrap(self, app: App) -> App:
        """Return an app that asks the guard first."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            answer = _Answer(send, self._headers)
            with serving_address(self._place(scope)):
                await self._answer(app, scope, receive, answer)

        return guarded

    async def _answer(self, app: App, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        route = find_route(scope["method"], scope["path"], self._routes)
        if scope["method"] == "OPTIONS":
            await app(scope, receive, answer.send)
        elif route is None:
            await answer.say(404, "there is nothing at this address")
        elif scope["path"] == HEALTH:
            health = self._health()
            await answer.give(200 if health["is_ready"] else 503, health)
        elif route.body is Body.NONE:
            await self._pass_on(app, scope, receive, answer, failed=500)
        else:
            try:
                content = await _read_body(scope, receive, self._bodies.most_bytes(route.body))
                self._bodies.check(route.body, content)
            except BadBody as error:
                await answer.say(error.status, str(error))
            else:
                again = _once_more(content, receive)
                await self._pass_on(app, scope, again, answer, failed=400)

    async def _pass_on(
        self, app: App, scope: Scope, receive: Receive, answer: "_Answer", failed: int
    ) -> None:
        """Let the framework answer; where it fails at a body, that is the sender's error."""
        answer.failed = failed
        try:
            await app(scope, receive, answer.send)
        except Exception:  # noqa: BLE001  nobody is above who could say it
            _log.exception("a request failed", extra={"path": _shown(scope["path"])})
            if not answer.has_begun:
                await answer.say(failed, "the server could not do this; nothing was changed")

    def _place(self, scope: Scope) -> str:
        """Where a visitor is, noted as the client of the request too."""
        client = scope.get("client") or ("", 0)
        if self._is_behind_proxy:
            named = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
            address = _nearest_public(b",".join(named).decode("latin-1"))
            if address:
                client = (address, client[1])
                scope["client"] = client
        return str(client[0])


class _Answer:
    """Sends one answer with the guard's headers."""

    def __init__(self, send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        self._send, self._headers = send, headers
        self.has_begun = False
        self.failed = 500
        """The status where the framework says that it failed."""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            own = {name for name, _ in self._headers}
            kept = [each for each in message.get("headers", ()) if each[0].lower() not in own]
            message["headers"] = [*kept, *self._headers]
            if message["status"] == 500:
                message["status"] = self.failed
        await self._send(message)

    async def say(self, status: int, sentence: str) -> None:
        await self.give(status, {"detail": sentence})

    async def give(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def guard_settings(guard: HttpGuard) -> dict[str, Any]:
    """Return the arguments of `launch` that put a guard before the page."""
    lifespan: Callable[[Any], AbstractAsyncContextManager[None]] = guard.lifespan
    return {"app_kwargs": {"lifespan": lifespan, "docs_url": None, "redoc_url": None}}


def _shown(path: str) -> str:
    """The part of an address that says what was asked, without ids."""
    return "/".join(path.split("/")[:4])[:80]


async def _read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """Read a body that is not longer than that. Raises: BadBody."""
    headers = dict(scope["headers"])
    if not headers.get(b"content-type", b"").lower().startswith(b"application/json"):
        raise BadBody("the body must be JSON, with the content type application/json", 415)
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length[:12]) > most:
        raise too_long(most)
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadBody("the body ended too early")
        content += message.get("body", b"")
        if len(content) > most:
            raise too_long(most)
        if not message.get("more_body", False):
            return bytes(content)


def _once_more(content: bytes, receive: Receive) -> Receive:
    """Give a body that was read again, and then whatever comes."""
    is_given = False

    async def again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": content, "more_body": False}

    return again


def _nearest_public(forwarded: str) -> str | None:
    """The last public address of X-Forwarded-For: those before it, a visitor can make up, and those
    after it are proxies of the host's own network. The last of all where none is public."""
    known: list[ipaddress.IPv4Address | ipaddress.IPv6Address] = []
    for text in forwarded.split(","):
        try:
            known.append(ipaddress.ip_address(text.strip()))
        except ValueError:
            continue
    public = [each for each in known if each.is_global]
    chosen = (public or known)[-1:]
    return str(chosen[0]) if chosen else None
