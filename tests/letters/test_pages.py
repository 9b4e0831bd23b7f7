"""Where letters are asked for and come back: Home, the settings, the journal and the files."""

import re
from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from coaching.job_queue.queue import is_queued
from coaching.models import FileSource, FileType, Letter, Profile, UserFile
from tests.jobs.conftest import empty_queue
from tests.letters.months import FIRST, OCTOBER, keep, october, talk

ASKED = "Yes, write to me"
NEW = "Your letter about October 2026"
PREVIEW = "“I sleep badly since we moved to the new flat.”"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def now() -> Iterator[time_machine.Traveller]:
    """The clock is at the second day of November."""
    with time_machine.travel(FIRST + timedelta(hours=12), tick=False) as traveller:
        yield traveller


@pytest.fixture
def browser(client: Client, user: User) -> Client:
    """The browser of somebody with three conversations in October who was never asked."""
    october(user)
    Profile.of(user.pk).update(wants_letters=None)
    client.force_login(user)
    return client


def page(browser: Client, address: str = "/") -> str:
    response = browser.get(address)
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


def choose(browser: Client, wanted: str, then: str = "home") -> str:
    response = browser.post("/settings/letters/", {"wanted": wanted, "then": then})
    assert response.status_code == HTTPStatus.SEE_OTHER
    return response["Location"]


def keep_letter(user: User) -> None:
    keep(user, FileType.LETTER, "2026-10", source=FileSource.JOB, preview_line=PREVIEW)
    file = UserFile.of(user.pk).get(path="letters/2026-10.md")
    Letter.unscoped.create(user=user, month=OCTOBER, file=file, ended_at=FIRST)


def test_home_asks_once_after_a_month_with_three_conversations(browser: Client, user: User) -> None:
    assert ASKED in page(browser)
    assert choose(browser, "0") == "/"
    assert ASKED not in page(browser)
    assert Profile.of(user.pk).get().wants_letters is False


def test_home_doesnt_ask_after_less(browser: Client, user: User) -> None:
    user.coaching_sessions.order_by("started_at").first().delete()  # type: ignore[union-attr]
    assert ASKED not in page(browser)


def test_a_yes_switches_letters_on_and_queues_the_first_one(browser: Client, user: User) -> None:
    empty_queue()
    choose(browser, "1")
    assert Profile.of(user.pk).get().wants_letters is True
    assert is_queued(f"letter:{user.pk}:{OCTOBER}")
    assert "Sage will write to you" in page(browser)
    empty_queue()


def test_nothing_is_asked_and_nothing_comes_back_in_care(browser: Client, user: User) -> None:
    keep_letter(user)
    assert ASKED in page(browser)
    assert NEW in page(browser)
    talk(user, FIRST, "I want to kill myself.")
    home = page(browser)
    assert ASKED not in home
    assert NEW not in home
    assert "ago today" not in home + page(browser, "/journal/")


def test_the_settings_switch_letters_on_and_off(browser: Client, user: User) -> None:
    assert "Switch letters on" in page(browser, "/settings/")
    assert choose(browser, "1", "") == "/settings/#letters"
    assert "Switch letters off" in page(browser, "/settings/")
    choose(browser, "0", "")
    assert "Switch letters on" in page(browser, "/settings/")
    empty_queue()


def test_saving_the_profile_doesnt_answer_the_question(browser: Client, user: User) -> None:
    given = {"name": "Ada", "timezone": "Europe/Berlin", "checkin_weekday": "2"}
    assert browser.post("/settings/", given).status_code == HTTPStatus.FOUND
    assert Profile.of(user.pk).get().wants_letters is None


@pytest.mark.parametrize("given", [{}, {"wanted": "perhaps"}, {"wanted": "1", "then": "https://example.org"}])
def test_other_answers_are_refused(browser: Client, user: User, given: dict[str, str]) -> None:
    assert browser.post("/settings/letters/", given).status_code == HTTPStatus.BAD_REQUEST
    assert Profile.of(user.pk).get().wants_letters is None


def test_a_new_letter_is_on_home_for_a_week(browser: Client, user: User, now: time_machine.Traveller) -> None:
    keep_letter(user)
    home = page(browser)
    assert re.search(rf'<a href="/files/letters/2026-10.md">{NEW}</a>', home)
    assert PREVIEW in home
    now.move_to(FIRST + timedelta(days=8))
    assert NEW not in page(browser)


def test_a_deleted_letter_is_nowhere(browser: Client, user: User) -> None:
    keep_letter(user)
    assert browser.post("/files/letters/2026-10.md/delete/").status_code == HTTPStatus.SEE_OTHER
    assert NEW not in page(browser) + page(browser, "/journal/?month=2026-10")


def test_the_journal_has_the_letter_of_its_month(browser: Client, user: User) -> None:
    keep_letter(user)
    assert NEW in page(browser, "/journal/?month=2026-10")
    assert NEW not in page(browser, "/journal/")


def test_files_have_it_in_a_folder_of_its_own_by_the_months_name(browser: Client, user: User) -> None:
    keep_letter(user)
    keep(user, FileType.LETTER, "2026-09", source=FileSource.JOB, preview_line=PREVIEW)
    listed = page(browser, "/files/")
    assert listed.index("October 2026") < listed.index("September 2026")
    folder = page(browser, "/files/?folder=letters")
    assert folder.index("October 2026") < folder.index("September 2026")
    shown = page(browser, "/files/letters/2026-10.md")
    assert re.search(r"<h1[^>]*>(?:<bdi>)?October 2026", shown)
    assert "Letter of the month" in shown
    assert page(browser, "/files/letters/2026-10.md/edit/")


def test_a_month_ago_today_is_on_home_and_in_the_journal(browser: Client, user: User) -> None:
    plan = "Walk home slowly."
    keep(user, FileType.DAY_PLAN, "2026-10-02", intention=plan, source=FileSource.USER)
    for address in ("/", "/journal/"):
        shown = page(browser, address)
        assert "A month ago today" in shown
        assert plan in shown
        assert 'href="/journal/2026-10-02/"' in shown
    assert "ago today" not in page(browser, "/journal/?month=2026-10")


def test_nobody_sees_the_letter_of_somebody_else(
    browser: Client, user: User, other_user: User, client: Client
) -> None:
    keep_letter(user)
    client.force_login(other_user)
    assert NEW not in page(client) + page(client, "/journal/?month=2026-10")
    assert client.get("/files/letters/2026-10.md").status_code == HTTPStatus.NOT_FOUND
