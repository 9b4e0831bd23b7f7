"""Programs that have registered themselves, to ask for a person's consent: not verified, and soon forgotten.

Anybody may register one, so what is stored is little, and what nobody has consented to goes after a day. The
newest are kept: who registers to be consented to does so at once, and nobody can use up the room for long.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from allauth.idp.oidc.models import Client, Token
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy

from coaching.models import Scope
from coaching.models.programs import MAX_NAME
from coaching.programs.names import shown_name
from coaching.programs.redirects import Redirect
from sessions_app.database import lock_until_commit
from sessions_app.errors import Refused
from sessions_app.lock_spaces import LockSpace

MAX_UNUSED = 1_000
UNUSED_FOR = timedelta(hours=24)
MAX_REDIRECTS = 5
NO_REDIRECT = "Send 1 to 5 redirect_uris."
SCOPES: Mapping[Scope, Any] = {
    Scope.CAPTURE: gettext_lazy("Add captures"),
    Scope.READ: gettext_lazy("Read files, next steps, documents and summaries"),
    Scope.WRITE: gettext_lazy("Suggest next steps and things to remember, which wait for your yes"),
}
"""The scopes that a program can be granted by consent: those with tools."""
_UNUSABLE = "!"
"""In place of a secret: all of them are public clients, which prove themselves by S256."""


@transaction.atomic
def register(*, name: str, redirects: Collection[str], now: datetime) -> Client:
    """Register a program. Raises `Refused`. Sync ORM code."""
    if not 1 <= len(redirects) <= MAX_REDIRECTS:
        raise Refused(NO_REDIRECT)
    addresses = [Redirect(address) for address in redirects]
    shown = shown_name(name) if name.strip() else addresses[0].host[:MAX_NAME]
    lock_until_commit(LockSpace.PROGRAM_CLIENTS, 0)
    _make_room(now)
    client = Client(name=shown, secret=_UNUSABLE, type=Client.Type.PUBLIC, created_at=now)
    client.set_redirect_uris([each.address for each in addresses])
    client.set_scopes([scope.value for scope in SCOPES])
    client.set_default_scopes([Scope.READ.value])
    client.set_grant_types([Client.GrantType.AUTHORIZATION_CODE, Client.GrantType.REFRESH_TOKEN])
    client.set_response_types([Client.ResponseType.CODE])
    client.save(force_insert=True)
    return client


def has_registered(client_id: str, redirect: Redirect) -> bool:
    """Return whether a program has registered an address exactly so. Sync ORM code.

    allauth would allow more parameters, and whoever made the link could have the program act on them.
    """
    client = Client.objects.filter(id=client_id).first()
    return client is not None and any(map(redirect.is_same, client.get_redirect_uris()))


def forget_unused(now: datetime) -> int:
    """Delete programs that nobody has consented to for a day; return how many. Sync ORM code."""
    return _unused().filter(created_at__lt=now - UNUSED_FOR).delete()[0]


def _make_room(now: datetime) -> None:
    forget_unused(now)
    kept = _unused().order_by("-created_at", "-id").values_list("id", flat=True)
    Client.objects.filter(id__in=list(kept[MAX_UNUSED - 1 :])).delete()


def _unused() -> "QuerySet[Client]":
    clients: QuerySet[Client] = Client.objects.all()
    return clients.filter(~Exists(Token.objects.filter(client=OuterRef("pk"))))
