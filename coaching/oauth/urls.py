"""The addresses of OAuth, and `/mcp`. What is slow to import is loaded by name, at its first request."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from coaching.oauth import documents, registration


def _loaded(module: str, name: str) -> Callable[..., HttpResponse]:
    """Return a class of views that is loaded when it is first requested."""

    # allauth checks the token of a form that answers, and of nothing else.
    @csrf_exempt
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        loaded: Any = getattr(import_module(module), name)
        answered: HttpResponse = loaded.as_view()(request, *args, **kwargs)
        return answered

    return view


urlpatterns = [
    path(".well-known/oauth-protected-resource", documents.protected_resource, name="protected_resource"),
    path(".well-known/oauth-protected-resource/mcp", documents.protected_resource, name="protected_mcp"),
    path(".well-known/oauth-authorization-server", documents.authorization_server, name="oauth_server"),
    path("oauth/register", registration.register_client, name="oauth_register"),
    path("oauth/authorize", _loaded("coaching.oauth.consent", "ConsentView"), name="oauth_authorize"),
    path("oauth/token", _loaded("coaching.oauth.tokens", "RotatingTokenView"), name="oauth_token"),
    path("oauth/revoke", registration.revoke, name="oauth_revoke"),
]
