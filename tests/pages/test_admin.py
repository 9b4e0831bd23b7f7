"""The admin: rows without text, and text only with a permission and an access log."""

import html
import re
import uuid
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import models
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue.names import BRIEF_JOB
from coaching.job_queue.sessions import BRIEF_ATTEMPTS
from coaching.models import CaptureVerdict, UserFileVersion
from sessions_app.admin import ROWS_LISTED, ReadOnlyMixin
from sessions_app.models import Message, ModelUsage, SafetyVerdict, Session, SessionBrief
from sessions_app.owned import Owned
from tests.browsers import browser_of
from tests.conftest import MakeUser
from tests.pages.conftest import Exchange, KeepFile

pytestmark = pytest.mark.django_db

SECRET = "what nobody else should read"


def staff_with(make_user: MakeUser, *codenames: str) -> Client:
    member = make_user("staff", is_staff=True)
    member.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return browser_of(member)


def test_sessions_are_shown_without_words_and_can_t_be_changed(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    turn = exchange(SECRET, SECRET)
    client = staff_with(
        make_user, "view_session", "view_turn", "view_message", "change_session", "delete_session"
    )
    for address in (
        "/admin/sessions_app/session/",
        f"/admin/sessions_app/session/{session.id}/change/",
        "/admin/sessions_app/turn/",
        f"/admin/sessions_app/turn/{turn.id}/change/",
    ):
        page = client.get(address)
        assert page.status_code == 200
        assert SECRET not in page.content.decode()
    assert client.get(f"/admin/sessions_app/session/{session.id}/words/").status_code == 403
    assert (
        client.post(f"/admin/sessions_app/session/{session.id}/delete/", {"post": "yes"}).status_code == 403
    )
    assert Message.unscoped.count() == 2
    assert not LogEntry.objects.exists()


def test_words_are_shown_with_the_permission_and_the_access_is_logged(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    exchange(SECRET, "Answer")
    client = staff_with(make_user, "view_session", "read_message_text")
    page = client.get(f"/admin/sessions_app/session/{session.id}/words/")
    assert SECRET in page.content.decode()
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.user.username) == (str(session.id), "staff")
    assert SECRET not in entry.object_repr + entry.change_message


def test_files_are_shown_by_version_and_their_words_only_with_the_permission(
    make_user: MakeUser, keep_file: KeepFile, user: User
) -> None:
    file = keep_file("life-map/career.md", SECRET, SECRET + " again")
    client = staff_with(make_user, "view_userfile", "view_userfileversion")
    page = client.get(f"/admin/coaching/userfile/{file.pk}/change/").content.decode()
    assert f"{file.pk}-2" in page
    assert SECRET not in page
    assert client.get(f"/admin/coaching/userfile/{file.pk}/words/").status_code == 403
    reader = User.objects.get(username="staff")
    reader.user_permissions.add(Permission.objects.get(codename="read_message_text"))
    assert SECRET in client.get(f"/admin/coaching/userfile/{file.pk}/words/").content.decode()
    assert LogEntry.objects.count() == 1


def test_many_versions_come_page_by_page(make_user: MakeUser, keep_file: KeepFile) -> None:
    file = keep_file("life-map/career.md", *(f"Text {number}." for number in range(60)))
    client = staff_with(make_user, "view_userfile", "view_userfileversion", "read_message_text")
    rows = client.get(f"/admin/coaching/userfile/{file.pk}/change/").content.decode()
    assert f"{file.pk}-60" in rows
    assert f"{file.pk}-10<" not in rows
    seen = []
    for number in (1, 2, 3):
        page = client.get(f"/admin/coaching/userfile/{file.pk}/words/?page={number}").content.decode()
        assert f"Page {number} of 3" in page
        seen += re.findall(r"Text (\d+)\.", page)
    assert seen == [str(number) for number in reversed(range(60))]


@pytest.mark.slow
def test_a_long_session_lists_its_newest_turns_and_messages(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    turns = [exchange("Hello", "Hello.") for _ in range(ROWS_LISTED + 1)]
    client = staff_with(make_user, "view_session", "view_turn", "view_message")
    page = client.get(f"/admin/sessions_app/session/{session.id}/change/").content.decode()
    assert page.count('class="field-role"') == ROWS_LISTED
    assert str(turns[-1].id) in page
    listed = [str(turn.id) for turn in turns if f"/turn/{turn.id}/change/" in page]
    assert listed == [str(turn.id) for turn in turns[1:]]
    everything = client.get(f"/admin/sessions_app/turn/?q={session.id}").content.decode()
    assert f"/turn/?q={session.id}" in page
    assert f"{ROWS_LISTED + 1} turns" in everything


def test_the_permission_to_read_words_gives_no_page_that_may_not_be_seen(
    make_user: MakeUser, session: Session, keep_file: KeepFile
) -> None:
    file = keep_file("life-map/career.md", SECRET)
    client = staff_with(make_user, "read_message_text")
    for address in (f"sessions_app/session/{session.id}", f"coaching/userfile/{file.pk}"):
        assert client.get(f"/admin/{address}/words/").status_code == 403


def test_briefs_are_shown_by_version_with_lag_and_cost_and_written_again(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    exchange("Hello", "Hello.")
    exchange("And now?", "Now.")
    usage = ModelUsage.unscoped.create(
        user=session.user, session=session, purpose="brief", model="m", cost_micro_usd=250_000
    )
    brief = SessionBrief.unscoped.create(
        session=session,
        version=1,
        text=SECRET,
        covers_from=1,
        covers_until=2,
        usage=usage,
        cost_micro_usd=1_250_000,
        lag_seconds=3_700,
    )
    Session.unscoped.filter(pk=session.pk).update(brief_covers=2, brief_attempts=BRIEF_ATTEMPTS)
    client = staff_with(make_user, "view_session", "view_sessionbrief")
    briefs, sessions = "/admin/sessions_app/sessionbrief/", "/admin/sessions_app/session/"
    for address in (briefs, f"{briefs}{brief.pk}/change/", f"{sessions}{session.id}/change/"):
        page = client.get(address).content.decode()
        assert "1 h 1 min" in page
        assert "1.25" in page
        assert SECRET not in page
    assert client.get(f"{briefs}{brief.pk}/words/").status_code == 403
    for state in ("behind", "failing"):
        assert str(session.id) in client.get(f"{sessions}?brief={state}").content.decode()
    form = {"action": "write_again", "_selected_action": [str(session.id)]}
    client.post(sessions, form)
    assert not ProcrastinateJob.objects.filter(task_name=BRIEF_JOB, args__session_id=str(session.id)).exists()

    member = User.objects.get(username="staff")
    member.user_permissions.add(
        *Permission.objects.filter(codename__in=["read_message_text", "change_sessionbrief"])
    )
    assert SECRET in client.get(f"{briefs}{brief.pk}/words/").content.decode()
    client.post(sessions, form)
    job = ProcrastinateJob.objects.get(task_name=BRIEF_JOB, args__session_id=str(session.id))
    assert job.args["is_anew"]
    Session.unscoped.filter(pk=session.pk).update(brief_covers=4, brief_attempts=0)
    for state in ("behind", "failing"):
        assert str(session.id) not in client.get(f"{sessions}?brief={state}").content.decode()


def test_verdicts_are_shown_with_time_and_cost_and_without_words_and_can_t_be_changed(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    verdicts = []
    for level, looked in (("concern", "concern"), ("none", "failed")):
        message = exchange(SECRET, SECRET).messages.earliest("number")
        usage = ModelUsage.unscoped.create(
            user=session.user, session=session, purpose="safety", model="m", cost_micro_usd=2_500
        )
        verdicts.append(
            SafetyVerdict.unscoped.create(
                session=session, message=message, level=level, about="self", topic="life", looked=looked,
                model="claude-haiku-5-5", milliseconds=617, usage=usage if looked == level else None,
            )
        )  # fmt: skip
    address = "/admin/sessions_app/safetyverdict/"
    assert staff_with(make_user, "view_session").get(address).status_code == 403
    member = User.objects.get(username="staff")
    codenames = ["view_safetyverdict", "change_safetyverdict", "delete_safetyverdict"]
    member.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = browser_of(member)
    pages = [client.get(path).content.decode() for path in (address, f"{address}{verdicts[0].pk}/change/")]
    for page in pages:
        for said in (
            session.user.get_username(),
            "Concern",
            "claude-haiku-5-5",
            "617",
            "$0.0025",
            str(session),
        ):
            assert said in page, said
        assert SECRET not in page
    assert "Failed" in pages[0]
    today = f"{verdicts[0].created_at:%Y-%m-%d}"
    for condition, count in (
        ({"level__exact": "concern"}, 1),
        ({"looked__exact": "failed"}, 1),
        ({"level__exact": "immediate"}, 0),
        ({"created_at__gte": f"{today} 00:00Z"}, 2),
        ({"created_at__lt": f"{today} 00:00Z"}, 0),
    ):
        listed = client.get(address, condition).content.decode()
        assert listed.count('class="field-person') == count, condition
    assert client.post(f"{address}{verdicts[0].pk}/change/", {"level": "none"}).status_code == 403
    assert client.post(f"{address}{verdicts[0].pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.get(address, {"message__content__contains": "what"}).status_code == 400


def test_verdicts_about_captures_are_shown_alike_and_can_t_be_changed(
    make_user: MakeUser, user: User, keep_file: KeepFile
) -> None:
    usage = ModelUsage.unscoped.create(user=user, purpose="safety", model="m", cost_micro_usd=2_500)
    file = keep_file("capture.md", f"{SECRET} in a capture")
    verdict = CaptureVerdict.unscoped.create(
        version=UserFileVersion.of(user.pk).get(file=file), level="concern", looked="concern",
        model="claude-haiku-5-5", milliseconds=617, usage=usage,
    )  # fmt: skip
    address = "/admin/coaching/captureverdict/"
    client = staff_with(
        make_user,
        "view_captureverdict",
        "change_captureverdict",
        "delete_captureverdict",
        "add_captureverdict",
    )
    for path in (address, f"{address}{verdict.pk}/change/"):
        page = client.get(path).content.decode()
        for said in (user.get_username(), "Concern", "claude-haiku-5-5", "617", "$0.0025"):
            assert said in page, said
        assert SECRET not in page
    assert client.get(address, {"level__exact": "immediate"}).content.decode().count("field-person") == 0
    assert client.post(f"{address}{verdict.pk}/change/", {"level": "none"}).status_code == 403
    assert client.post(f"{address}{verdict.pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.get(f"{address}add/").status_code == 403
    assert client.get(address, {"version__content__contains": "what"}).status_code == 400


PEOPLES_PAGES = [
    pages
    for model, pages in admin.site._registry.items()
    if issubclass(model, Owned) and isinstance(pages, ReadOnlyMixin)
]
WITHOUT_SECRETS = admin.site._registry[Authenticator]
WORDS = (models.CharField, models.TextField, models.JSONField, models.BinaryField)


@pytest.mark.slow
@pytest.mark.parametrize("pages", [*PEOPLES_PAGES, WITHOUT_SECRETS], ids=lambda pages: pages.model.__name__)
def test_nothing_is_found_by_what_a_page_does_not_show(
    pages: "admin.ModelAdmin[Model]", client: Client, operator: User
) -> None:
    client.force_login(operator)
    opts = pages.opts
    address = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    every = [field.name for field in opts.concrete_fields]
    shown = {*pages.list_display, *(pages.fields or every)}
    hidden = [
        field.name for field in opts.concrete_fields if isinstance(field, WORDS) and field.name not in shown
    ]
    for name in hidden:
        for lookup in (name, f"{name}__contains", f"{name}__startswith", f"{name}__key__contains"):
            assert client.get(address, {lookup: "a"}).status_code == 400, lookup
    filters: list[Any] = [item for item in pages.list_filter if not isinstance(item, type)]
    for item in filters:
        name = item if isinstance(item, str) else item[0]
        assert client.get(address, {f"{name}__isnull": "0"}).status_code == 200, name
    if "user" in shown:
        assert client.get(address, {"user__id__exact": str(operator.pk), "q": "ada"}).status_code == 200


def test_every_page_with_rows_of_people_hides_something_or_shows_all() -> None:
    """The test above covers all pages with people's rows; a new one must be in it, or named here."""
    names = {pages.model.__name__ for pages in PEOPLES_PAGES}
    assert names == {
        "ActionItem", "AnswerFeedback", "CalendarSource", "CaptureVerdict", "Document", "DocumentCall",
        "InboxMail", "InboxRefusal", "KnowledgeEntry", "LibraryEffect", "ModelUsage", "SafetyVerdict",
        "Session", "SessionBrief", "Turn", "UserFile",
    }  # fmt: skip
    others = {model.__name__ for model in admin.site._registry if issubclass(model, Owned)} - names
    assert others == {"Profile"}


def test_people_who_aren_t_staff_never_get_in(client: Client, user: User, session: Session) -> None:
    client.force_login(user)
    for address in ("/admin/", f"/admin/sessions_app/session/{session.id}/words/"):
        assert client.get(address).status_code == 302


def test_the_next_request_is_shown_with_the_permission_and_the_access_is_logged(
    make_user: MakeUser, session: Session, exchange: Exchange
) -> None:
    exchange(SECRET, "Answer")
    client = staff_with(make_user, "view_session")
    address = f"/admin/sessions_app/session/{session.id}/prompt/"
    assert client.get(address).status_code == 403
    assert not LogEntry.objects.exists()
    reader = User.objects.get(username="staff")
    reader.user_permissions.add(Permission.objects.get(codename="read_message_text"))
    page = html.unescape(client.get(address).content.decode())
    assert SECRET in page
    assert "You are Sage, a life coach" in page
    assert "(the next message)" in page
    assert "of 15,000 without the conversation" in page
    assert LogEntry.objects.get().object_id == str(session.id)
    assert Message.unscoped.count() == 2
    assert address in client.get(f"/admin/sessions_app/session/{session.id}/change/").content.decode()
    assert client.get(address.replace(str(session.id), str(uuid.uuid4()))).status_code == 404
