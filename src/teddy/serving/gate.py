"""Limits of HTTP requests: size of a body, and time to send it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from fastapi.responses import JSONResponse

# Seconds that a client has to send a body.
_BODY_SECONDS = 30.0


class Gate:
    """ASGI middleware: refuses bodies that are too large or slow, and measures every request."""

    def __init__(self, app: Any, limit: int, measured: Callable[[str, int, float], None]) -> None:
        self.app, self.limit, self.measured = app, limit, measured

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._answer(scope, receive, noted)
        finally:  # errors of the service are measured, too
            self.measured(scope["path"], status, time.perf_counter() - started)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await self._body(scope, receive)
        except OverflowError:
            text = f"the body is larger than {self.limit} bytes, expected a smaller request"
            await problem(413, text)(scope, receive, send)
            return
        except TimeoutError:
            text = f"the body took more than {_BODY_SECONDS:.0f} seconds to arrive"
            await problem(408, text, {"connection": "close"})(scope, receive, send)
            return
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Any:
            return parts.pop() if parts else await receive()

        await self.app(scope, again, send)

    async def _body(self, scope: Any, receive: Any) -> bytes:
        """Return the whole body, or raise OverflowError if it is too large."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 20 or int(length) > self.limit:
            raise OverflowError
        body, more = bytearray(), True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False) and message["type"] == "http.request"
            if len(body) > self.limit:
                raise OverflowError
        return bytes(body)


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return an answer to a request that is refused: one sentence."""
    text = " ".join(detail.split())[:500].encode("utf-8", "replace").decode()  # lone surrogates
    return JSONResponse({"detail": text}, status, headers)
