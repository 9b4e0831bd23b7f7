"""Access and refresh tokens for programs: made from a consent's code, renewed, given back."""

import json
from http import HTTPStatus

from allauth.idp.oidc.views import TokenView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from coaching.oauth import codes
from coaching.oauth.addresses import resource_of
from coaching.oauth.checks import WrongRequest, check_token_request
from coaching.oauth.errors import error
from coaching.people.attempts import TooOften
from coaching.programs.grants import consented_anew, end_reused, find_refreshing, note_used
from coaching.programs.rates import count_request


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
        if request.POST["grant_type"] == "refresh_token":
            return self._refreshed(request, request.POST.get("refresh_token", ""))
        return self._exchanged(request, request.POST.get("code", ""))

    def _refreshed(self, request: HttpRequest, secret: str) -> HttpResponse:
        caller = find_refreshing(secret, now=timezone.now())
        if caller is None:
            end_reused(secret, now=timezone.now())
        else:
            count_request(caller)
        response: HttpResponse = super().post(request)
        if caller is not None and response.status_code == HTTPStatus.OK:
            client_id = request.POST["client_id"]
            note_used(secret, user_id=caller.user_id, client_id=client_id, now=timezone.now())
        return response

    def _exchanged(self, request: HttpRequest, code: str) -> HttpResponse:
        try:
            fingerprint = codes.take(code)
        except codes.NotTakeable:
            raise WrongRequest("invalid_grant", "This code isn't known, or was used before.") from None
        response: HttpResponse = super().post(request)
        if response.status_code == HTTPStatus.OK:
            made = json.loads(response.content)
            user = consented_anew(access=made["access_token"], refresh=made["refresh_token"])
            if not codes.holds_for(user, fingerprint):
                raise WrongRequest("invalid_grant", "The person has a new password: ask for consent again.")
        return response
