"""Captures: added once from anywhere, taken in by the day's log, archived and restored."""

import re
import threading
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from coaching.files.frontmatter import parse_file
from coaching.life.captures import keep_capture as keep
from coaching.life.captures import read_waiting_captures, set_archived
from coaching.models import Capture, FileSource, FileType, Profile, UserFile, UserFileVersion
from coaching.skills.facts import build_life_facts
from coaching.views.captures import CAPTURES_A_PAGE
from tests.browsers import browser_of
from tests.life.conftest import NOON, TODAY, KeepCapture, KeepFile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]

PART = {"HX-Request": "true"}


def text_of(capture: Capture) -> str:
    version = UserFileVersion.unscoped.get(file=capture.file, number=capture.file.version_number)
    return parse_file(version.content)[1].rstrip("\n")


def test_a_thought_is_a_file_of_the_users_own_in_the_users_own_time(person: User, browser: Client) -> None:
    response = browser.post("/capture/", {"text": "Paint that light.", "id": "one"})
    assert response.status_code == HTTPStatus.SEE_OTHER
    assert response["Location"] == "/capture/#captures"
    capture = Capture.unscoped.get(user=person)
    assert capture.file.path == "captures/2026-11-18-130000.md"
    assert capture.captured_at == NOON
    version = UserFileVersion.unscoped.get(file=capture.file)
    assert version.source == FileSource.USER
    assert version.content == "---\ntype: capture\ndate: 2026-11-18\n---\n\nPaint that light.\n"
    page = browser.get("/capture/").content.decode()
    assert "Saved to your captures." in page
    assert "Paint that light." in page


def test_the_same_id_twice_is_one_capture(person: User, browser: Client) -> None:
    for _ in range(3):
        browser.post("/capture/", {"text": "Once.", "id": "same"})
    assert Capture.unscoped.count() == UserFile.unscoped.count() == 1
    browser.post("/capture/", {"text": "Once.", "id": "another"})
    browser.post("/capture/", {"text": "Nobody named this."})
    browser.post("/capture/", {"text": "Nor this."})
    assert Capture.unscoped.count() == 4
    assert UserFile.unscoped.filter(path="captures/2026-11-18-130000-4.md").exists()


def test_other_words_under_the_same_id_are_a_capture_of_their_own(
    person: User, browser: Client, at_noon: time_machine.Traveller
) -> None:
    words = ["Buy bread", "Buy bread, and call the landlord.", "---\ntype: note\n---\n"]
    for text in (*words, *words):
        assert browser.post("/capture/", {"text": f" {text}\r\n", "id": "same"}).status_code == 303
        at_noon.shift(timedelta(days=1))  # a repeat has another date in its frontmatter
    kept = [text_of(capture) for capture in Capture.of(person.pk).order_by("id")]
    assert kept == [*words[:2], "\\---\ntype: note\n---"]
    assert UserFile.of(person.pk).count() == 3


def test_a_capture_that_was_edited_since_is_known_by_its_first_words(person: User, browser: Client) -> None:
    browser.post("/capture/", {"text": "Once.", "id": "same"})
    path = UserFile.of(person.pk).get().path
    browser.post(f"/files/{path}/edit/", {"body": "Changed.", "version": "1"})
    assert UserFile.of(person.pk).get().version_number == 2
    browser.post("/capture/", {"text": "Once.", "id": "same"})
    assert Capture.of(person.pk).count() == 1
    browser.post("/capture/", {"text": "Changed.", "id": "same"})
    assert Capture.of(person.pk).count() == 2


def test_an_id_is_the_senders_own(person: User, other_user: User, browser: Client) -> None:
    browser.post("/capture/", {"text": "Mine.", "id": "same"})
    theirs = keep(user_id=other_user.pk, text="Theirs.", client_id="same", now=NOON, timezone=ZoneInfo("UTC"))
    assert theirs.user_id == other_user.pk


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("texts", [["Once."], ["Once.", "And more."]])
def test_the_same_id_at_once_is_one_capture_for_each_text(person: User, texts: list[str]) -> None:
    kept: list[int] = []

    def send(text: str) -> None:
        capture = keep(
            user_id=person.pk, text=text, client_id="same", now=NOON, timezone=ZoneInfo("Europe/Berlin")
        )
        kept.append(capture.pk)
        connection.close()

    threads = [threading.Thread(target=send, args=(text,)) for text in texts for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept) == 4 * len(texts)
    assert len(set(kept)) == len(texts)
    assert Capture.unscoped.count() == UserFile.unscoped.count() == len(texts)
    assert UserFileVersion.unscoped.count() == len(texts)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "write something"), ("  \n ", "write something"), ("x" * 20_001, "20,001 characters"),
        ("a\x00b", "read that"),
    ],
)  # fmt: skip
def test_what_cant_be_kept_is_refused_and_stays_in_the_field(
    person: User, browser: Client, text: str, says: str
) -> None:
    response = browser.post("/capture/", {"text": text, "id": "one"})
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = response.content.decode()
    assert says in page
    assert text.strip() in page
    part = browser.post("/capture/", {"text": text, "id": "one"}, headers=PART)
    assert part.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "<html" not in part.content.decode()
    assert not UserFile.unscoped.exists()


