"""Help lines in the admin: which of them somebody should check again."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from coaching.admin.safety import CHECKED_FOR
from coaching.models import HelpLine
from tests.conftest import MakeUser
from tests.pages.test_admin import staff_with

pytestmark = pytest.mark.django_db


def test_lines_that_were_not_checked_for_six_months_are_found(make_user: MakeUser) -> None:
    today = timezone.now().date()
    for name, checked_on, is_active in (
        ("Never", None, True),
        ("Long ago", today - CHECKED_FOR - timedelta(days=1), True),
        ("Lately", today - CHECKED_FOR + timedelta(days=1), True),
        ("Switched off", None, False),
    ):
        HelpLine.objects.create(
            name=f"Line {name}", country="PT", kind="emergency", phone="112", checked_on=checked_on,
            is_active=is_active,
        )  # fmt: skip
    client = staff_with(make_user, "view_helpline", "change_helpline")
    assert found(client, "due") == {"Never", "Long ago"}
    assert found(client, "never") == {"Never", "Switched off"}
    assert found(client, "") == {"Never", "Long ago", "Lately", "Switched off"}


def found(client: Client, check: str) -> set[str]:
    page = client.get("/admin/coaching/helpline/", {"check": check, "q": "Line"}).content.decode()
    return {name for name in ("Never", "Long ago", "Lately", "Switched off") if f"Line {name}" in page}
