"""Programs register themselves (RFC 7591), without a token, and give tokens back (RFC 7009).

What they say of themselves isn't verified, and nothing is fetched for it. Neither needs allauth's provider.
"""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import BaseModel, ValidationError

from coaching.files.attributes import StorableText
from coaching.oauth.checks import WrongRequest, check_texts
from coaching.oauth.errors import error
from coaching.people.allauth_internals import count_registration
from coaching.programs.clients import register
from coaching.programs.grants import revoke_value
from sessions_app.errors import Refused

MAX_BODY = 16_000
UNREADABLE = "Send one JSON object with redirect_uris, a list of addresses, and perhaps a client_name."
TOO_OFTEN = "Too many programs have registered from this address. Try again in a minute."


class Registration(BaseModel):
    """What Sage takes of a program's description of itself; the rest is ignored."""

    redirect_uris: list[StorableText]
    client_name: StorableText = ""


@csrf_exempt
@require_POST
def register_client(request: HttpRequest) -> HttpResponse:
    """Register a program; return its id. It gets no secret, whatever it asks for."""
    if not count_registration(request):
        return error(
            "temporarily_unavailable",
            TOO_OFTEN,
            status=HTTPStatus.TOO_MANY_REQUESTS,
            headers={"Retry-After": "60"},
        )
    try:
        if len(request.body) > MAX_BODY:
            raise Refused(UNREADABLE)
        given = Registration.model_validate_json(request.body)
        client = register(name=given.client_name, redirects=given.redirect_uris, now=timezone.now())
    except ValidationError:
        return error("invalid_client_metadata", UNREADABLE)
    except Refused as refusal:
        return error("invalid_client_metadata", str(refusal))
    values = {
        "client_id": client.id,
        "client_id_issued_at": int(client.created_at.timestamp()),
        "client_name": client.name,
        "redirect_uris": client.get_redirect_uris(),
        "grant_types": client.get_grant_types(),
        "response_types": client.get_response_types(),
        "scope": " ".join(client.get_scopes()),
        "token_endpoint_auth_method": "none",
    }
    return JsonResponse(values, status=HTTPStatus.CREATED)


@csrf_exempt
@require_POST
def revoke(request: HttpRequest) -> HttpResponse:
    """End what a program gives back; the same answer for a token that isn't known."""
    try:
        check_texts(request.POST)
    except WrongRequest as wrong:
        return error(wrong.error, str(wrong))
    revoke_value(request.POST.get("token", ""), client_id=request.POST.get("client_id", ""))
    return HttpResponse()
