"""What a person has consented to: a program with scopes, until they take it back or don't use it for 90 days.

The tokens are allauth's rows, of which only hashes are stored. All functions run synchronous ORM code. What
makes or ends tokens of a person takes one lock: otherwise an end wouldn't see those that a refresh makes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.idp.oidc.models import Client, Token
from django.contrib.auth.models import User
from django.db import transaction

from coaching.models import Scope
from coaching.programs.callers import Caller, NotKnown, known_scopes
from coaching.programs.redirects import Redirect
from sessions_app.database import lock_until_commit
from sessions_app.errors import Refused
from sessions_app.lock_spaces import LockSpace

MAX_GRANTS = 50
"""For each person: programs that they have connected."""
MAX_ACCESS_TOKENS = 5
"""Of one program and person, the newest: each refresh makes one."""
MAX_USED_TOKENS = 100
"""Of one program and person, the newest: refresh tokens that were used."""
REPEATED_FOR = timedelta(seconds=60)
"""A used refresh token that comes again sooner is a request that was repeated, or one of two at once."""
USED_FOR = timedelta(days=90)
_GRANTED = (Token.Type.ACCESS_TOKEN, Token.Type.REFRESH_TOKEN)
_USED = "us"
"""A type of token of ours: a refresh token that was used, which gives access to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A connected program. `hosts` are where it has people sent back to; its name is its own claim."""

    client_id: str
    name: str
    hosts: Sequence[str]
    scopes: Sequence[Scope]
    ends_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedCaller:
    """A program with the access token that it has sent."""

    caller: Caller
    token_id: int


def find_granted(secret: str, *, resource: str, now: datetime) -> GrantedCaller:
    """Return the program that an access token for a resource belongs to. Raises `NotKnown`."""
    token = Token.objects.by_value(secret).filter(type=Token.Type.ACCESS_TOKEN, expires_at__gt=now)
    found = _with_person(token.first())
    # A token that names another resource, or none, wasn't asked for as one for this.
    if found.get_resources() != [resource]:
        raise NotKnown
    return GrantedCaller(caller=_caller_of(found), token_id=found.pk)


def check_granted(token_id: int, *, now: datetime) -> None:
    """Check while a call runs that its access token still holds. Raises `NotKnown`."""
    _with_person(Token.objects.filter(pk=token_id, expires_at__gt=now).first())


def find_refreshing(secret: str, *, now: datetime) -> Caller | None:
    """Return the program of a refresh token, which is used once. In a transaction, which locks the grant."""
    tokens = Token.objects.by_value(secret).filter(type=Token.Type.REFRESH_TOKEN, expires_at__gt=now)
    if (known := tokens.first()) is None:
        return None
    _lock(known.user_id)
    token = tokens.first()  # another request may have used it, or the person have ended it
    return None if token is None or token.client is None else _caller_of(token)


def note_used(secret: str, *, user_id: int, client_id: str, now: datetime) -> None:
    """Remember a refresh token that new ones were made from, and delete what is old of the same grant."""
    used = Token(type=_USED, user_id=user_id, client_id=client_id, created_at=now, expires_at=now + USED_FOR)
    used.set_value(secret)
    used.save(force_insert=True)
    for kind, most in ((Token.Type.ACCESS_TOKEN, MAX_ACCESS_TOKENS), (_USED, MAX_USED_TOKENS)):
        tokens = Token.objects.filter(user_id=user_id, client_id=client_id, type=kind)
        newest = tokens.order_by("-pk").values_list("pk", flat=True)[:most]
        tokens.exclude(pk__in=list(newest)).delete()


def end_reused(secret: str, *, now: datetime) -> None:
    """End the grant of a refresh token that was used before: one of the two who have it has stolen it.

    In a transaction.
    """
    used = Token.objects.by_value(secret).filter(type=_USED, created_at__lt=now - REPEATED_FOR).first()
    if used is not None:
        _lock(used.user_id)
        Token.objects.filter(user_id=used.user_id, client_id=used.client_id).delete()


def consented_anew(*, access: str, refresh: str) -> User:
    """End what a program had of a person before the consent that two tokens come from; return the person.

    So a narrower consent takes effect, and connecting again ends the access of whoever has stolen a token.
    In a transaction. The person is read after the lock: a new password is stored before it ends the grants.
    """
    new = list(Token.objects.by_value(access) | Token.objects.by_value(refresh))
    _lock(new[0].user_id)
    earlier = Token.objects.filter(user_id=new[0].user_id, client_id=new[0].client_id)
    earlier.exclude(pk__in=[token.pk for token in new]).delete()
    person: User = new[0].user
    return person


def grants_of(user_id: int, *, now: datetime) -> Sequence[Grant]:
    """Return the programs that a person has connected, by name."""
    tokens = Token.objects.filter(
        user_id=user_id, type__in=_GRANTED, expires_at__gt=now, client__isnull=False
    )
    by_client: dict[str, list[Token]] = {}
    for token in tokens.select_related("client").order_by("pk"):
        by_client.setdefault(token.client_id, []).append(token)
    grants = [_grant_of(each[0].client, each) for each in by_client.values()]
    return sorted(grants, key=lambda grant: (grant.name.casefold(), grant.client_id))


def has_room(user_id: int, *, client_id: str, now: datetime) -> bool:
    """Return whether a person may connect this program, too."""
    connected = {grant.client_id for grant in grants_of(user_id, now=now)}
    return client_id in connected or len(connected) < MAX_GRANTS


@transaction.atomic
def revoke_grant(*, user_id: int, client_id: str) -> str:
    """End all access of a program to a person's Sage; return its name. Raises `Client.DoesNotExist`."""
    _lock(user_id)
    tokens = Token.objects.filter(user_id=user_id, client_id=client_id)
    if not tokens.exists():
        raise Client.DoesNotExist
    name: str = Client.objects.get(id=client_id).name
    tokens.delete()
    return name


