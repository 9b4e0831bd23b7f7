"""A push service, and a browser that has subscribed to it."""

from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from secrets import token_bytes

import http_ece
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.contrib.auth.models import User

from coaching.models import PushDevice
from coaching.reminders.push import PushSender


def _text_of(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


@dataclass
class Subscription:
    """The keys that a browser makes when it subscribes."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    secret: bytes = field(default_factory=lambda: token_bytes(16))

    @property
    def form(self) -> dict[str, str]:
        """What the page sends to Sage."""
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": self.endpoint, "p256dh": _text_of(point), "auth": _text_of(self.secret)}

    def decrypt(self, body: bytes) -> str:
        """Read a message as the browser does."""
        read: bytes = http_ece.decrypt(
            body, private_key=self.key, auth_secret=self.secret, version="aes128gcm"
        )
        return read.decode()


def device_of(user: User, subscription: Subscription) -> PushDevice:
    """Store a browser's address, which needn't be a public one."""
    return PushDevice.unscoped.create(user=user, **subscription.form)


@dataclass(frozen=True)
class Received:
    """A message as the push service got it."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class PushService:
    """A local push service; `statuses` are its next answers, 201 after them."""

    port: int = 0
    statuses: list[int] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)

    def subscribe(self, path: str = "/push/one") -> Subscription:
        """Subscribe a browser."""
        return Subscription(f"http://127.0.0.1:{self.port}{path}")

    def sender(self) -> PushSender:
        """Return a sender to which this service, and nothing else here, counts as public."""
        return PushSender(allowed=frozenset({("127.0.0.1", self.port)}))


@asynccontextmanager
async def push_service() -> AsyncIterator[PushService]:
    """Start a push service on a free port."""
    service = PushService()

    async def answer(request: web.Request) -> web.Response:
        received = Received(request.path, dict(request.headers), await request.read())
        service.received.append(received)
        status = service.statuses.pop(0) if service.statuses else 201
        return web.Response(status=status, headers={"Location": "/push/moved"})

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.port = runner.addresses[0][1]
    try:
        yield service
    finally:
        await runner.cleanup()
