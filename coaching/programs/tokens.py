"""Personal tokens: made, looked up, revoked.

A secret is 256 random bits, so a plain hash of it can't be guessed and finds its row by an index. All
functions run synchronous ORM code.
"""

import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.models import ProgramToken, Scope
from coaching.models.programs import MAX_NAME
from coaching.people.attempts import AttemptLimit
from coaching.programs.callers import Caller, NotKnown, known_scopes
from sessions_app.errors import FieldRefused, Refused

MAX_TOKENS = 20
"""For each person, expired ones among them."""
USUAL_DAYS = 90
MAX_DAYS = 365
SHOWN_EXPIRED = timedelta(days=30)
"""How long an expired token stays in the list; it is deleted when another one is made."""
USED_EVERY = timedelta(minutes=1)
"""`last_used_at` is written this often at most."""
PREFIX = "sage_"
_SECRET = re.compile(r"sage_[A-Za-z0-9_-]{43}", re.ASCII)

makings = AttemptLimit(attempts=30, seconds=3600.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToken:
    """A new token with its secret, which is shown once and can't be read again."""

    token: ProgramToken
    secret: str


@transaction.atomic
def make_token(
    *,
    user_id: int,
    name: str,
    scopes: Collection[str],
    days: int,
    password: str = "",
    now: datetime | None = None,
) -> MadeToken:
    """Make a token. Raises `Refused` for a field that can't be stored, or with `MAX_TOKENS` already.

    `password` is the stored one of the sign-in that makes it. It is refused, too, if the person has a new one
    meanwhile: all tokens may already have been revoked.
    """
    now = now or timezone.now()
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise FieldRefused(
            gettext_noop("Give it a name of up to %(most)s characters."), field="name", most=MAX_NAME
        )
    chosen = known_scopes(scopes)
    if not chosen or len(chosen) < len(set(scopes)):
        raise FieldRefused(gettext_noop("Choose what the program may do."), field="scopes")
    if not 1 <= days <= MAX_DAYS:
        raise FieldRefused(gettext_noop("Choose between 1 and %(most)s days."), field="days", most=MAX_DAYS)
    makings.count(user_id)
    # One at a time for each person, so that the limit holds. A new password waits for this lock, too.
    user = User.objects.select_for_update(no_key=True).get(pk=user_id)
    if password and user.password != password:
        raise Refused(gettext_noop("Sign in with your new password."))
    ProgramToken.of(user_id).filter(expires_at__lt=now - SHOWN_EXPIRED).delete()
    if ProgramToken.of(user_id).count() >= MAX_TOKENS:
        raise Refused(gettext_noop("You have %(most)s tokens already. Revoke one first."), most=MAX_TOKENS)
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ProgramToken.of(user_id).create(
        name=name,
        digest=_digest(secret),
        scopes=[scope.value for scope in Scope if scope in chosen],
        made_at=now,
        expires_at=now + timedelta(days=days),
    )
    return MadeToken(token=token, secret=secret)


def tokens_of(user_id: int) -> Sequence[ProgramToken]:
    """Return the person's tokens, the oldest first."""
    return list(ProgramToken.of(user_id).order_by("made_at", "id"))


def revoke_token(*, user_id: int, token_id: int) -> str:
    """Delete one of the person's tokens; return its name. Raises `ProgramToken.DoesNotExist`."""
    token = ProgramToken.of(user_id).get(pk=token_id)
    token.delete()
    return token.name


def revoke_all(user_id: int) -> int:
    """Delete all of the person's tokens, as a new password does; return how many."""
    return ProgramToken.of(user_id).delete()[0]


def find_caller(secret: str, *, now: datetime | None = None) -> Caller:
    """Return the program that a secret belongs to, and note that it was used. Raises `NotKnown`."""
    if not _SECRET.fullmatch(secret):
        raise NotKnown
    return _caller(Q(digest=_digest(secret)), now or timezone.now())


def check_caller(caller: Caller, *, now: datetime | None = None) -> None:
    """Check while a request waits that its token still holds. Raises `NotKnown`."""
    _caller(Q(pk=int(caller.key.removeprefix("token:"))), now or timezone.now())


def _caller(wanted: Q, now: datetime) -> Caller:
    valid = ProgramToken.unscoped.filter(wanted, expires_at__gt=now, user__is_active=True)
    token = valid.first()
    if token is None:
        raise NotKnown
    if token.last_used_at is None or now - token.last_used_at >= USED_EVERY:
        valid.update(last_used_at=now)
    return Caller(
        user_id=token.user_id,
        key=f"token:{token.pk}",
        name=token.name,
        scopes=known_scopes(token.scopes),
        expires_at=token.expires_at,
    )


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
