"""The life map: empty, partial and complete, as charts and tables."""

import re
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from coaching.life.pulse import store_ratings
from coaching.models import FileType, LifeDomain, PulseRating, UserFile
from sessions_app import session_services
from sessions_app.models import Session, SessionKind
from tests.browsers import browser_of
from tests.life.conftest import NOON, KeepFile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]


def map_of(browser: Client) -> str:
    response = browser.get("/map/")
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


def rate(user: User, domain: LifeDomain, *ratings: int) -> None:
    for number, rating in enumerate(ratings):
        store_ratings(
            user_id=user.pk,
            ratings={domain: rating},
            note="",
            session_id=None,
            rated_at=NOON - timedelta(days=7 * (len(ratings) - number)),
        )


def rows_of(page: str, table: int) -> dict[str, list[str]]:
    """Return a table's rows by their headers, without tags and time stamps."""
    body = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)[table]
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        texts = [re.sub(r"<[^>]+>", "", cell) for cell in cells]
        rows[texts[0]] = texts[1:]
    return rows


def test_an_empty_map_says_how_it_is_drawn(person: User, browser: Client) -> None:
    page = map_of(browser)
    assert "Your map is empty" in page
    assert 'name="kind" value="life_mapping">Start life mapping' in page
    assert "<table" not in page
    assert "radar-area" not in page
    session = session_services.open_session(user_id=person.pk, kind=SessionKind.LIFE_MAPPING)
    Session.unscoped.filter(id=session.id).update(last_message_number=1)
    page = map_of(browser)
    assert f'href="/chat/{session.id}/">Continue mapping' in page
    assert "Start life mapping" not in page


def test_a_partial_map_names_what_is_white(person: User, browser: Client, keep_file: KeepFile) -> None:
    keep_file(person, FileType.DOMAIN, name="health", status="okay", preview_line="Sleep is the lever.")
    keep_file(person, FileType.DOMAIN, name="play")
    rate(person, LifeDomain.FINANCES, 3)
    page = map_of(browser)
    assert "2 of 8 parts have a page" in page
    assert "Status not set: Play." in page
    assert "Career, Relationships, Finances, Learning, Creativity, Meaning" in page
    assert "Sleep is the lever." in page
    assert "Status not set" in page
    assert page.count("No page yet.") == 5
    assert page.count('class="radar-dot"') == 1
    assert rows_of(page, 0)["Finances"] == ["–", "3", "3"]


def test_a_whole_map_shows_status_baseline_and_trend_of_all_eight(
    person: User, browser: Client, keep_file: KeepFile
) -> None:
    for domain in LifeDomain:
        keep_file(person, FileType.DOMAIN, name=domain.value, status="good")
        rate(person, domain, 1, 2, 3, 4, 5, 4)
    keep_file(person, FileType.OVERVIEW)
    keep_file(person, FileType.LIFE_PLAN)
    page = map_of(browser)
    assert "Your map is complete" in page
    assert 'href="/files/life-map/_overview.md"' in page
    assert 'href="/files/life-plan/current.md"' in page
    assert page.count('class="trend-line"') == 8
    pictures, trends = rows_of(page, 0), rows_of(page, 1)
    assert len(pictures) == len(trends) == 8
    assert pictures["Meaning"] == ["Good", "1", "4"]
    assert [cell[0] for cell in trends["Meaning"]] == ["4", "5", "4", "3"]
    assert trends["Meaning"][0] == "4 11 Nov 2026"


def test_pages_without_a_status_are_named_here_and_at_home(
    person: User, browser: Client, keep_file: KeepFile
) -> None:
    for domain in LifeDomain:
        status = {} if domain in (LifeDomain.PLAY, LifeDomain.MEANING) else {"status": "good"}
        keep_file(person, FileType.DOMAIN, name=domain.value, **status)
    page = map_of(browser)
    assert "Your map is complete" not in page
    assert "Status not set: Play, Meaning." in page
    home = browser.get("/").content.decode()
    assert home.count("Status not set") == 2
    assert "No page yet" not in home


def test_the_newest_rating_holds_on_the_map_the_page_and_in_the_editor(
    person: User, browser: Client, keep_file: KeepFile
) -> None:
    keep_file(person, FileType.DOMAIN, name="health", status="okay", updated_rating=4)
    store_ratings(
        user_id=person.pk,
        ratings={LifeDomain.HEALTH: 2},
        note="",
        session_id=None,
        rated_at=NOON + timedelta(hours=1),
    )
    assert rows_of(map_of(browser), 0)["Health"] == ["Okay", "4", "2"]

    def rating_on_page(address: str = "/files/life-map/health.md") -> list[str]:
        facts = re.findall(
            r"<dt><bdi>(.*?)</bdi></dt>\s*<dd><span[^>]*>(.*?)</span>", browser.get(address).content.decode()
        )
        return [value for name, value in facts if name == "Rating"]

    assert rating_on_page() == ["2"]
    assert rating_on_page("/files/life-map/health.md?version=1") == ["2"], "that is the newest version"
    editor = browser.get("/files/life-map/health.md/edit/").content.decode()
    assert '<option value="2" selected>' in editor
    # Saved with the fields unchanged: the file has the rating, and no rating was added.
    form = {"body": "New.", "version": 1, "status": "okay", "updated_rating": "2", "do": "save"}
    assert browser.post("/files/life-map/health.md/edit/", form).status_code == HTTPStatus.SEE_OTHER
    assert PulseRating.unscoped.count() == 2
    file = UserFile.unscoped.get(path="life-map/health.md")
    assert file.frontmatter["updated_rating"] == 2
    assert rating_on_page("/files/life-map/health.md?version=1") == ["4"], "what that version said"
    # A newer one in the file is used everywhere.
    keep_file(person, FileType.DOMAIN, name="health", now=NOON + timedelta(hours=2), updated_rating=3)
    assert rows_of(map_of(browser), 0)["Health"] == ["Okay", "4", "3"]
    assert rating_on_page() == ["3"]


