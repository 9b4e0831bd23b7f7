"""Tokens of consents that give no access, made from rows as `/oauth/token` stores them."""

from collections.abc import Mapping
from datetime import timedelta

from allauth.idp.oidc.models import Client as Registered
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from coaching.programs.grants import revoke_grant
from tests.browsers import confirmed_browser_of
from tests.oauth.program import connect, refresh


def granted_that_dont_hold(user: User, disabled: User) -> Mapping[str, str]:
    """Connect programs of two people with all scopes; return tokens by why they give no access to `/mcp`."""
    browser = confirmed_browser_of(user)
    good, expired, revoked, moved, forgotten, used = (connect(browser) for _ in range(6))
    theirs = connect(confirmed_browser_of(disabled))
    past = timezone.now() - timedelta(days=1)
    _row(expired["access_token"]).update(expires_at=past)
    revoke_grant(user_id=user.pk, client_id=revoked["client_id"])
    _row(moved["access_token"]).update(data={"resources": ["https://elsewhere.example/mcp"]})
    Registered.objects.get(id=forgotten["client_id"]).delete()
    refresh(used["client_id"], used["refresh_token"])
    User.objects.filter(pk=disabled.pk).update(is_active=False)
    token = good["access_token"]
    return {
        "expired": expired["access_token"],
        "revoked": revoked["access_token"],
        "for another server": moved["access_token"],
        "of a program that isn't known any more": forgotten["access_token"],
        "of a disabled account": theirs["access_token"],
        "truncated": token[:-1],
        "longer": token + "a",
        "in other letters": token.swapcase(),
        "to refresh": good["refresh_token"],
        "to refresh, used": used["refresh_token"],
    }


def _row(secret: str) -> "QuerySet[Token]":
    rows: QuerySet[Token] = Token.objects.by_value(secret)
    assert rows.count() == 1
    return rows
