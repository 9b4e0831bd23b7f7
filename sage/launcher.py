"""The one way in which a web process of Sage runs, for `up` and for production.

Stock Daphne has no back-pressure, dies within half a second of SIGTERM with all its tasks, and tells its
name. This server waits for readers, drains what runs and answers what has arrived before it goes, and says
1012 to open sockets. It knows nothing of turns: what has to be started and drained is given to it.

Over 300 lines, because most of them are methods of one class, in place of Daphne's.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

# Daphne first: importing it installs the asyncio reactor.
from daphne.server import Server, twisted_loop  # isort: skip
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import WebRequest
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import defer, reactor
from twisted.internet.tcp import Connection
from twisted.python.failure import Failure

from sage.env import StartError
from sage.garbage import collect_as_usual
from sage.held_refusals import HeldRefusals
from sage.http_limits import BoundedChannel, HttpLimits, Spool
from sage.http_requests import BoundedRequest
from sage.outlet import Outlet, write_now
from sage.socket_inbox import BoundedSocket

DRAIN_SECONDS = 10.0
CLOSE_SECONDS = 2.0
POLL_SECONDS = 0.02
CLOSE_HANDSHAKE_SECONDS = 5.0
SLOW_READER_SECONDS = 20.0
MAX_FRAME_BYTES = 1 << 20
NORMAL_CLOSURE = 1000
SERVICE_RESTART = 1012
TRY_AGAIN_LATER = 1013
_PROTOCOL = "sage.protocol"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """What lives with the server.

    `service` is entered before the first request and left after the drain. `drain(seconds)` lets running work
    come to its end and returns at the latest after that time. `on_ready(port)` is called with the open port.
    """

    service: Callable[[], AbstractAsyncContextManager[object]]
    drain: Callable[[float], Awaitable[object]]
    on_ready: Callable[[int], None]


def run_web_server(
    application: Any,
    *,
    host: str,
    port: int,
    lifecycle: Lifecycle,
    is_behind_proxy: bool = False,
    slow_reader_seconds: float = SLOW_READER_SECONDS,
    limits: HttpLimits | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; once per process, in the main thread.

    Port 0 takes a free one. A request over the `limits` is refused before the application sees it. A reader
    that takes nothing for `slow_reader_seconds` loses its connection. Raises `StartError` when the port can't
    be opened.
    """
    server = WebServer(
        application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        signal_handlers=False,
        server_name="",
        proxy_forwarded_address_header="X-Forwarded-For" if is_behind_proxy else None,
        proxy_forwarded_proto_header="X-Forwarded-Proto" if is_behind_proxy else None,
        websocket_max_message_size=MAX_FRAME_BYTES,
        websocket_max_frame_size=MAX_FRAME_BYTES,
        slow_reader_seconds=slow_reader_seconds,
        limits=limits or HttpLimits(),
    )
    server.serve(lifecycle)


