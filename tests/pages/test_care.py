"""The days after danger on pages: nothing is offered, what is remembered is said, and a button ends it."""

from collections.abc import Iterator
from datetime import time
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from pytest_django import Settings

from coaching.care.reading import read_care
from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import CareEnd, MadeBy, Profile, ReminderKind, SentReminder
from coaching.reminders.mails import begin_mail
from coaching.reminders.words import WORDS, words_for
from coaching.transcript.why import section_name
from tests.browsers import page_of
from tests.context.conftest import put_file
from tests.context.test_care import ACUTE, DARK, FRIEND, NIGHT, after, spoke
from tests.reminders.conftest import reminded

pytestmark = pytest.mark.django_db

BUTTON = "I’m all right. Don’t ask again"


@pytest.fixture(autouse=True)
def morning() -> Iterator[None]:
    """It is the next morning."""
    with time_machine.travel(after(1), tick=True):
        yield


@pytest.fixture
def browser(user: User, client: Client) -> Client:
    """The browser of somebody in Lisbon who hasn't done anything yet."""
    Profile.unscoped.create(user=user, timezone="Europe/Lisbon")
    client.force_login(user)
    return client


@pytest.mark.parametrize(("words", "is_offered"), [(ACUTE, False), (DARK, False), (FRIEND, True)])
def test_home_and_a_new_conversation_offer_nothing(
    browser: Client, user: User, words: str, is_offered: bool
) -> None:
    assert "You don’t have a life map yet." in page_of(browser, "/")
    spoke(user, words, NIGHT)
    home = page_of(browser, "/")
    assert ("You don’t have a life map yet." in home) is is_offered
    assert ("Weekly check-in</h2>" in home) is is_offered
    assert ("Due now" in page_of(browser, "/chat/")) is is_offered
    assert 'value="life_mapping"' in home, "what the person wants can still be begun"


def test_reminders_ask_for_nothing_and_dont_say_why(browser: Client, user: User) -> None:
    profile = Profile.of(user.pk).select_related("user").get()
    spoke(user, ACUTE, NIGHT)
    for kind in WORDS:
        words = words_for(profile, kind, now=after(1))
        assert (words.title, words.session_kind) == ("Sage is here", "open_conversation")
        assert words_for(profile, kind, now=after(15)).title != "Sage is here"
    assert browser.get("/reminders/check_in/").headers["Location"].startswith("/")


def test_a_reminder_by_mail_has_the_quiet_words(browser: Client, user: User, settings: Settings) -> None:
    settings.HAS_MAIL = True
    reminded(user, ReminderKind.DAY, time(8))
    spoke(user, ACUTE, NIGHT)
    today = after(1).date()
    SentReminder.unscoped.create(user=user, kind=ReminderKind.DAY, day=today, due_at=after(1))
    message = begin_mail(user_id=user.pk, kind=ReminderKind.DAY, day=today, now=after(1))
    assert message is not None
    assert message.subject == "Sage is here"
    assert "plan" not in str(message.body).lower()
    assert mail.outbox == []


def test_a_reminder_of_next_steps_goes_on_without_their_words(
    browser: Client, user: User, settings: Settings
) -> None:
    settings.HAS_MAIL = True
    reminded(user, ReminderKind.STEPS, time(8), with_words=True)
    today = after(1).date()
    new = NewAction(client_id=own_client(user.pk).pk, title="See the doctor", due_date=today)
    with time_machine.travel(after(-3), tick=False):
        propose(user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True)
    spoke(user, ACUTE, NIGHT)
    sent: dict[str, Any] = {"kind": ReminderKind.STEPS, "day": today, "at": time(8)}
    SentReminder.unscoped.create(user=user, due_at=after(1), **sent)
    message = begin_mail(user_id=user.pk, now=after(1), **sent)
    assert message is not None
    assert message.subject == "A next step is due"
    assert "doctor" not in str(message.body)


@pytest.mark.parametrize("address", ["/safety/", "/settings/data/"])
def test_the_person_sees_what_is_remembered_and_ends_it(browser: Client, user: User, address: str) -> None:
    assert BUTTON not in page_of(browser, address)
    spoke(user, ACUTE, NIGHT)
    page = page_of(browser, address)
    assert "On Monday, 16 November you wrote something that sounded as if you could be in danger." in page
    assert "until Monday, 30 November" in page
    assert "Until then, it suggests nothing by itself." in page
    assert "again after three and seven days" in page
    assert ACUTE not in page
    answer = browser.post("/safety/questions/end/", follow=True)
    assert "Sage won’t ask you about it again." in answer.content.decode()
    assert BUTTON not in answer.content.decode()
    browser.post("/safety/questions/end/")
    assert CareEnd.of(user.pk).count() == 1
    care = read_care(user_id=user.pk, now=after(1), zone=Profile.of(user.pk).get().zone)
    assert not care.is_standing


def test_the_card_leads_to_what_is_remembered_while_it_is_and_to_the_rules_afterwards(
    browser: Client, user: User
) -> None:
    danger = spoke(user, ACUTE, NIGHT)
    assert f'href="/safety/?from={danger.session_id}#care"' in page_of(browser, f"/chat/{danger.session_id}/")
    assert BUTTON in page_of(browser, "/safety/").partition('<div id="care">')[2]
    page = browser.post("/safety/questions/end/", follow=True).content.decode()
    assert "What Sage remembers, and for how long" in page.partition('<div id="care">')[2]


def test_somebody_elses_danger_is_said_as_such(browser: Client, user: User) -> None:
    spoke(user, FRIEND, NIGHT)
    page = page_of(browser, "/safety/")
    assert "On Monday, 16 November you wrote that somebody else could be in danger." in page
    assert "It asks once how that person is." in page


def test_strangers_see_for_how_long_and_no_button(client: Client) -> None:
    page = page_of(client, "/safety/")
    assert "Sage remembers for 14 days that you wrote them" in page
    assert BUTTON not in page
    assert client.post("/safety/questions/end/").headers["Location"].startswith("/accounts/login/")


def test_the_reason_of_an_answer_names_it() -> None:
    assert section_name("care") == "Danger that you wrote about"
    assert section_name("care_ask") == "To ask how you are"


def test_a_flagged_part_of_life_is_shown_where_it_is_looked_up(browser: Client, user: User) -> None:
    put_file(user, "life-map/health.md", "Bad.", status="in_crisis")
    spoke(user, ACUTE, NIGHT)
    assert "In crisis" in page_of(browser, "/map/")
