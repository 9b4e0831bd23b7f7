"""Accounts that were created and never confirmed are removed, and no others."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.utils import timezone
from procrastinate.contrib.django import app
from pytest_django import Settings

from coaching.models import Profile
from coaching.personal_data.unconfirmed import KEPT_DAYS
from sessions_app.database import in_database
from tests.conftest import MakeUser
from tests.jobs.conftest import WorkOff
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def with_mail(settings: Settings) -> None:
    """The settings with EMAIL_URL."""
    settings.HAS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def signed_up(make_user: MakeUser, name: str, *, verified: bool = False, **fields: Any) -> User:
    joined = timezone.now() - timedelta(days=KEPT_DAYS + 1)
    person = make_user(name, **{"date_joined": joined, **fields})
    EmailAddress.objects.create(user=person, email=person.email, verified=verified, primary=True)
    Profile.unscoped.create(user=person)
    return person


def a_crowd(make_user: MakeUser) -> None:
    now = timezone.now()
    signed_up(make_user, "forgotten")
    signed_up(make_user, "forgotten-too")
    signed_up(make_user, "new", date_joined=now - timedelta(days=KEPT_DAYS - 1))
    signed_up(make_user, "confirmed", verified=True)
    signed_up(make_user, "was-here", last_login=now)
    signed_up(make_user, "operator", is_staff=True)
    signed_up(make_user, "disabled", is_active=False)
    make_user("without-address", date_joined=now - timedelta(days=400))
    talks = signed_up(make_user, "imported")
    open_conversation(talks)
    second = signed_up(make_user, "second-address")
    EmailAddress.objects.create(user=second, email="second@example.org", verified=True)


async def clean_up(work_off: WorkOff) -> set[str]:
    await in_database(app.configure_task("remove_unconfirmed", allow_unknown=False).defer, timestamp=0)
    await work_off()
    return set(await in_database(lambda: list(User.objects.values_list("username", flat=True))))


STAY = {
    "new",
    "confirmed",
    "was-here",
    "operator",
    "disabled",
    "without-address",
    "imported",
    "second-address",
}


async def test_accounts_that_nobody_confirmed_or_used_go_after_two_weeks_with_all_their_rows(
    work_off: WorkOff, make_user: MakeUser
) -> None:
    await in_database(a_crowd, make_user)
    assert await clean_up(work_off) == STAY
    assert await in_database(Profile.unscoped.count) == len(STAY) - 1  # all except the one without an address


@pytest.mark.parametrize("unset", ["HAS_MAIL", "ACCOUNT_EMAIL_VERIFICATION"])
async def test_nobody_goes_where_no_address_has_to_be_confirmed(
    work_off: WorkOff, make_user: MakeUser, settings: Settings, unset: str
) -> None:
    setattr(settings, unset, False if unset == "HAS_MAIL" else "none")
    await in_database(a_crowd, make_user)
    assert await clean_up(work_off) == STAY | {"forgotten", "forgotten-too"}
