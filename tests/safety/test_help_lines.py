"""Help lines: the shipped ones, operators' edits, selection, and the card counts."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from gettext import GNUTranslations
from pathlib import Path
from uuid import uuid4
from zoneinfo import available_timezones

import pytest
import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client
from structlog.testing import capture_logs

from coaching.models import CardCount, HelpLine, Profile
from coaching.people.help_line_words import (
    MARKED_COUNTRIES,
    MARKED_HOURS,
    MARKED_LANGUAGES,
    MARKED_NAMES,
    MARKED_NOTES,
    MARKED_TEXTS,
)
from coaching.people.help_lines import (
    count_card,
    country_of,
    read_offer,
    read_offered_countries,
    read_session_offer,
    sync_help_lines,
)
from coaching.safety.countries import COUNTRY_NAMES, country_of_timezone, known_country
from coaching.safety.lines import Line, ShippedLine, shipped_lines, shipped_offer
from tests.stored_turns import open_conversation

NOW = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)


def test_many_countries_have_an_emergency_number_and_somebody_to_talk_to() -> None:
    kinds = Counter((entry.country, entry.line.kind) for entry in shipped_lines())
    countries = {entry.country for entry in shipped_lines()} - {""}
    assert len(countries) >= 20
    for country in countries:
        assert country in COUNTRY_NAMES
        assert kinds[country, "emergency"] >= 1
        assert kinds[country, "crisis"] >= 1
    assert set(MARKED_COUNTRIES) == {COUNTRY_NAMES[country] for country in countries}


@pytest.mark.parametrize(
    ("marked", "field"),
    [(MARKED_NOTES, "note"), (MARKED_TEXTS, "text"), (MARKED_HOURS, "hours"), (MARKED_LANGUAGES, "language")],
)
def test_what_is_said_of_a_line_is_a_text_of_the_pages(marked: Sequence[str], field: str) -> None:
    said = [getattr(entry.line, field) for entry in shipped_lines()]
    assert set(marked) == set(filter(None, said))
    assert len(set(marked)) == len(marked)


@pytest.mark.parametrize("code", ["de", "es"])
def test_each_note_of_a_line_is_translated_and_no_name_by_accident(code: str) -> None:
    path = Path(settings.BASE_DIR) / "locale" / code / "LC_MESSAGES" / "django.mo"
    with path.open("rb") as file:
        catalogue = vars(GNUTranslations(file))["_catalog"]
    every = {*MARKED_NAMES, *MARKED_NOTES, *MARKED_TEXTS, *MARKED_HOURS, *MARKED_LANGUAGES}
    assert every - catalogue.keys() == set()
    names = {entry.line.name for entry in shipped_lines()}
    assert names & catalogue.keys() == set(MARKED_NAMES)
    assert catalogue["for the young"] != "for the young"


def test_no_name_hides_a_note() -> None:
    english = re.compile(r"emergency|police|ambulance|, (?:for|under|after|ages)", re.IGNORECASE)
    names = {entry.line.name for entry in shipped_lines()} - set(MARKED_NAMES)
    assert [name for name in names if english.search(name)] == []


def test_each_shipped_line_can_be_reached_and_stored_and_has_a_key_of_its_own() -> None:
    entries = shipped_lines()
    assert len({entry.key for entry in entries}) == len(entries)
    for entry in entries:
        line = entry.line
        HelpLine(
            key=entry.key, country=entry.country, kind=line.kind, name=line.name, note=line.note,
            phone=line.phone, text=line.text, url=line.url, hours=line.hours, language=line.language,
        ).clean_fields()  # fmt: skip
        assert line.dialled or line.text or line.url
        assert not line.url or line.url.startswith("https://")
        assert not line.phone or 2 < len(line.dialled) < 15


@pytest.mark.parametrize(
    ("country", "phone"),
    [("US", "988"), ("GB", "116123"), ("IE", "116123"), ("DE", "08001110111"), ("FR", "3114"),
     ("AU", "131114"), ("NZ", "1737"), ("CA", "988"), ("AT", "142"), ("CH", "143"), ("NL", "113"),
     ("ES", "024"), ("PT", "1411"), ("CL", "*4141")],
)  # fmt: skip
def test_well_known_numbers_are_what_they_are(country: str, phone: str) -> None:
    assert phone in [line.dialled for line in shipped_offer(country=country).others]


@pytest.mark.parametrize(
    ("country", "phones"),
    [("JP", "119 110"), ("KR", "119 112"), ("TW", "119 110"), ("SG", "995 999"), ("IL", "101 100"),
     ("BR", "192 190"), ("CL", "131 133"), ("AR", "911 107")],
)  # fmt: skip
def test_where_no_one_number_brings_both_there_are_ambulance_and_police(country: str, phones: str) -> None:
    assert [line.dialled for line in shipped_offer(country=country).emergency] == phones.split()


@pytest.mark.parametrize(
    ("zone", "country"),
    [("Europe/Berlin", "DE"), ("Europe/London", "GB"), ("America/New_York", "US"), ("America/Toronto", "CA"),
     ("Asia/Calcutta", "IN"), ("Europe/Kiev", "UA"), ("Australia/Perth", "AU"), ("Pacific/Auckland", "NZ"),
     ("America/Coral_Harbour", "CA"), ("UTC", ""), ("Etc/GMT+3", ""), ("Mars/Olympus", ""), ("", "")],
)  # fmt: skip
def test_a_time_zone_says_which_country_it_is_in(zone: str, country: str) -> None:
    assert country_of_timezone(zone) == country


def test_every_city_of_the_time_zone_database_is_in_a_country() -> None:
    regions = ("Africa/", "America/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")
    lost = [
        zone for zone in available_timezones() if zone.startswith(regions) and not country_of_timezone(zone)
    ]
    assert lost == []


def test_what_is_no_country_is_anywhere() -> None:
    assert [known_country(value) for value in ("DE", "de", "ZZ", "", None, 7, "D\x00")] == ["DE", *[""] * 6]


pytestmark = pytest.mark.django_db


def test_lines_come_in_once_and_follow_the_shipped_ones() -> None:
    first = sync_help_lines()
    assert (first.added, first.changed) == (len(shipped_lines()), 0)
    assert sync_help_lines().added == 0
    moved = [
        replace(entry, line=replace(entry.line, phone="999 1")) if entry.key == "us-988" else entry
        for entry in shipped_lines()
    ]
    HelpLine.objects.filter(key="us-988").update(checked_on=date(2026, 1, 1))
    assert sync_help_lines(moved).changed == 1
    row = HelpLine.objects.get(key="us-988")
    assert (row.phone, row.checked_on) == ("999 1", None)


def test_what_an_operator_changed_or_switched_off_stays() -> None:
    sync_help_lines()
    HelpLine.objects.filter(key="us-988").update(name="Our own line")
    HelpLine.objects.filter(key="de-telefonseelsorge").update(is_active=False)
    renamed = [replace(entry, line=replace(entry.line, name="New")) for entry in shipped_lines()]
    report = sync_help_lines(renamed)
    assert report.left == 2
    assert HelpLine.objects.get(key="us-988").name == "Our own line"
    off = HelpLine.objects.get(key="de-telefonseelsorge")
    assert (off.name, off.is_active) == ("TelefonSeelsorge", False)


def test_a_line_that_isn_t_shipped_any_more_is_switched_off_unless_it_was_edited() -> None:
    own = ShippedLine(key="xx-1", country="FR", line=Line(kind="crisis", name="One", phone="1"))
    other = ShippedLine(key="xx-2", country="FR", line=Line(kind="crisis", name="Two", phone="2"))
    sync_help_lines([own, other])
    HelpLine.objects.filter(key="xx-2").update(phone="22")
    assert sync_help_lines([]).retired == 1
    assert list(HelpLine.objects.filter(is_active=True).values_list("key", flat=True)) == ["xx-2"]


def test_the_command_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("sync_help_lines")
    call_command("sync_help_lines", verbosity=0)
    assert capsys.readouterr().out.startswith(f"Help lines: {len(shipped_lines())} added")


def test_a_country_gets_its_own_lines_and_others_get_those_for_anywhere() -> None:
    sync_help_lines()
    german = read_offer("DE")
    assert (german.country_name, german.emergency[0].dialled) == ("Germany", "112")
    assert read_offer("DE", topic="violence").others[0].name.startswith("Hilfetelefon")
    for country in ("", "ZZ", "AF"):
        offer = read_offer(country)
        assert (offer.country, offer.country_name) == ("", "")
        assert "findahelpline.com" in [line.site for line in offer.others]
        assert [line.dialled for line in offer.emergency] == ["112", "911", "999", "000"]
    HelpLine.objects.filter(country="DE").update(is_active=False)
    assert read_offer("DE").country == ""
    assert "DE" not in read_offered_countries()


def test_what_operators_have_switched_off_doesn_t_come_back_as_shipped() -> None:
    sync_help_lines()
    HelpLine.objects.filter(country__in=("DE", "")).update(is_active=False)
    assert read_offer("DE") == shipped_offer()
    assert read_offer("FR").country == "FR"


def test_what_is_logged_of_a_card_says_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise DatabaseError

    monkeypatch.setattr(CardCount.objects, "filter", fail)
    monkeypatch.setattr(Profile.unscoped, "filter", fail)
    merging = [structlog.contextvars.merge_contextvars]
    with structlog.contextvars.bound_contextvars(user_id=7), capture_logs(processors=merging) as logged:
        count_card("immediate", now=NOW)
        read_session_offer(uuid4())
    assert logged == [
        {"event": "card_not_counted", "log_level": "warning"},
        {"event": "help_lines_without_database", "log_level": "warning"},
    ]


def test_an_operators_own_line_comes_where_its_order_says() -> None:
    sync_help_lines()
    HelpLine.objects.create(country="DE", name="Our own", phone="0123", order=1)
    assert read_offer("DE").others[0].name == "Our own"


def test_without_lines_and_without_a_database_there_are_the_shipped_ones(user: User) -> None:
    Profile.unscoped.create(user=user, timezone="Europe/Berlin")
    session = open_conversation(user)
    assert read_session_offer(session.id).country == "DE"
    assert len(read_offered_countries()) >= 20
    with transaction.atomic():
        transaction.set_rollback(True)  # from here on the connection refuses queries
        with pytest.raises(DatabaseError):
            Profile.unscoped.first()
        assert read_session_offer(session.id) == shipped_offer()
        count_card("immediate", now=NOW)


def test_who_has_chosen_a_country_has_that_one(user: User) -> None:
    profile = Profile(user=user, timezone="Europe/Berlin")
    assert country_of(profile) == "DE"
    profile.country = "NZ"
    assert country_of(profile) == "NZ"
    profile.country = "ZZ"
    with pytest.raises(ValidationError):
        profile.clean_fields()


def test_cards_are_counted_by_day_and_level_and_nothing_else() -> None:
    for level in ("immediate", "immediate", "concern"):
        count_card(level, now=NOW)
    count_card("concern", now=NOW.replace(day=23))
    assert list(CardCount.objects.values_list("day", "level", "shown")) == [
        (date(2026, 11, 23), "concern", 1),
        (date(2026, 11, 22), "concern", 1),
        (date(2026, 11, 22), "immediate", 2),
    ]
    assert {field.name for field in CardCount._meta.get_fields()} == {"id", "day", "level", "shown"}


def test_the_database_refuses_a_line_that_nobody_can_reach() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        HelpLine.objects.create(country="DE", name="Silence")
    with pytest.raises(IntegrityError), transaction.atomic():
        HelpLine.objects.create(country="de", name="Small", phone="1")


def test_operators_edit_lines_and_see_the_counts_in_the_admin(client: Client, operator: User) -> None:
    sync_help_lines()
    count_card("immediate", now=NOW)
    client.force_login(operator)
    line = HelpLine.objects.get(key="us-988")
    address = f"/admin/coaching/helpline/{line.pk}/change/"
    listed = client.get("/admin/coaching/helpline/", {"country": "US"}).content.decode()
    assert "United States" in listed
    form = {
        "country": "US", "kind": "crisis", "name": "Ours", "note": "", "phone": "988", "text": "", "url": "",
        "hours": "", "language": "", "order": "1", "is_active": "on", "checked_on": "2026-11-22",
    }  # fmt: skip
    assert client.post(address, form).status_code == 302
    line.refresh_from_db()
    assert (line.name, line.checked_on) == ("Ours", date(2026, 11, 22))
    assert "UK is the code of no country" in client.post(address, {**form, "country": "UK"}).content.decode()
    assert "Digits, spaces" in client.post(address, {**form, "phone": "call us"}).content.decode()
    assert client.post(f"/admin/coaching/helpline/{line.pk}/delete/", {"post": "yes"}).status_code == 403
    counts = client.get("/admin/coaching/cardcount/").content.decode()
    assert "Immediate" in counts
    assert client.get("/admin/coaching/cardcount/add/").status_code == 403