class WebServer(Server):  # type: ignore[misc]  # Daphne has no types
    """Daphne with limits, with back-pressure, and with an orderly end."""

    def __init__(
        self, application: Any, *, slow_reader_seconds: float, limits: HttpLimits, **options: Any
    ) -> None:
        super().__init__(_bounded(application), ready_callable=self._configure, **options)
        self._limits = limits
        self._slow_reader_seconds = slow_reader_seconds
        self._outlets: dict[Any, Outlet] = {}
        self._ports: list[Any] = []
        self._services = AsyncExitStack()
        self._ending: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None

    def serve(self, lifecycle: Lifecycle) -> None:
        """Run until the end is asked for. Raises `StartError`, or what a service raised at its start."""
        self._lifecycle = lifecycle
        asyncio.set_event_loop(twisted_loop)
        try:
            # Before the port opens: the first request finds everything there.
            twisted_loop.run_until_complete(self._services.enter_async_context(lifecycle.service()))
            # A collection that walks what is loaded would hold up the loop, and the end.
            collect_as_usual()
            self.run()
        finally:
            twisted_loop.run_until_complete(self._services.aclose())
        if self._failure is not None:
            raise self._failure

    # --- beginning --------------------------------------------------------------------------------

    def _configure(self) -> None:
        # A frame that is too large is refused with a reason, not with a cut line.
        self.ws_factory.setProtocolOptions(failByDrop=False, closeHandshakeTimeout=CLOSE_HANDSHAKE_SECONDS)
        self.ws_factory.protocol = BoundedSocket
        held = HeldRefusals(reactor, most_of_one=self._limits.held_of_one)
        self.http_factory.protocol = partial(BoundedChannel, self._limits, Spool(), held)
        self.http_factory.log = lambda _: None  # Twisted would format a line that nothing reads
        reactor.callWhenRunning(self._begin)

    def _begin(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            twisted_loop.add_signal_handler(number, self._end)
        self._lifecycle.on_ready(self._ports[0].getHost().port)

    def listen_success(self, port: Any) -> None:
        self._ports.append(port)
        super().listen_success(port)

    def listen_error(self, failure: Failure) -> None:
        """Remember why the port can't be opened, and don't run."""
        self._failure = StartError(
            f"the address can't be used ({failure.getErrorMessage()}): set --host or --port."
        )
        self.stop()

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Start the application; what it receives, it takes from the protocol."""
        return super().create_application(protocol, {**scope, _PROTOCOL: protocol})

    # --- back-pressure ----------------------------------------------------------------------------

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Pass a message to the client and wait until it is taken: a reply is not done before."""
        kind = message["type"]
        if kind == "websocket.send" and (text := message.get("text")) and self._is_plain_socket(protocol):
            _write_frame(protocol.transport, text)
            if not self._outlets[protocol].is_open:
                await self._wait_for_socket(protocol)
            return
        if kind == "websocket.send" and protocol.state in (protocol.STATE_CLOSING, protocol.STATE_CLOSED):
            return  # nobody reads it; the application is about to hear that the socket is gone
        if kind == "websocket.close" and protocol.state != protocol.STATE_CONNECTING:
            if protocol.state == protocol.STATE_OPEN:
                _close_socket(protocol, message.get("code") or NORMAL_CLOSURE, message.get("reason") or "")
            return
        if kind == "http.response.body" and not message.get("more_body", False):
            self._forget(protocol)
        await super().handle_reply(protocol, message)
        if kind == "websocket.accept":
            self._outlets[protocol] = outlet = Outlet()
            protocol.transport.unregisterProducer()
            protocol.transport.registerProducer(outlet, True)
        elif kind == "websocket.send":
            await self._wait_for_socket(protocol)
        elif kind == "http.response.body" and message.get("more_body", False):
            await self._wait_for_body(protocol)

    def _is_plain_socket(self, protocol: WebSocketProtocol) -> bool:
        """Say whether frames may be written to the socket as they are: open, not compressed, no TLS."""
        return (
            protocol in self._outlets
            and protocol.state == protocol.STATE_OPEN
            and protocol.websocket_extensions_in_use == []
            and not protocol.send_queue
            and isinstance(protocol.transport, Connection)
        )

    async def _wait_for_socket(self, protocol: WebSocketProtocol) -> None:
        outlet = self._outlets.get(protocol)
        if outlet is not None and not await outlet.wait(self._slow_reader_seconds):
            _close_socket(protocol, TRY_AGAIN_LATER, "the reader is too slow")

    async def _wait_for_body(self, request: WebRequest) -> None:
        if request.finished or request.channel is None:
            return
        outlet = self._outlets.get(request)
        if outlet is None:
            self._outlets[request] = outlet = Outlet()
            request.registerProducer(outlet, True)
        if not await outlet.wait(self._slow_reader_seconds) and request.channel is not None:
            request.channel.transport.abortConnection()

    def _forget(self, protocol: Any) -> None:
        if self._outlets.pop(protocol, None) and isinstance(protocol, WebRequest) and protocol.channel:
            protocol.unregisterProducer()

    def protocol_disconnected(self, protocol: Any) -> None:
        if outlet := self._outlets.pop(protocol, None):
            outlet.stopProducing()
        super().protocol_disconnected(protocol)

    # --- end --------------------------------------------------------------------------------------

    def _end(self) -> None:
        if self._ending is None:
            self._ending = twisted_loop.create_task(self._end_in_order())
        else:
            # Asked twice: at once.
            self.stop()

    async def _end_in_order(self) -> None:
        deadline = twisted_loop.time() + DRAIN_SECONDS
        try:
            for port in self._ports:
                # The port closes in the loop's next round, after this.
                reactor.callLater(0, _accept_what_waits, port)  # type: ignore[arg-type]  # as below
                await defer.maybeDeferred(port.stopListening).asFuture(twisted_loop)
            await asyncio.wait_for(self._lifecycle.drain(DRAIN_SECONDS), DRAIN_SECONDS + 1)
        except TimeoutError:
            log.warning("drain_took_too_long")
        finally:
            # Together: pages needn't wait for somebody's download, on a process that takes nothing on.
            await asyncio.gather(self._close_sockets(), self._answer_requests(deadline))
            self.stop()

    async def _answer_requests(self, deadline: float) -> None:
        """Wait for requests whose head has arrived: a proxy sends no form again, but shows an error."""
        quiet = 0
        # Twice: the last bytes of an answer may still be on their way to the socket.
        while quiet < 2 and twisted_loop.time() < deadline:
            await asyncio.sleep(POLL_SECONDS)
            quiet = 0 if any(map(self._is_open_request, self.connections)) else quiet + 1

    def _is_open_request(self, protocol: Any) -> bool:
        is_over = self.connections[protocol].get("disconnected")
        return isinstance(protocol, BoundedRequest) and protocol.has_head and not is_over

    async def _close_sockets(self) -> None:
        sockets = [protocol for protocol in self.connections if isinstance(protocol, WebSocketProtocol)]
        for protocol in sockets:
            if protocol.state == protocol.STATE_OPEN:
                _close_socket(protocol, SERVICE_RESTART, "the server restarts")
        deadline = twisted_loop.time() + CLOSE_SECONDS
        while twisted_loop.time() < deadline:
            if all(
                self.connections.get(protocol, {"disconnected": 1}).get("disconnected")
                for protocol in sockets
            ):
                return
            await asyncio.sleep(POLL_SECONDS)

    def kill_all_applications(self) -> "defer.Deferred[None]":
        """Cancel what still runs and wait for it, for a short time."""
        running = [
            task for details in self.connections.values() if (task := details.get("application_instance"))
        ]
        for task in running:
            task.cancel()
        return defer.Deferred.fromCoroutine(_wait_for_tasks(running))


def _bounded(application: Any) -> Any:
    """Let an application receive through the protocol that bounds what waits for it."""

    async def serve(scope: dict[str, Any], receive: Any, send: Any) -> None:
        protocol = scope.pop(_PROTOCOL)
        if scope["type"] == "websocket":
            scope["sage.answers_ping"] = protocol.answers_ping
        await application(scope, partial(protocol.receive, receive), send)

    return serve


def _write_frame(transport: Any, text: str) -> None:
    payload = text.encode()
    size = len(payload)
    if size < 126:
        frame = b"\x81%c%b" % (size, payload)
    elif size < 1 << 16:
        frame = b"\x81\x7e%b%b" % (size.to_bytes(2), payload)
    else:
        frame = b"\x81\x7f%b%b" % (size.to_bytes(8), payload)
    write_now(transport, frame)


def _close_socket(protocol: WebSocketProtocol, code: int, reason: str) -> None:
    """Close with any code: autobahn's `sendClose` refuses 1008, 1012 and 1013."""
    protocol.sendCloseFrame(code=code, reasonUtf8=reason.encode()[:123], isReply=False)


def _accept_what_waits(port: Any) -> None:
    """Accept the connections that the kernel has already opened: it would reset them with the port."""
    has_more = True
    while has_more:
        before = port.sessionno
        port.doRead()
        has_more = port.sessionno != before


async def _wait_for_tasks(tasks: list["asyncio.Future[Any]"]) -> None:
    if tasks:
        waiting = asyncio.ensure_future(asyncio.wait(tasks, timeout=CLOSE_SECONDS))
        await defer.Deferred.fromFuture(waiting)
