"""Sage's own addresses as other programs know them. They depend on the host of the request alone."""

from django.http import HttpRequest
from django.urls import reverse

RESOURCE_PATH = "/mcp"
RESOURCE_DOCUMENT = "/.well-known/oauth-protected-resource/mcp"


def origin_of(request: HttpRequest) -> str:
    """Return `https://host`, which is also the issuer of tokens."""
    return request.build_absolute_uri("/").rstrip("/")


def resource_of(request: HttpRequest) -> str:
    """Return the one resource that tokens are for (RFC 8707)."""
    return request.build_absolute_uri(RESOURCE_PATH)


def address_of(request: HttpRequest, name: str) -> str:
    return request.build_absolute_uri(reverse(name))
