"""The section `next_steps`: the nearest ten, whole in the opening, and later what has changed alone."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.clock.days import local_day
from coaching.context.entries import Section
from coaching.context.life import LifeQuery, known, read_life
from coaching.context.next_steps import next_steps
from coaching.context.step_asks import due_part, week_part
from coaching.library.clients import own_client
from coaching.library.decisions import undo
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.library.resolutions import Becomes, Resolution, note_asked, resolve
from coaching.models import ActionItem, MadeBy, Profile, SessionScope
from sessions_app.models import Session
from tests.library.rows import make_client, make_document

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 18, 8, tzinfo=UTC)
TODAY = date(2026, 11, 18)


def make_step(user: User, title: str, **values: Any) -> ActionItem:
    new = NewAction(**{"client_id": own_client(user.pk).pk, "title": title, **values})
    return propose(user_id=user.pk, new=new, made_by=MadeBy.CHAT, is_accepted=True)


def section_of(user: User, session: Session | None = None) -> Section | None:
    profile, _ = Profile.of(user.pk).select_related("user").get_or_create()
    session = session or Session.of(user.pk).create()
    life = read_life(LifeQuery(profile=profile, session_id=session.id, now=NOW))
    return next_steps(known(life.steps))


def shown(section: Section | None) -> str:
    assert section is not None
    return section.render()


def test_the_nearest_come_first_with_date_and_words(user: User) -> None:
    make_step(user, "Some day")
    make_step(user, "Later", due_date=TODAY + timedelta(days=9))
    step = make_step(
        user,
        "Call Mum",
        due_date=TODAY + timedelta(days=1),
        due_time=time(18, 30),
        repeats="weekly",
        quote="I'll call Mum on Thursday.",
        message_number=3,
    )
    said_on = local_day(step.created_at, ZoneInfo("UTC"))
    assert [line for line in shown(section_of(user)).splitlines() if line[0] != "<"] == [
        f"Call Mum; they said on {said_on:%A %Y-%m-%d}: “I'll call Mum on Thursday.”",
        "Later",
        f"Some day; noted {said_on:%A %Y-%m-%d}",
    ]  # fmt: skip
    assert f'<step id="{step.pk}" due="Thursday 2026-11-19 18:30" repeats="thu">' in shown(section_of(user))


def test_ten_at_most_and_few_tokens(user: User) -> None:
    for number in range(30):
        words = f"I'll do the thing with number {number} in the morning, before anybody else is up."
        make_step(user, f"Thing {number:02}", due_date=TODAY, quote=words, message_number=1)
    section = section_of(user)
    assert section is not None
    assert len(section.entries) == 10
    assert sum(section.sizes) < 500


def test_of_forty_steps_those_of_today_come_first_and_their_number_is_said(user: User) -> None:
    for age in range(1, 21):
        make_step(user, f"Overdue by {age}", due_date=TODAY - timedelta(days=age))
    for number in range(14):
        make_step(user, f"Some day {number}")
    for days in (3, 1, 30):
        make_step(user, f"Due in {days}", due_date=TODAY + timedelta(days=days))
    for hour in (15, 9):
        make_step(user, f"Today at {hour}", due_date=TODAY, due_time=time(hour))
    make_step(user, "Today", due_date=TODAY)
    lines = shown(section_of(user)).splitlines()
    assert lines[0] == '<next_steps open="40">'
    assert [line for line in lines if line[0] != "<"] == [
        "Today at 9", "Today at 15", "Today", "Due in 1", "Overdue by 1", "Overdue by 2", "Due in 3",
        "Overdue by 3", "Overdue by 4", "Overdue by 5",
    ]  # fmt: skip
    marks = [line.partition(' is="')[2].partition('"')[0] for line in lines if line.startswith("<step ")]
    assert marks == ["today"] * 3 + ["", "overdue", "overdue", "", "overdue", "overdue", "overdue"]


def test_of_steps_without_a_date_the_newest_come_with_their_day(user: User) -> None:
    for number in range(12):
        make_step(user, f"Some day {number}")
    section = shown(section_of(user))
    assert section.startswith('<next_steps open="12">')
    assert section.index("Some day 11; noted ") < section.index("Some day 2; noted ")
    assert "Some day 1;" not in section


def test_a_clients_steps_come_before_the_persons_own(user: User) -> None:
    client = make_client(user, "Anna")
    for number in range(10):
        make_step(user, f"Mine {number}", due_date=TODAY)
    make_step(user, "For Anna", client_id=client.pk, due_date=TODAY + timedelta(days=20))
    session = Session.of(user.pk).create()
    SessionScope.unscoped.create(session=session, client=client)
    section = shown(section_of(user, session))
    assert section.index("For Anna") < section.index("Mine 0")
    assert '<next_steps open="11">' in section


def test_later_only_what_changed_is_told(user: User) -> None:
    one, two, three = (make_step(user, title) for title in ("One", "Two", "Three"))
    before = section_of(user)
    assert before is not None
    resolution = Resolution(becomes="done", today=TODAY, now=NOW, outcome="It went well.")
    resolve(user_id=user.pk, step_id=one.pk, resolution=resolution)
    undo(user_id=user.pk, model=ActionItem, row_id=two.pk, now=timezone.now())
    four = make_step(user, "Four")
    now = section_of(user)
    assert now is not None
    changes = now.since(before.digest)
    assert changes is not None
    assert changes.digest == now.digest != before.digest
    told = changes.render()
    changed_on = local_day(one.created_at, ZoneInfo("UTC"))
    assert f'<step id="{four.pk}">\nFour; noted ' in told
    assert (
        f'<step id="{one.pk}" state="done {changed_on:%A %Y-%m-%d}">\nOne; how it went: It went well.\n'
        in told
    )
    assert (
        f'<step id="{two.pk}" state="taken back {changed_on:%A %Y-%m-%d}">\nThe person took it back: ' in told
    )
    assert f'id="{three.pk}"' not in told
    assert now.since(now.digest) is None


def test_other_clients_and_withheld_documents_are_left_out(user: User, other_user: User) -> None:
    make_step(other_user, "Theirs")
    client = make_client(user, "Anna")
    make_step(user, "For Anna", client_id=client.pk)
    document = make_document(own_client(user.pk), is_withheld=True)
    make_step(user, "Secret", document_id=document.pk)
    assert section_of(user) is None
    session = Session.of(user.pk).create()
    SessionScope.unscoped.create(session=session, client=client)
    assert 'about="Anna">\nFor Anna; noted ' in shown(section_of(user, session))


def test_each_due_step_is_asked_about_once_for_its_date(user: User) -> None:
    step = make_step(user, "Call Mum", due_date=TODAY)
    make_step(user, "Later", due_date=TODAY + timedelta(days=1))
    evening, sunday = Session.of(user.pk).create(), Session.of(user.pk).create()
    profile, _ = Profile.of(user.pk).select_related("user").get_or_create()

    def asked(session: Session, arc: str, today: date) -> list[int]:
        life = read_life(LifeQuery(profile=profile, session_id=session.id, now=NOW))
        steps = known(life.steps)
        _, ids = due_part(steps, arc=arc, today=today, session_id=session.id, said={})
        note_asked(user_id=user.pk, session_id=session.id, step_ids=ids)
        return list(ids)

    assert asked(evening, "open_day", TODAY) == []
    assert asked(evening, "close_day", TODAY) == [step.pk]
    assert asked(sunday, "weekly_checkin", TODAY) == []
    saturday = TODAY + timedelta(days=3)
    moved = Resolution(becomes="open", today=TODAY, now=NOW, due_date=saturday, quote="not yet, Saturday")
    resolve(user_id=user.pk, step_id=step.pk, resolution=moved)
    assert step.pk not in asked(sunday, "weekly_checkin", TODAY)
    assert step.pk in asked(sunday, "weekly_checkin", saturday)


def test_a_check_in_hears_what_became_of_the_steps_of_its_week(user: User) -> None:
    step = make_step(user, "Call Mum", due_date=TODAY)
    words = "I called her, it was good."
    done = Resolution(becomes="done", today=TODAY, now=NOW, quote=words, outcome=words)
    resolve(user_id=user.pk, step_id=step.pk, resolution=done)
    profile, _ = Profile.of(user.pk).get_or_create()
    how: dict[str, Any] = {"user_id": user.pk, "zone": profile.zone, "said": {}}
    how["now"] = NOW + timedelta(days=4)
    part = week_part(arc="weekly_checkin", **how)
    assert part is not None
    assert f"Call Mum; their words: {words}" in part.text
    assert week_part(arc="close_day", **how) is None
    assert week_part(arc="weekly_checkin", **{**how, "now": NOW + timedelta(days=8)}) is None


def test_a_moved_step_says_when_and_in_which_words_until_it_is_done(user: User) -> None:
    said = "I'll look at the budget on Wednesday."
    step = make_step(
        user, "Look at the budget", due_date=TODAY, repeats="weekly", quote=said, message_number=3
    )

    def becomes(becomes: Becomes, quote: str, number: int, due_date: date | None = None) -> str:
        resolution = Resolution(
            becomes=becomes,
            today=TODAY,
            now=NOW + timedelta(minutes=number),
            due_date=due_date,
            quote=quote,
            message_number=number,
        )
        resolve(user_id=user.pk, step_id=step.pk, resolution=resolution)
        return shown(section_of(user))

    moved = becomes("open", "On Thursday instead.", 5, TODAY + timedelta(days=1))
    assert f"“{said}”; moved on Wednesday 2026-11-18: “On Thursday instead.”" in moved
    assert "moved" not in becomes("done", "I looked at it.", 7), "its next date is no move"
