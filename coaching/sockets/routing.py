"""The WebSocket's URL. Any other path is answered like a session that is missing."""

from django.urls import path, re_path

from coaching.sockets.consumers import MissingConsumer, SessionConsumer

websocket_urlpatterns = [
    path("ws/sessions/<uuid:session_id>/", SessionConsumer.as_asgi()),
    re_path("", MissingConsumer.as_asgi()),
]
