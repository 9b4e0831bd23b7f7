"""The WebSocket's URL."""

from django.urls import path

from coaching.consumers import SessionConsumer

websocket_urlpatterns = [path("ws/sessions/<uuid:session_id>/", SessionConsumer.as_asgi())]
