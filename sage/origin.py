"""Which origins may open a WebSocket: this site's pages, and programs that send its Origin.

Channels' own validator checks only ALLOWED_HOSTS and accepts a missing Origin. Users are checked by the
consumer.
"""

from urllib.parse import urlsplit

from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

DEFAULT_PORTS = {"http": "80", "https": "443"}


class SameOriginValidator:
    """Refuses handshakes with a foreign or missing Origin."""

    def __init__(self, application: ASGI3Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        headers = dict(scope["headers"]) if scope["type"] == "websocket" else {}
        origin, host = (headers.get(name, b"").decode("latin-1") for name in (b"origin", b"host"))
        if is_accepted_origin(origin, host):
            await self._application(scope, receive, send)
        else:
            await WebsocketDenier()(scope, receive, send)


def is_accepted_origin(origin: str, host: str) -> bool:
    """Return whether a page of `origin` may open a socket on `host` (both as spelled in the headers)."""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return False
    if (
        parts.scheme not in DEFAULT_PORTS
        or not parts.hostname
        or origin != f"{parts.scheme}://{parts.netloc}"
    ):
        return False
    if _is_trusted(origin):
        return True
    domain, host_port = split_domain_port(host)
    allowed_hosts = settings.ALLOWED_HOSTS or [".localhost", "127.0.0.1", "[::1]"]
    if not domain or not validate_host(domain, allowed_hosts):
        return False
    default_port = DEFAULT_PORTS[parts.scheme]
    origin_domain, _ = split_domain_port(parts.netloc)
    return (origin_domain, str(port or default_port)) == (domain, host_port or default_port)


def _is_trusted(origin: str) -> bool:
    scheme, _, netloc = origin.lower().partition("://")
    for trusted in settings.CSRF_TRUSTED_ORIGINS:
        trusted_scheme, _, pattern = trusted.lower().partition("://")
        if scheme != trusted_scheme:
            continue
        if netloc == pattern or (pattern.startswith("*.") and netloc.endswith(pattern[1:])):
            return True
    return False
