"""Personal tokens: only hashes are stored; one that doesn't hold looks like one that never was."""

import hashlib
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import IntegrityError, transaction

from coaching.models import ProgramToken, Scope
from coaching.people.attempts import TooOften
from coaching.programs.callers import Caller, NotKnown, ScopeMissing
from coaching.programs.rates import count_request
from coaching.programs.tokens import (
    MAX_TOKENS,
    MadeToken,
    check_caller,
    find_caller,
    make_token,
    revoke_all,
    revoke_token,
    tokens_of,
)
from sage.accounts import AccountAdapter
from sage.backups.endings import end_what_ran
from sessions_app.errors import FieldRefused, Refused
from sessions_app.rate import RateLimit

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def made(user: User, name: str = "Shell", scopes: Collection[str] = ("read",), days: int = 90) -> MadeToken:
    return make_token(user_id=user.pk, name=name, scopes=scopes, days=days, now=NOON)


def test_a_secret_finds_its_person_and_what_it_may_do(user: User) -> None:
    made_token = made(user, "  My \n shell ", ["write", "capture"])
    caller = find_caller(made_token.secret, now=NOON)
    assert (caller.user_id, caller.name, caller.scopes) == (
        user.pk,
        "My shell",
        frozenset({Scope.CAPTURE, Scope.WRITE}),
    )
    caller.check_scope(Scope.WRITE)
    with pytest.raises(ScopeMissing, match="read"):
        caller.check_scope(Scope.READ)


def test_only_the_hash_of_a_secret_is_stored(user: User) -> None:
    made_token = made(user)
    row = ProgramToken.of(user.pk).values().get()
    assert row["digest"] == hashlib.sha256(made_token.secret.encode()).hexdigest()
    assert not any(made_token.secret.removeprefix("sage_") in str(value) for value in row.values())
    assert made(user).secret != made_token.secret


def test_a_token_holds_until_it_expires(user: User) -> None:
    secret = made(user, days=1).secret
    assert find_caller(secret, now=NOON + timedelta(hours=23, minutes=59)).user_id == user.pk
    with pytest.raises(NotKnown):
        find_caller(secret, now=NOON + timedelta(days=1))


def test_what_isnt_a_token_is_not_known(user: User) -> None:
    secret = made(user).secret
    for wrong in (
        "",
        secret[:-1],
        secret + "A",
        secret.upper(),
        f" {secret}",
        secret + "\n",
        "sage_" + "ä" * 43,
    ):
        with pytest.raises(NotKnown):
            find_caller(wrong, now=NOON)


def test_a_revoked_token_ends_at_once_also_for_a_request_that_waits(user: User, other_user: User) -> None:
    secret = made(user, "Phone").secret
    caller = find_caller(secret, now=NOON)
    check_caller(caller, now=NOON)
    with pytest.raises(ProgramToken.DoesNotExist):
        revoke_token(user_id=other_user.pk, token_id=tokens_of(user.pk)[0].pk)
    assert revoke_token(user_id=user.pk, token_id=tokens_of(user.pk)[0].pk) == "Phone"
    with pytest.raises(NotKnown):
        check_caller(caller, now=NOON)
    with pytest.raises(NotKnown):
        find_caller(secret, now=NOON)


def test_a_disabled_account_has_no_programs(user: User) -> None:
    secret = made(user).secret
    User.objects.filter(pk=user.pk).update(is_active=False)
    with pytest.raises(NotKnown):
        find_caller(secret, now=NOON)


def test_a_new_password_and_a_restored_backup_revoke_all(user: User, other_user: User) -> None:
    made(user), made(user), made(other_user)
    AccountAdapter().set_password(user, "another long passphrase")
    assert (len(tokens_of(user.pk)), len(tokens_of(other_user.pk))) == (0, 1)
    end_what_ran()
    assert not ProgramToken.unscoped.exists()


