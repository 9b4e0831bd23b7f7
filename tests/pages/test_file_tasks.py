"""Boxes of a file's task lists, ticked on its page."""

import re
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coaching.models import DayPlan, FileType, PulseRating
from tests.browsers import page_of
from tests.files.auditor import audit_files
from tests.pages.file_pages import CAREER, Write, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]

TEXT = "Some *words*.\n\n- [ ] Call <Ben>\n- [x] Walk\n  - [ ] Inner\n\n```\n- [ ] Code\n```"


def boxes_in(page: str) -> list[tuple[str, str]]:
    return re.findall(r'role="checkbox" aria-checked="(\w+)".*?</button>\s*(.*?)</label>', page, re.DOTALL)


def tick(client: Client, place: int, value: str = "1", *, version: int, **options: str) -> str:
    response = client.post(f"{CAREER}/tick/", {"version": version, f"box-{place}": value}, headers=options)
    assert response.status_code == HTTPStatus.SEE_OTHER, response.content.decode()
    return page_of(client, CAREER)


def lines(user: User) -> list[str]:
    newest: str = audit_files(user.pk)["life-map/career.md"][-1]
    return [line for line in newest.splitlines() if "[" in line]


def test_a_tick_changes_one_line_and_makes_a_version(signed_in: Client, user: User, write: Write) -> None:
    write(TEXT, status="good", updated_rating=3)
    page = page_of(signed_in, CAREER)
    assert boxes_in(page) == [("false", "Call &lt;Ben&gt;"), ("true", "Walk"), ("false", "Inner")]
    page = tick(signed_in, 0, version=1)
    assert boxes_in(page)[0] == ("true", "Call &lt;Ben&gt;")
    assert lines(user) == ["- [x] Call <Ben>", "- [x] Walk", "  - [ ] Inner", "- [ ] Code"]
    tick(signed_in, 0, version=2)
    assert len(audit_files(user.pk)["life-map/career.md"]) == 2, "it was ticked already"
    tick(signed_in, 1, "0", version=2)
    tick(signed_in, 2, version=3)
    assert lines(user) == ["- [x] Call <Ben>", "- [ ] Walk", "  - [x] Inner", "- [ ] Code"]
    assert PulseRating.unscoped.count() == 1, "a tick is no new rating"
    assert "status: good" in audit_files(user.pk)["life-map/career.md"][-1]
    assert 'role="checkbox"' not in page_of(signed_in, f"{CAREER}?version=1"), "an old version stays"


def test_a_tick_on_an_older_page_reaches_its_line_or_nothing(
    signed_in: Client, user: User, write: Write
) -> None:
    write(TEXT)
    write(TEXT.replace("Some", "Other"))
    tick(signed_in, 2, version=1)
    assert lines(user)[2] == "  - [x] Inner"
    assert "Other *words*." in audit_files(user.pk)["life-map/career.md"][-1]
    write(TEXT.replace("- [ ] Call <Ben>\n", ""))
    for opened in (1, 99, 0):
        assert "The file has changed in the meantime" in tick(signed_in, 0, version=opened)
    assert lines(user) == ["- [x] Walk", "  - [ ] Inner", "- [ ] Code"]
    for form in (
        {"version": "4"},
        {"box-0": "1"},
        {"version": "4", "box-x": "1"},
        {"version": "x", "box-0": "1"},
    ):
        assert signed_in.post(f"{CAREER}/tick/", form).status_code == HTTPStatus.SEE_OTHER
    assert (
        signed_in.post(f"{CAREER}/tick/", {"version": "4", "box-7": "1"}).status_code == HTTPStatus.SEE_OTHER
    )
    assert len(audit_files(user.pk)["life-map/career.md"]) == 4


def test_with_htmx_the_part_comes_with_its_versions_and_refusals(signed_in: Client, write: Write) -> None:
    write(TEXT)
    asked = {"headers": {"HX-Request": "true"}}
    answer = signed_in.post(f"{CAREER}/tick/", {"version": 1, "box-0": "1"}, **asked)  # type: ignore[arg-type]
    part = answer.content.decode()
    assert boxes_in(part)[0][0] == "true"
    assert 'name="version" value="2"' in part
    assert "Version 2</a>" in part
    answer = signed_in.post(f"{CAREER}/tick/", {"version": 9, "box-0": "0"}, **asked)  # type: ignore[arg-type]
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "The file has changed in the meantime" in answer.content.decode()


def test_what_only_looks_like_a_box_isnt_ticked(signed_in: Client, user: User, write: Write) -> None:
    # Four spaces below a paragraph's blank line are code, which only the renderer knows.
    text = "Words\n\n    - [ ] Code\n\n- [ ] One"
    write(text)
    assert boxes_in(page_of(signed_in, CAREER)) == [], "lines and boxes don't match"
    assert "can’t be ticked here" in tick(signed_in, 0, version=1)
    assert lines(user) == ["    - [ ] Code", "- [ ] One"]
    send(signed_in, "No list", version=1)
    assert boxes_in(page_of(signed_in, CAREER)) == []


def test_ticks_in_a_plans_file_leave_the_days_ticks_alone(
    signed_in: Client, user: User, write: Write
) -> None:
    address = write("- [ ] Swim", FileType.DAY_PLAN, intention="Slow", priorities=["Rest"])
    DayPlan.unscoped.update(priorities=[{"text": "Rest", "is_done": True}])
    signed_in.post(f"{address}/tick/", {"version": 1, "box-0": "1"})
    assert "- [x] Swim" in audit_files(user.pk)[address.removeprefix("/files/")][-1]
    plan = DayPlan.unscoped.get()
    assert (plan.intention, plan.priorities) == ("Slow", [{"text": "Rest", "is_done": True}])