def test_a_forms_line_break_counts_as_one_character_as_on_the_page(person: User, browser: Client) -> None:
    lines = "x" * 320 + "\r\n"
    fits = lines * 62 + "x" * (20_000 - 62 * 321)
    assert browser.post("/capture/", {"text": fits, "id": "one"}).status_code == HTTPStatus.SEE_OTHER
    assert browser.post("/capture/", {"text": f"{fits}x", "id": "two"}).status_code == 422
    content = UserFileVersion.of(person.pk).get().content
    assert content.endswith(fits.replace("\r\n", "\n") + "\n")


def test_a_persons_own_words_are_never_taken_for_frontmatter(person: User, browser: Client) -> None:
    text = "---\nmood: low\n---\nand words"
    browser.post("/capture/", {"text": text})
    assert text_of(Capture.unscoped.get()) == f"\\{text}"


def test_a_failed_storage_is_reported_and_nothing_is_lost(
    person: User, browser: Client, settings: object
) -> None:
    nowhere = {
        "BACKEND": "coaching.files.disk_storage.DiskObjectStorage",
        "OPTIONS": {"location": "/dev/null"},
    }
    settings.STORAGES = {**settings.STORAGES, "default": nowhere}  # type: ignore[attr-defined]
    response = browser.post("/capture/", {"text": "Keep me.", "id": "one"})
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "couldn’t be saved just now" in response.content.decode()
    assert "Keep me." in response.content.decode()
    assert not Capture.unscoped.exists()


def test_the_log_of_the_day_folds_what_was_caught_on_it(
    person: User, browser: Client, keep_file: KeepFile, keep_capture: KeepCapture
) -> None:
    keep_capture(person, "yesterday", now=NOON - timedelta(days=1))
    browser.post("/capture/", {"text": "today"})
    with time_machine.travel(datetime(2026, 11, 19, 2, 59, tzinfo=UTC), tick=False):
        browser.post("/capture/", {"text": "past midnight, still today"})
    with time_machine.travel(datetime(2026, 11, 19, 3, 1, tzinfo=UTC), tick=False):
        browser.post("/capture/", {"text": "tomorrow"})
    keep_file(person, FileType.DAILY_LOG, name=str(TODAY), now=NOON + timedelta(days=1))
    waiting = read_waiting_captures(user_id=person.pk, limit=10)
    assert [capture.text for capture in waiting.newest] == ["tomorrow", "yesterday"]
    folded = Capture.unscoped.filter(folded_on__isnull=False)
    assert set(folded.values_list("folded_on", flat=True)) == {TODAY}


def test_what_comes_after_the_day_was_closed_goes_into_the_next_log(
    person: User, keep_file: KeepFile, keep_capture: KeepCapture
) -> None:
    monday, tuesday = NOON - timedelta(days=2), NOON - timedelta(days=1)
    keep_capture(person, "of a day that nobody closed", now=monday)
    keep_file(person, FileType.DAILY_LOG, name=str(tuesday.date()), now=tuesday)
    late = keep_capture(person, "late", now=tuesday + timedelta(hours=9))
    put_away = keep_capture(person, "late, put away", now=tuesday + timedelta(hours=9))
    set_archived(user_id=person.pk, capture_id=put_away.pk, at=NOON)
    keep_file(person, FileType.DAILY_LOG, name=str(tuesday.date() - timedelta(days=3)), now=NOON)
    late.refresh_from_db()
    assert late.folded_on is None, "that log is of a day before it"
    keep_file(person, FileType.DAILY_LOG, name=str(TODAY), now=NOON)
    waiting = read_waiting_captures(user_id=person.pk, limit=10)
    assert [capture.text for capture in waiting.newest] == ["of a day that nobody closed"]
    assert list(Capture.unscoped.exclude(folded_on=None).values_list("pk", "folded_on")) == [(late.pk, TODAY)]


def test_no_page_promises_a_log_that_may_never_come(person: User, browser: Client) -> None:
    for address in ("/", "/capture/"):
        page = browser.get(address).content.decode()
        assert "This evening" not in page
        assert "into the next log if today is already closed." in page
    assert "Captures of a day that isn’t closed stay here until you archive them." in page


