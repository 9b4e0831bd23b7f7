"""`/metrics` of a worker, on a port of its own: what this process counts.

What the database says of jobs and briefs is in the metrics of web processes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest

from sage.env import StartError
from sage.metrics import has_token

PATH = "/metrics"
REQUEST_SECONDS = 10
REFUSED = "Only with the bearer token in SAGE_METRICS_TOKEN.\n"


class _Server(ThreadingMixIn, WSGIServer):
    """A request that hangs delays no other, and no end of the process."""

    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = REQUEST_SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing, as web processes don't log requests for metrics."""


@contextmanager
def served_metrics(*, host: str, port: int) -> Iterator[int]:
    """Answer during the block; yield the open port. Raises `StartError` where the port can't be opened."""
    try:
        server = make_server(host, port, _answer, server_class=_Server, handler_class=_Handler)
    except OSError as error:
        raise StartError(
            f"the address for metrics can't be used ({error}): set --metrics-host or --metrics-port."
        ) from None
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ.get("PATH_INFO") != PATH or environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
        status, kind, body = HTTPStatus.NOT_FOUND, "text/plain", b""
    elif not has_token(environ.get("HTTP_AUTHORIZATION", "")):
        status, kind, body = HTTPStatus.FORBIDDEN, "text/plain", REFUSED.encode()
    else:
        status, kind, body = HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(REGISTRY)
    start_response(f"{status.value} {status.phrase}", [("Content-Type", kind)])
    return [body]
