"""The ASGI application: pages through Django; sockets through Channels, behind origin check and sign-in."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
# Django must be set up before models are imported.
_pages = get_asgi_application()

from coaching.sockets.routing import websocket_urlpatterns  # noqa: E402
from sage.load_limits import SocketBusy  # noqa: E402
from sage.origin import SameOriginValidator  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": _pages,
        "websocket": SameOriginValidator(SocketBusy(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))),
    }
)
