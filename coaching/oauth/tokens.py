"""Access and refresh tokens for programs: made from a consent's code, renewed, given back."""

from hashlib import sha256
from http import HTTPStatus

from allauth.idp.oidc.views import TokenView
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from coaching.oauth.addresses import resource_of
from coaching.oauth.checks import WrongRequest, check_token_request
from coaching.oauth.errors import error
from coaching.people.attempts import TooOften
from coaching.programs.callers import Caller
from coaching.programs.grants import find_refreshing, thin_out
from coaching.programs.rates import count_request

CODE_SECONDS = 120
"""Longer than a code holds."""


class RotatingTokenView(TokenView):  # type: ignore[misc]  # allauth has no types
    """allauth's endpoint with Sage's rules: a code and a refresh token are used once, also by two at once."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            check_token_request(
                request.POST,
                resource=resource_of(request),
                has_authorization="Authorization" in request.headers,
            )
            return self._answered(request)
        except WrongRequest as wrong:
            return error(wrong.error, str(wrong))
        except TooOften as refusal:
            waits = {"Retry-After": str(refusal.wait_seconds)}
            return error(
                "temporarily_unavailable", str(refusal), status=HTTPStatus.TOO_MANY_REQUESTS, headers=waits
            )

    @transaction.atomic
    def _answered(self, request: HttpRequest) -> HttpResponse:
        caller = _refreshing(request)
        if caller is not None:
            count_request(caller)
        response: HttpResponse = super().post(request)
        if caller is not None and response.status_code == HTTPStatus.OK:
            thin_out(user_id=caller.user_id, client_id=request.POST["client_id"])
        return response


def _refreshing(request: HttpRequest) -> Caller | None:
    """Return the program of a refresh token, which is locked. Takes a code, which no other request gets then.

    Raises `WrongRequest` for one that was taken.
    """
    if request.POST["grant_type"] == "refresh_token":
        return find_refreshing(request.POST.get("refresh_token", ""), now=timezone.now())
    taken = f"oauth:code:{sha256(request.POST.get('code', '').encode()).hexdigest()}"
    if not cache.add(taken, True, timeout=CODE_SECONDS):
        raise WrongRequest("invalid_grant", "This code was used before.")
    return None
