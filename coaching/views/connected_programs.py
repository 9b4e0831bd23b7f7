"""Programs that a person has connected by consent, in the settings of programs."""

from collections.abc import Sequence
from dataclasses import dataclass

from allauth.idp.oidc.models import Client
from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from coaching.people.accounts import user_id_of
from coaching.programs.clients import SCOPES
from coaching.programs.grants import Grant, grants_of, revoke_grant
from coaching.views.parts import back_to


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow:
    """A connected program as the page lists it; `scopes` are in words."""

    grant: Grant
    scopes: Sequence[str]


def connected_programs(user_id: int) -> Sequence[GrantRow]:
    """Return the programs that the person has connected, by name."""
    return [
        GrantRow(grant=grant, scopes=[str(words) for scope, words in SCOPES.items() if scope in grant.scopes])
        for grant in grants_of(user_id, now=timezone.now())
    ]


@login_required
@require_POST
def disconnect(request: HttpRequest, client_id: str) -> HttpResponse:
    """End a program's access: its next request, and one that waits, is refused."""
    if "\x00" in client_id:  # a browser may send what no column can hold
        raise Http404
    try:
        name = revoke_grant(user_id=user_id_of(request), client_id=client_id)
    except Client.DoesNotExist:
        raise Http404 from None
    success(request, _("“%(name)s” can’t reach Sage any more.") % {"name": name})
    return back_to("programs", "#connected")
