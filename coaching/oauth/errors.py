"""Errors as RFC 6749 has them."""

from collections.abc import Mapping
from http import HTTPStatus

from django.http import JsonResponse


def error(
    name: str,
    sentence: str,
    *,
    status: HTTPStatus = HTTPStatus.BAD_REQUEST,
    headers: Mapping[str, str] | None = None,
) -> JsonResponse:
    """Return an error; the sentence is for developers."""
    return JsonResponse({"error": name, "error_description": sentence}, status=status, headers=headers)