@pytest.mark.parametrize(
    ("moment", "path"),
    [
        # Berlin's repeated hour: both times belong to the day before.
        ("2026-10-25T00:30:00+00:00", "captures/2026-10-24-023000"),
        ("2026-10-25T01:30:00+00:00", "captures/2026-10-24-023000"),
        ("2026-10-25T03:00:00+00:00", "captures/2026-10-25-040000"),
        # The skipped hour.
        ("2027-03-28T00:59:59+00:00", "captures/2027-03-27-015959"),
        ("2027-03-28T01:00:00+00:00", "captures/2027-03-27-030000"),
        ("2027-03-28T02:00:00+00:00", "captures/2027-03-28-040000"),
    ],
)
def test_a_capture_is_of_the_day_that_the_person_lives(person: User, moment: str, path: str) -> None:
    with time_machine.travel(datetime.fromisoformat(moment), tick=False):
        browser_of(person).post("/capture/", {"text": "now"})
    assert UserFile.unscoped.get().path == f"{path}.md"


def test_home_lists_what_waits_and_puts_it_away(
    person: User, browser: Client, keep_capture: KeepCapture
) -> None:
    capture = keep_capture(person, "A <b>bold</b> idea")
    page = browser.get("/").content.decode()
    assert "A &lt;b&gt;bold&lt;/b&gt; idea" in page
    address = f"/capture/{capture.pk}/"
    response = browser.post(address, {"do": "put_away", "then": "home"})
    assert response["Location"] == f"/?away={capture.pk}#captures"
    page = browser.get(f"/?away={capture.pk}").content.decode()
    assert "bold" not in page.replace("recent", "").split("Recent files")[0].split("Captures")[1]
    assert "Restore" in page
    assert build_life_facts(user_id=person.pk, now=NOON).unfolded_captures == 0
    assert browser.get(f"/files/{capture.file.path}").status_code == HTTPStatus.OK
    part = browser.post(address, {"do": "bring_back", "then": "home"}, headers=PART).content.decode()
    assert part.startswith('<div class="captures-list"')
    assert "bold" in part
    assert Capture.unscoped.get().put_away_at is None


def test_all_that_were_seen_are_put_away_at_once(
    person: User, browser: Client, keep_capture: KeepCapture
) -> None:
    seen = [keep_capture(person, f"idea {number}") for number in range(3)]
    newer = keep_capture(person, "came later")
    response = browser.post("/capture/all/", {"newest": seen[-1].pk})
    assert response["Location"] == "/capture/"
    assert list(Capture.of(person.pk).waiting()) == [newer]
    for nonsense in ("", "x", "-1", "9" * 30, "²"):
        browser.post("/capture/all/", {"newest": nonsense})
    assert list(Capture.of(person.pk).waiting()) == [newer]


def test_a_long_capture_shows_its_beginning(person: User, browser: Client, keep_capture: KeepCapture) -> None:
    keep_capture(person, "word " * 4_000)
    page = browser.get("/capture/").content.decode()
    assert "word word" in page
    assert " …</p>" in page
    assert page.count("word") < 300


def test_a_changed_capture_is_listed_once_with_its_newest_words(
    person: User, keep_capture: KeepCapture
) -> None:
    capture = keep_capture(person, "old words")
    capture.file.version_number = 2
    capture.file.save()
    UserFileVersion.unscoped.create(
        file=capture.file, number=2, content="new words", size=9, sha256="", storage_key="k2", source="user"
    )
    waiting = read_waiting_captures(user_id=person.pk, limit=10)
    assert [found.text for found in waiting.newest] == ["new words"]
    assert waiting.total == 1


def test_the_address_names_only_pages_of_ours(person: User, browser: Client) -> None:
    response = browser.post("/capture/", {"text": "x", "then": "https://example.org/"})
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert browser.post("/capture/", {"text": "x", "then": "home"})["Location"] == "/#captures"


@pytest.mark.parametrize("away", ["x", "-1", "%00", "9" * 40, "²"])
def test_a_strange_word_in_the_address_is_nothing(person: User, browser: Client, away: str) -> None:
    assert "Restore" not in browser.get(f"/capture/?away={away}").content.decode()


def test_times_are_said_on_the_persons_own_day(
    person: User, browser: Client, keep_capture: KeepCapture
) -> None:
    keep_capture(person, "a", now=NOON)
    keep_capture(person, "b", now=datetime(2026, 11, 17, 22, 30, tzinfo=UTC))
    keep_capture(person, "c", now=datetime(2025, 12, 24, 8, 0, tzinfo=UTC))
    page = browser.get("/capture/").content.decode()
    assert ">13:00</time>" in page
    assert ">yesterday, 23:30</time>" in page
    assert ">Wednesday, 24 December 2025, 09:00</time>" in page
    Profile.unscoped.update(timezone="Pacific/Auckland")
    assert ">11:30</time>" in browser.get("/capture/").content.decode()


