"""The journal's stream: the days of a month, newest first, with what there is of each."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.library.resolutions import Resolution, resolve
from coaching.life.capture_verdicts import note_capture
from coaching.life.stream import LOG_CHARACTERS
from coaching.models import FileType, LifeDomain, MadeBy, PulseRating, UserFileVersion
from coaching.safety.card import danger_in
from tests.life.conftest import NOON, TODAY, KeepCapture, KeepFile, KeepPlan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]


@pytest.fixture
def stream(browser: Client) -> Callable[..., str]:
    """Return the stream's part of the journal's page."""

    def read(query: str = "") -> str:
        page = browser.get(f"/journal/{query}").content.decode()
        return page.partition('<section class="stream"')[2].partition("</section>\n  </div>")[0]

    return read


def days_of(stream: str) -> list[str]:
    return re.findall(r'<li class="stream-day" id="day-(.*?)">', stream)


def day_of(stream: str, day: date) -> str:
    return stream.partition(f'id="day-{day}">')[2].partition('<li class="stream-day"')[0]


def keep_log(keep_file: KeepFile, user: User, day: str, body: str = "", **attributes: Any) -> None:
    keep_file(user, FileType.DAILY_LOG, body or f"The log of {day}.", name=day, **attributes)


def test_days_come_newest_first_and_empty_ones_not_at_all(
    stream: Callable[..., str], person: User, keep_file: KeepFile, keep_plan: KeepPlan
) -> None:
    keep_log(keep_file, person, "2026-10-30")
    keep_log(keep_file, person, "2026-11-02", mood_signal="calm", energy="low")
    keep_log(keep_file, person, "2026-11-12", "It went <well>.")
    keep_plan(person, "Swim", "Call <Ada>", intention="Unhurried")
    shown = stream()
    assert days_of(shown) == ["2026-11-18", "2026-11-12", "2026-11-02"]
    assert "It went &lt;well&gt;." in day_of(shown, date(2026, 11, 12))
    assert "Unhurried" in day_of(shown, TODAY)
    assert "Call &lt;Ada&gt;" in day_of(shown, TODAY)
    assert 'class="tag">Today' in day_of(shown, TODAY)
    assert "calm" in day_of(shown, date(2026, 11, 2))
    assert "October 2026" in shown.partition("stream-foot")[2], "the days before follow at the end"
    assert days_of(stream("?month=2026-10")) == ["2026-10-30"]


def test_a_day_leads_back_to_its_place_in_the_stream(
    browser: Client, person: User, keep_file: KeepFile
) -> None:
    keep_log(keep_file, person, "2026-10-30")
    day = browser.get("/journal/2026-10-30/").content.decode()
    assert 'href="/journal/?month=2026-10#day-2026-10-30"' in day


def test_captures_are_shown_unless_the_log_of_their_day_has_them(
    stream: Callable[..., str], person: User, keep_capture: KeepCapture, keep_file: KeepFile
) -> None:
    for number in range(5):
        keep_capture(person, f"Thought {number}", now=NOON.replace(day=4, minute=number))
    shown = day_of(stream(), date(2026, 11, 4))
    assert [number for number in range(5) if f"Thought {number}" in shown] == [0, 1, 2]
    assert "2 more captures" in shown
    assert "13:00" in shown, "in the person's time zone"
    capture = keep_capture(person, "Folded", now=NOON)
    capture.folded_on = TODAY
    capture.save()
    keep_log(keep_file, person, TODAY.isoformat(), "The log.")
    assert "stream-captures" not in day_of(stream(), TODAY)
    capture.folded_on = date(2026, 11, 19)
    capture.save()
    assert "stream-captures" in day_of(stream(), TODAY), "the log of another day has it"


def test_a_long_log_is_cut_at_a_paragraph(
    stream: Callable[..., str], person: User, keep_file: KeepFile
) -> None:
    keep_log(keep_file, person, "2026-11-02", f"First.\n\n{'Second. ' * 100}\n\n{'Third. ' * LOG_CHARACTERS}")
    keep_log(keep_file, person, "2026-11-03", "word " * LOG_CHARACTERS)
    shown = stream()
    assert "Second. Second." in day_of(shown, date(2026, 11, 2))
    assert "Third." not in day_of(shown, date(2026, 11, 2))
    assert "word …" in day_of(shown, date(2026, 11, 3))
    assert shown.count("Read the whole log") == 2


def test_a_heading_alone_is_not_the_beginning_of_a_log(
    stream: Callable[..., str], person: User, keep_file: KeepFile
) -> None:
    keep_log(keep_file, person, "2026-11-02", f"# A heading\n\n{'word ' * LOG_CHARACTERS}")
    assert "word word …" in day_of(stream(), date(2026, 11, 2))


def test_a_long_capture_says_that_it_is_cut_and_links_the_rest(
    stream: Callable[..., str], browser: Client, person: User, keep_capture: KeepCapture
) -> None:
    path = keep_capture(person, "word " * 60, now=NOON).file.path
    shown = day_of(stream(), TODAY)
    assert "word word …</p>" in shown
    assert shown.count(f'href="/files/{path}"') == 2


@pytest.mark.parametrize("size", [80, 5_000])
def test_the_facts_of_a_capture_are_not_shown_as_its_words(
    stream: Callable[..., str], browser: Client, person: User, keep_capture: KeepCapture, size: int
) -> None:
    capture = keep_capture(person, "A thought", now=NOON)
    text = f"---\ntype: capture\nenergy: {'e' * size}\nmood_signal: {'m' * size}\n---\n\nA thought\n"
    UserFileVersion.of(person.pk).filter(file=capture.file).update(content=text)
    for page in (day_of(stream(), TODAY), browser.get(f"/journal/{TODAY}/").content.decode()):
        assert "mood_signal" not in page
        assert capture.file.path in page
        assert ("A thought" in page) == (size == 80)


def test_the_letter_s_line_is_only_shown_where_nobody_is_in_danger(
    stream: Callable[..., str], person: User, keep_file: KeepFile, keep_capture: KeepCapture
) -> None:
    keep_file(person, FileType.LETTER, "Dear Ada", name="2026-11", preview_line="A month of lakes.")
    assert "A month of lakes." in stream()
    words = "I want to kill myself."
    file_id = keep_capture(person, words, now=NOON).file_id
    note_capture(user_id=person.pk, file_id=file_id, version=1, danger=danger_in(words))
    shown = stream()
    assert "month-letter-title" in shown
    assert "A month of lakes." not in shown


def test_a_rating_at_half_past_one_belongs_to_the_evening_before(
    stream: Callable[..., str], person: User
) -> None:
    half_past_one = datetime(2026, 11, 18, 0, 30, tzinfo=UTC)  # in Berlin
    for rating, at in ((2, NOON.replace(day=17)), (4, half_past_one)):
        PulseRating.unscoped.create(user=person, domain=LifeDomain.HEALTH, rating=rating, rated_at=at)
    shown = stream()
    assert days_of(shown) == ["2026-11-17"]
    assert "Health <strong>4</strong>" in shown
    assert "<strong>2</strong>" not in shown


def test_steps_are_there_once_they_are_done(stream: Callable[..., str], person: User) -> None:
    client = own_client(person.pk)
    steps = [
        propose(
            user_id=person.pk,
            new=NewAction(client_id=client.pk, title=title, due_date=TODAY),
            made_by=MadeBy.USER,
            is_accepted=True,
        )
        for title in ("Run", "Write")
    ]
    assert days_of(stream()) == []
    resolve(
        user_id=person.pk, step_id=steps[0].pk, resolution=Resolution(becomes="done", today=TODAY, now=NOON)
    )
    shown = day_of(stream(), TODAY)
    assert ">Run</a>" in shown
    assert ">Write</a>" not in shown


def test_the_calendar_links_days_that_have_captures_or_ratings_only(
    browser: Client, person: User, keep_capture: KeepCapture
) -> None:
    keep_capture(person, "A thought", now=NOON.replace(day=4))
    keep_capture(person, "Earlier", now=NOON.replace(month=10, day=4))
    page = browser.get("/journal/").content.decode()
    assert re.search(r'href="/journal/2026-11-04/" data-column="\d">.*?, captures or ratings</span>', page)
    assert 'href="?month=2026-10"' in page


def test_a_month_of_full_days_takes_a_fixed_number_of_queries(
    browser: Client,
    person: User,
    keep_file: KeepFile,
    keep_capture: KeepCapture,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for day in range(1, 13):
        keep_log(keep_file, person, f"2026-11-{day:02}", mood_signal="calm")
        keep_capture(person, "A thought", now=NOON.replace(day=day))
        PulseRating.unscoped.create(
            user=person, domain=LifeDomain.PLAY, rating=3, rated_at=NOON.replace(day=day)
        )
    with django_assert_max_num_queries(22):
        browser.get("/journal/")
