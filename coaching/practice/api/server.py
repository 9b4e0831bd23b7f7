"""A Messages API server on a real socket.

It serves people without a key, tests (with scripts and faults), and benchmarks (at a fixed rate). It binds to
localhost by default, is independent of the rest of the project and of the coach, and stores nothing on disk.
"""

import asyncio
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web

from coaching.practice.api.batches import BatchBook, described, result_lines
from coaching.practice.api.cache import PromptCache
from coaching.practice.api.delivery import Gates, Pace, break_connection
from coaching.practice.api.errors import ApiError, error_body
from coaching.practice.api.exchange import Exchanges
from coaching.practice.api.prefix import walk_units
from coaching.practice.api.records import ReceivedRequest, RequestLog
from coaching.practice.api.responses import (
    answer_early,
    bytes_response,
    error_response,
    json_response,
    read_body,
)
from coaching.practice.api.sending import Sender
from coaching.practice.api.signatures import SignatureBook
from coaching.practice.api.tokens import count_units
from coaching.practice.api.validation import (
    MAX_REQUEST_BYTES,
    check_headers,
    check_request,
    parse_body,
)
from coaching.practice.api.wire import whole_message
from coaching.practice.faults.fault import Fault, FaultBook
from coaching.practice.script import Reply, ScriptBook

HUMAN_TOKENS_PER_SECOND = 50.0
WAIT_SECONDS = 30.0
KEPT_REQUESTS = 1000
KEPT_BYTES = 1 << 30
_SHUTDOWN_SECONDS = 0.5