def test_a_sign_in_with_the_password_before_makes_no_token(user: User) -> None:
    before = user.password
    kept = make_token(user_id=user.pk, name="Shell", scopes=["read"], days=90, password=before)
    assert tokens_of(user.pk) == [kept.token]
    AccountAdapter().set_password(user, "another long passphrase")
    with pytest.raises(Refused, match="new password"):
        make_token(user_id=user.pk, name="Shell", scopes=["read"], days=90, password=before)
    assert tokens_of(user.pk) == []


def test_a_password_that_an_operator_sets_revokes_all_and_a_better_hash_none(user: User) -> None:
    made(user)
    user.check_password("x")
    user.save()
    assert len(tokens_of(user.pk)) == 1
    user.set_password("another long passphrase")  # as `manage.py changepassword` and the admin do
    user.save()
    assert tokens_of(user.pk) == []


def test_a_person_has_at_most_twenty_and_old_expired_ones_make_room(user: User) -> None:
    for _ in range(MAX_TOKENS):
        made(user, days=1)
    with pytest.raises(Refused, match="20 tokens"):
        made(user)
    make_token(user_id=user.pk, name="Later", scopes=["read"], days=1, now=NOON + timedelta(days=40))
    assert [token.name for token in tokens_of(user.pk)] == ["Later"]


@pytest.mark.parametrize(
    ("name", "scopes", "days", "field"),
    [
        ("", ["read"], 90, "name"),
        ("x" * 61, ["read"], 90, "name"),
        ("a\u202eb", ["read"], 90, "name"),
        ("Shell", [], 90, "scopes"),
        ("Shell", ["read", "admin"], 90, "scopes"),
        ("Shell", ["read"], 0, "days"),
        ("Shell", ["read"], 366, "days"),
    ],
)
def test_a_token_that_cant_be_made_says_why(
    user: User, name: str, scopes: list[str], days: int, field: str
) -> None:
    with pytest.raises(FieldRefused) as refused:
        made(user, name, scopes, days)
    assert refused.value.field == field
    assert tokens_of(user.pk) == []


def test_the_database_refuses_a_scope_that_doesnt_exist(user: User) -> None:
    made(user)
    for wrong in (["admin"], [], ["read", "admin"]):
        with pytest.raises(IntegrityError), transaction.atomic():
            ProgramToken.of(user.pk).update(scopes=wrong)


def test_the_last_use_is_noted_to_the_minute(user: User) -> None:
    secret = made(user).secret
    for seconds in (0, 59, 61):
        find_caller(secret, now=NOON + timedelta(seconds=seconds))
        expected = NOON + timedelta(seconds=61 if seconds == 61 else 0)
        assert ProgramToken.of(user.pk).get().last_used_at == expected


@pytest.fixture
def few_requests(settings: object) -> None:
    settings.SAGE_API_RATE = RateLimit(turns=4, seconds=3600)  # type: ignore[attr-defined]
    cache.clear()


def caller_of(user: User) -> Caller:
    return find_caller(made(user).secret, now=NOON)


@pytest.mark.usefixtures("few_requests")
def test_each_token_has_a_rate_and_all_of_a_person_another(user: User, other_user: User) -> None:
    callers = [caller_of(user) for _ in range(3)]
    for caller in callers[:2]:
        for _ in range(4):
            count_request(caller)
        with pytest.raises(TooOften) as refused:
            count_request(caller)
        assert 0 < refused.value.wait_seconds <= 2 * 3600
    for _ in range(2):
        count_request(callers[2])
    with pytest.raises(TooOften):  # ten for the person
        count_request(callers[2])
    count_request(caller_of(other_user))


@pytest.mark.usefixtures("few_requests")
def test_a_count_that_the_cache_pushes_out_meanwhile_refuses_as_any(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, take_back = caller_of(user), cache.decr
    for _ in range(4):
        count_request(caller)

    def once_pushed_out(key: str) -> int:
        cache.delete(key)
        return int(take_back(key))

    monkeypatch.setattr(cache, "decr", once_pushed_out)
    with pytest.raises(TooOften):
        count_request(caller)


def test_all_are_revoked_together(user: User) -> None:
    made(user), made(user)
    assert revoke_all(user.pk) == 2