def test_of_a_status_and_a_rating_that_contradict_each_other_only_the_newer_holds(
    person: User, browser: Client, keep_file: KeepFile
) -> None:
    def facts() -> dict[str, str]:
        page = browser.get("/files/life-map/health.md").content.decode()
        shown = re.findall(r"<dt><bdi>(.*?)</bdi></dt>\s*<dd><span[^>]*>(.*?)</span>", page)
        return {name: value for name, value in shown if name in ("Status", "Rating")}

    keep_file(person, FileType.DOMAIN, name="health", status="thriving")
    health = {LifeDomain.HEALTH: 1}
    later = timezone.now() + timedelta(hours=1)
    store_ratings(user_id=person.pk, ratings=health, note="", session_id=None, rated_at=later)
    assert rows_of(map_of(browser), 0)["Health"] == ["Earlier: Thriving", "1", "1"]
    assert "Earlier: Thriving" in map_of(browser)
    assert "Status not set: Health" not in map_of(browser)
    assert facts() == {"Rating": "1"}
    keep_file(person, FileType.DOMAIN, "A word more.", name="health", now=later + timedelta(hours=1))
    assert rows_of(map_of(browser), 0)["Health"] == ["–", "1", "1"], "saving the text says no status anew"
    assert "Earlier: Thriving" not in map_of(browser)
    assert facts() == {"Rating": "1"}
    keep_file(person, FileType.DOMAIN, name="health", now=later + timedelta(hours=2), status="thriving")
    PulseRating.unscoped.update(rated_at=NOON - timedelta(days=1))
    assert rows_of(map_of(browser), 0)["Health"] == ["Thriving", "1", "–"]
    assert "<span>Earlier:</span> <strong>1</strong>" in map_of(browser)
    assert facts() == {"Status": "Thriving"}


def test_days_of_ratings_are_those_of_the_persons_zone(person: User, browser: Client) -> None:
    store_ratings(
        user_id=person.pk,
        ratings={LifeDomain.PLAY: 2},
        note="",
        session_id=None,
        rated_at=datetime(2026, 11, 10, 23, 30, tzinfo=UTC),
    )
    assert rows_of(map_of(browser), 1)["Play"] == ["2 10 Nov 2026", "–", "–", "–"]


def test_each_domain_can_be_read_and_talked_about(person: User, browser: Client, keep_file: KeepFile) -> None:
    keep_file(person, FileType.DOMAIN, name="health", status="okay")
    page = map_of(browser)
    assert 'href="/files/life-map/health.md"' in page
    for domain in LifeDomain:
        assert f"this part of my life: {domain.label}." in page.replace("&#x27;", "'")
    assert page.count('action="/chat/new/"') >= 8
    before = Session.unscoped.count()
    for address in ("/map/?text=hello", "/map/?kind=open_conversation", "/chat/new/?text=hello"):
        browser.get(address)
    assert Session.unscoped.count() == before, "nothing in an address begins anything"


def test_a_page_that_says_anything_else_than_a_status_has_none(
    person: User, browser: Client, keep_file: KeepFile
) -> None:
    file = keep_file(person, FileType.DOMAIN, name="health")
    file.frontmatter = {"status": '"><script>alert(1)</script>', "preview_line": ["a", "list"]}
    file.save()
    page = map_of(browser)
    assert "<script>alert" not in page
    assert "Status not set" in page


def test_anothers_map_is_no_part_of_ones_own(person: User, other_user: User, browser: Client) -> None:
    rate(other_user, LifeDomain.PLAY, 1, 2)
    assert "Your map is empty" in map_of(browser)
    assert "Your map is empty" not in map_of(browser_of(other_user))


def test_the_number_of_queries_is_constant(person: User, browser: Client, keep_file: KeepFile) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            map_of(browser)
        return len(captured)

    before = queries()
    for domain in LifeDomain:
        keep_file(person, FileType.DOMAIN, name=domain.value, status="good")
        rate(person, domain, *([3] * 20))
    assert queries() == before
    assert before <= 6


def test_a_mapping_says_how_many_parts_have_a_page(
    browser: Client, person: User, keep_file: KeepFile
) -> None:
    for name in ("career", "health"):
        keep_file(person, FileType.DOMAIN, name=name)
    for kind, is_said in ((SessionKind.LIFE_MAPPING, True), (SessionKind.OPEN_DAY, False)):
        session = session_services.open_session(user_id=person.pk, kind=kind)
        page = browser.get(f"/chat/{session.id}/").content.decode()
        assert ("2 of 8 parts mapped" in page) == is_said