@transaction.atomic
def revoke_all_grants(user_id: int) -> int:
    """End the access of all programs that a person has connected, as a new password does; return how many."""
    _lock(user_id)
    return int(Token.objects.filter(user_id=user_id).delete()[0])


@transaction.atomic
def revoke_value(secret: str, *, client_id: str) -> None:
    """End what a program gives back: an access token, or with a refresh token the whole grant (RFC 7009).

    That is so with a refresh token that was used a moment ago, too: the program may not know the new one.
    """
    kinds = (*_GRANTED, _USED)
    token = Token.objects.by_value(secret).filter(type__in=kinds, client_id=client_id).first()
    if token is not None:
        _lock(token.user_id)
    if token is not None and token.type != Token.Type.ACCESS_TOKEN:
        Token.objects.filter(user_id=token.user_id, client_id=client_id).delete()
    elif token is not None:
        token.delete()


def forget_ended(now: datetime) -> int:
    """Delete expired tokens; return how many."""
    return int(Token.objects.filter(expires_at__lte=now).delete()[0])


def _lock(user_id: int) -> None:
    lock_until_commit(LockSpace.PROGRAM_GRANTS, user_id)


def _with_person(token: Token | None) -> Token:
    if token is None or token.client is None or token.user is None or not token.user.is_active:
        raise NotKnown
    return token


def _caller_of(token: Token) -> Caller:
    return Caller(
        user_id=token.user_id,
        key=f"client:{token.client_id}:{token.user_id}",
        name=token.client.name,
        scopes=known_scopes(token.get_scopes()),
        expires_at=token.expires_at,
    )


def _grant_of(client: Client, tokens: Sequence[Token]) -> Grant:
    scopes = known_scopes({scope for token in tokens for scope in token.get_scopes()})
    return Grant(
        client_id=client.id,
        name=client.name,
        hosts=tuple(dict.fromkeys(_host_of(address) for address in client.get_redirect_uris())),
        scopes=[scope for scope in Scope if scope in scopes],
        ends_at=max(token.expires_at for token in tokens),
    )


def _host_of(address: str) -> str:
    try:
        return Redirect(address).host
    except Refused:
        return address