_Result = TypeVar("_Result")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class MessagesServer(ABC):
    """A Messages API server: `async with …Server() as server: server.url`.

    `tokens_per_second` 0 streams without delay. `answer` replaces the default answer to requests without a
    script. `clock` is only for the prompt cache. With an `api_key`, any other is refused. `keeps_bodies` is
    for tests that check what was sent; without it, `requests` has only a line per request.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tokens_per_second: float = HUMAN_TOKENS_PER_SECOND,
        first_token_seconds: float = 0.0,
        chunk_characters: int = 12,
        cache_minimum_tokens: int = 1024,
        api_key: str = "",
        keeps_bodies: bool = False,
        kept_requests: int = KEPT_REQUESTS,
        clock: Callable[[], float] = time.monotonic,
        answer: Callable[[dict[str, Any]], Reply] | None = None,
    ) -> None:
        self.faults = FaultBook()
        self.scripts = ScriptBook()
        self.gates = Gates()
        self.batches = BatchBook()
        self.log = RequestLog(kept=kept_requests, kept_bytes=KEPT_BYTES if keeps_bodies else 0)
        self._api_key = api_key
        self._host = host
        self._port = port
        pace = Pace(tokens_per_second=tokens_per_second, first_token_seconds=first_token_seconds)
        self._sender = Sender(gates=self.gates, pace=pace, chunk_characters=chunk_characters, log=self.log)
        self._exchanges = Exchanges(
            scripts=self.scripts,
            faults=self.faults,
            cache=PromptCache(cache_minimum_tokens, clock),
            signatures=SignatureBook(),
            answer=answer or self.default_answer,
            answer_aside=self.answer_aside,
        )
        self._thread: ThreadPoolExecutor | None = None
        self._runner: web.AppRunner | None = None
        self._open_requests: dict[int, web.Request] = {}
        self._is_closing = False

    @abstractmethod
    def default_answer(self, body: dict[str, Any]) -> Reply:
        """Answer a validated request that has no script."""

    def answer_aside(self, _body: dict[str, Any]) -> tuple[Reply, Fault | None] | None:
        """Answer a request that no script and no fault of a conversation is meant for; None for others."""
        return None

    @property
    def url(self) -> str:
        """Return the base URL; the server must be open."""
        return f"http://{self._host}:{self._port}"

    @property
    def requests(self) -> list[ReceivedRequest]:
        """Return the newest requests, oldest first."""
        return self.log.all()

    def script(self, replies: Iterable[Reply | str], key: str = "") -> None:
        """Queue replies; with a `key` only for requests whose newest user text contains it."""
        self.scripts.push(replies, key)

    def release(self, gate: str) -> None:
        """Release the streams that wait at a gate (`Hold`)."""
        self.gates.release(gate)

    async def reached(self, gate: str, seconds: float = WAIT_SECONDS) -> None:
        """Return when a stream waits at a gate; raises `TimeoutError`."""
        async with asyncio.timeout(seconds):
            await self.gates.reached(gate)

    async def wait_until(
        self, condition: Callable[[list[ReceivedRequest]], bool], seconds: float = WAIT_SECONDS
    ) -> list[ReceivedRequest]:
        """Return the records as soon as `condition` holds for them; raises `TimeoutError`."""
        return await self.log.wait_until(condition, seconds)

    async def open(self) -> None:
        """Bind and serve; `url` is set afterwards."""
        # One thread, since an exchange is checked against those before it.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="exchange")
        app = web.Application(client_max_size=MAX_REQUEST_BYTES + 1)
        app.router.add_post("/v1/messages", self._guarded(self._create_message))
        app.router.add_post("/v1/messages/count_tokens", self._guarded(self._count_tokens))
        app.router.add_post("/v1/messages/batches", self._guarded(self._create_batch))
        app.router.add_get("/v1/messages/batches/{id}", self._guarded(self._show_batch))
        app.router.add_get("/v1/messages/batches/{id}/results", self._guarded(self._show_results))
        app.router.add_route("*", "/{path:.*}", _not_found)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            handler_cancellation=True,
            shutdown_timeout=_SHUTDOWN_SECONDS,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port, backlog=1024)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop at once, breaking open streams."""
        self._is_closing = True
        for request in list(self._open_requests.values()):
            break_connection(request, is_reset=False)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _guarded(
        self,
        handle: Callable[[web.Request, ReceivedRequest, str], Awaitable[web.StreamResponse]],
    ) -> Handler:
        """Wrap a handler: one record per request, and refusals in the API's format."""

        async def handler(request: web.Request) -> web.StreamResponse:
            record = self.log.open(request.path)
            request_id = f"req_01{secrets.token_hex(11)}"
            self._open_requests[record.number] = request
            try:
                return await handle(request, record, request_id)
            except ApiError as error:
                record.error = str(error)
                return error_response(record, error.status, str(error), request_id)
            except (ConnectionError, asyncio.CancelledError):
                self._note_lost_client(record)
                raise
            finally:
                self._open_requests.pop(record.number, None)
                record.finished_at = time.monotonic()
                self.log.notify()

        return handler

    def _note_lost_client(self, record: ReceivedRequest) -> None:
        if not self._is_closing and record.stop_reason == "":
            record.closed_by_client_at = time.monotonic()

    async def _count_tokens(
        self, request: web.Request, record: ReceivedRequest, request_id: str
    ) -> web.StreamResponse:
        check_headers(request.headers, self._api_key)
        body = await self._read(request, record)
        check_request(body, is_count=True)
        record.status = 200
        return json_response({"input_tokens": count_units(walk_units(body))}, request_id)

    async def _create_batch(
        self, request: web.Request, record: ReceivedRequest, request_id: str
    ) -> web.StreamResponse:
        api_key = check_headers(request.headers, self._api_key)
        body = await self._read(request, record)

        def answer(params: dict[str, Any]) -> dict[str, Any]:
            exchange = self._exchanges.open(params, betas=frozenset(), api_key=api_key)
            return whole_message(exchange.answer)

        batch = await self._in_thread(partial(self.batches.create, body, answer))
        record.status = 200
        return json_response(described(batch, self.url), request_id)

    async def _show_batch(
        self, request: web.Request, record: ReceivedRequest, request_id: str
    ) -> web.StreamResponse:
        check_headers(request.headers, self._api_key)
        batch = self.batches.find(request.match_info["id"])
        record.status = 200
        return json_response(described(batch, self.url), request_id)

    async def _show_results(
        self, request: web.Request, record: ReceivedRequest, request_id: str
    ) -> web.StreamResponse:
        check_headers(request.headers, self._api_key)
        lines = result_lines(self.batches.find(request.match_info["id"]))
        record.status = 200
        return bytes_response(lines, request_id)

    async def _in_thread(self, call: Callable[[], _Result]) -> _Result:
        """Run what takes long for a long conversation; the event loop may be the application's."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def _read(self, request: web.Request, record: ReceivedRequest) -> dict[str, Any]:
        raw = await read_body(request)
        body = parse_body(raw)
        self.log.keep_body(record, body, len(raw))
        return body

    async def _create_message(
        self, request: web.Request, record: ReceivedRequest, request_id: str
    ) -> web.StreamResponse:
        api_key = check_headers(request.headers, self._api_key)
        body = await self._read(request, record)
        record.betas = tuple(
            beta.strip() for beta in request.headers.get("anthropic-beta", "").split(",") if beta
        )
        exchange = await self._in_thread(
            partial(self._exchanges.open, body, betas=frozenset(record.betas), api_key=api_key)
        )
        if exchange.fault is not None:
            record.fault = exchange.fault.kind
            early = await answer_early(request, exchange.fault, record, request_id)
            if early is not None:
                return early
        record.usage = exchange.answer.share.usage()
        record.status = 200
        is_streamed = bool(body.get("stream"))
        return await self._sender.send(request, record, exchange, request_id, is_streamed=is_streamed)


async def _not_found(request: web.Request) -> web.StreamResponse:
    """Refuse an address that the API doesn't have; it's no request to the model, so none is recorded."""
    request_id = f"req_01{secrets.token_hex(11)}"
    body = error_body(404, f"Not Found: {request.method} {request.path}", request_id)
    response = json_response(body, request_id)
    response.set_status(404)
    return response