def test_the_number_of_queries_is_constant(
    person: User, keep_capture: KeepCapture, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(7):
        keep_capture(person, f"idea {number}", now=NOON + timedelta(seconds=number))
        with django_assert_num_queries(1):
            waiting = read_waiting_captures(user_id=person.pk, limit=4)
        assert waiting.total == number + 1
    assert waiting.more == 3
    assert waiting.newest[0].text == "idea 6"
    assert date.fromisoformat(waiting.newest[0].path[9:19]) == TODAY


def test_what_a_log_took_in_is_shown_with_a_link_to_it(
    person: User, browser: Client, keep_file: KeepFile, keep_capture: KeepCapture
) -> None:
    for number in range(2):
        keep_capture(person, f"<i>Idea</i> {number}", now=NOON + timedelta(minutes=number))
    keep_file(person, FileType.DAILY_LOG, "A day.", name=str(TODAY))
    for address, heading in (
        ("/", "In today’s log"),
        ("/capture/", "In your logs"),
        ("/capture/folded/", ""),
    ):
        page = browser.get(address).content.decode()
        assert heading in page
        assert page.count(f'href="/files/daily-logs/{TODAY}.md">Log of ') == 2
        for number in range(2):
            assert f"&lt;i&gt;Idea&lt;/i&gt; {number}</a>" in page
    log = browser.get(f"/files/daily-logs/{TODAY}.md").content.decode()
    assert log.count('href="/files/captures/') == 2
    with time_machine.travel(NOON + timedelta(days=1), tick=False):
        assert "In today’s log" not in browser.get("/").content.decode()
        assert "In your logs" in browser.get("/capture/").content.decode()


def test_a_capture_of_the_night_belongs_to_the_day_before_and_shows_its_date(
    person: User, browser: Client, keep_file: KeepFile, keep_capture: KeepCapture
) -> None:
    capture = keep_capture(person, "Awake", now=NOON + timedelta(hours=13))
    keep_file(person, FileType.DAILY_LOG, "A day.", name=str(TODAY))
    log = browser.get(f"/files/daily-logs/{TODAY}.md").content.decode()
    assert ">2026-11-18, 02:00</a> Awake" in log
    assert "Wednesday, 18 November 2026, 02:00" in browser.get(f"/files/{capture.file.path}").content.decode()


@pytest.mark.slow
def test_a_capture_of_a_later_page_leads_back_to_that_page(
    person: User, browser: Client, keep_capture: KeepCapture
) -> None:
    kept = [
        keep_capture(person, f"idea {second}.", now=NOON + timedelta(seconds=second))
        for second in range(CAPTURES_A_PAGE + 2)
    ]
    page = browser.get("/capture/?page=2").content.decode()
    assert '<input type="hidden" name="page" value="2">' in page
    form = {"do": "put_away", "page": "2"}
    response = browser.post(f"/capture/{kept[1].pk}/", form)
    assert response["Location"] == f"/capture/?page=2&away={kept[1].pk}#captures"
    page = browser.get(response["Location"]).content.decode()
    assert "idea 0." in page
    assert "Restore" in page
    back = {"do": "bring_back", "page": "2"}
    part = browser.post(f"/capture/{kept[1].pk}/", back, headers=PART).content.decode()
    assert re.findall(r"hx-disable>(idea \d+\.)", part) == ["idea 1.", "idea 0."]
    # The last capture of a page removes the page.
    browser.post(f"/capture/{kept[1].pk}/", form)
    response = browser.post(f"/capture/{kept[0].pk}/", form)
    assert response["Location"] == f"/capture/?away={kept[0].pk}#captures"


@pytest.mark.slow
def test_many_captures_come_page_by_page(
    person: User, browser: Client, keep_file: KeepFile, keep_capture: KeepCapture
) -> None:
    number = 2 * CAPTURES_A_PAGE + 1
    for second in range(number):
        keep_capture(person, f"idea {second}.", now=NOON + timedelta(seconds=second))
    seen = []
    for page_number in (1, 2, 3):
        page = browser.get(f"/capture/?page={page_number}").content.decode()
        seen += re.findall(r"hx-disable>(idea \d+\.)", page)
    assert seen == [f"idea {second}." for second in reversed(range(number))]
    assert browser.get("/capture/?page=4").status_code == HTTPStatus.NOT_FOUND
    assert browser.get("/capture/?page=x").status_code == HTTPStatus.NOT_FOUND
    keep_file(person, FileType.DAILY_LOG, "A day.", name=str(TODAY))
    seen = []
    for page_number in (1, 2, 3):
        page = browser.get(f"/capture/folded/?page={page_number}").content.decode()
        seen += re.findall(r">(idea \d+\.)</a>", page)
    assert len(set(seen)) == number
    assert browser.get("/capture/folded/?page=4").status_code == HTTPStatus.NOT_FOUND
