"""Rules for what the model reads besides skills: tool definitions, sections and offers. No database access.

`sync_skills --check` applies them to the tools and to a sample of every section, built by the code that
builds them for people.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from coaching.calendar.selectors import DayCalendar, DayEvent
from coaching.care.standing import Care, SaidDanger
from coaching.context.care_parts import ask_part
from coaching.context.continuity import RecentSession
from coaching.context.fences import TAGS
from coaching.context.header import header
from coaching.context.library import LibraryFacts
from coaching.context.life import Life, known
from coaching.context.life_file import LifeFile
from coaching.context.next_steps import StepFact, StepFacts
from coaching.context.sections import STANDING, TEMPORAL
from coaching.context.statement import offer_part
from coaching.files.types import RULES
from coaching.life.arcs import ARCS
from coaching.life.pulse import DomainPulse
from coaching.models import DayPlan, FileType, LifeDomain, Profile
from coaching.skills.loader import States
from sessions_app.models import SessionKind

SPEAKING = ("skill", "offer", "help_lines", "care", "scope")
"""The sections that speak for Sage; the base prompt names exactly these."""

_LEASE = {
    "id": 7,
    "name": "lease.pdf",
    "file_type": "residential_lease",
    "state": "filed",
    "created_at": "2026-11-20T09:00:00+00:00",
    "client": "Barton Ltd",
    "client_type": "company",
}
_SURVEY = StepFact(
    id=3,
    client="",
    said_on=date(2026, 11, 20),
    title="Send the survey",
    due_date=date(2026, 12, 1),
    due_time=time(9, 30),
    repeats="daily",
    quote="I'll send the survey every morning.",
    asked_for=None,
    asked_in=None,
)
_SCOPE = {
    "client_id": 2,
    "client": "Barton Ltd",
    "client_type": "company",
    "client_status": "active",
    "notes": "Landlord",
    "project_id": 5,
    "project": "12 High Street",
    "project_notes": "",
}
_NOW = datetime(2026, 11, 24, 8, 0, tzinfo=UTC)
_PATH = re.compile(r'path="[^"]*"')
_DATE = re.compile(r"(?<![\w/-])(?:(\w+) )?(\d{4}-\d\d-\d\d)(?![\w-])")
_SAID_WHEN = "Use it"


def definition_faults(definitions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the errors of tool definitions: what costs tokens for nothing, and a missing "when"."""
    for tool in definitions:
        name, schema = tool["name"], tool["input_schema"]
        if _SAID_WHEN not in tool["description"]:
            yield f"{name}: its description doesn't say when: “{_SAID_WHEN} when…”"
        if any(value == "null" for key, value in _pairs_of(schema) if key == "type"):
            yield f"{name}: its schema has a null: a field that may be left out needs none"
        if any(isinstance(value, str) for key, value in _pairs_of(schema) if key == "title"):
            yield f"{name}: its schema has a title, which repeats a name"


def section_faults() -> Iterator[str]:
    """Yield the errors of a sample of all sections, and of the offers."""
    life = sample_life()
    about = replace(life, library=replace(known(life.library), scope=_SCOPE))
    of_client = ("client", "scope")
    builders = {**STANDING, **TEMPORAL}
    sections = [
        header(life),
        *(build(about if name in of_client else life) for name, build in builders.items()),
    ]
    for name, section in zip(("session_context", *STANDING, *TEMPORAL), sections, strict=True):
        if section is None:
            yield f"<{name}>: the sample has none"
        else:
            yield from text_faults(name, section.render())
    if (standing := known(life.care).other) is not None:
        yield from text_faults("care", ask_part(standing, known(life.care)).text)
    for arc, rule in ARCS.items():
        offer = offer_part(arc, because="It is due", takes=rule.takes, day=_NOW.date().isoformat())
        yield from offer_faults(arc, offer.text, takes=rule.takes)


def text_faults(name: str, text: str) -> Iterator[str]:
    """Yield the errors of a section's text: tags that can be faked, and dates without a weekday."""
    for tag in sorted({name, *re.findall(r"^</?([a-z_]+)", text, re.MULTILINE)} - {*TAGS}):
        yield f"<{name}>: <{tag}> isn't fenced, so a file could fake it"
    for weekday, day in _DATE.findall(_PATH.sub("", text)):
        if weekday != f"{date.fromisoformat(day):%A}":
            yield f"<{name}>: {day} has no weekday"


def offer_faults(arc: str, text: str, *, takes: str) -> Iterator[str]:
    if takes not in text:
        yield f"<offer> of {arc}: it doesn't say that the arc takes {takes}"
    if arc not in text:
        yield f"<offer> of {arc}: it doesn't name the arc"


def _pairs_of(schema: object) -> Iterator[tuple[str, object]]:
    """Yield all keys with their values, at every depth."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            yield key, value
            yield from _pairs_of(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _pairs_of(item)


def sample_life() -> Life:
    """Return a life in which every section has something to show."""
    today = _NOW.date()
    plans = {
        day: DayPlan(date=day, intention="Unhurried", priorities=[{"text": "Call Mia", "is_done": False}])
        for day in (today, today - timedelta(days=1))
    }
    pulse = DomainPulse(domain=LifeDomain.HEALTH, baseline=3, trend=(2,), trend_at=(_NOW,))
    dentist = DayEvent(uid="1", title="Dentist", location="High St", calendar="Home", form="15:30–16:00")
    danger = SaidDanger(
        level="concern",
        about="other",
        topic="life",
        at=_NOW - timedelta(days=1),
        day=today - timedelta(days=1),
    )
    person = Profile(user=User(first_name="Ada"), timezone="Europe/Lisbon", next_checkin_on=today)
    return Life(
        profile=person,
        session_id=UUID(int=0),
        now=_NOW,
        files={file.path: file for file in _sample_files(today)},
        plans=plans,
        pulse={LifeDomain.HEALTH: pulse},
        calendar=DayCalendar(events=[dentist], has_calendar=True, unread_since=today - timedelta(days=2)),
        waiting_captures=3,
        recent_sessions=[_sample_session(today - timedelta(days=1))],
        skill_states=States(key=(0, None), moment=_NOW),
        library=LibraryFacts(
            counts={"documents": 12, "in_review": 1, "actions": 2, "clients": 2},
            newest=[_LEASE],
        ),
        care=Care(today=today, other=danger),
        steps=StepFacts(open=[_SURVEY], total=1),
        read_seconds=0.0,
    )


def _sample_files(today: date) -> Iterator[LifeFile]:
    """Yield each file that has one place, and some of those that are named otherwise."""
    for file_type, rule in RULES.items():
        if rule.naming == "fixed":
            yield _file(file_type, rule.place)
    for file_type in (FileType.CHECK_IN, FileType.DAILY_LOG, FileType.CAPTURE):
        for day in (today - timedelta(days=age) for age in range(1, 4)):
            yield _file(file_type, f"{RULES[file_type].place}/{day.isoformat()}.md")
    yield _file(FileType.DOMAIN, f"{RULES[FileType.DOMAIN].place}/health.md", status="in_crisis")


def _sample_session(day: date) -> RecentSession:
    return RecentSession(
        id=UUID(int=1),
        kind=SessionKind.OPEN_DAY,
        day=day,
        summary="You planned an unhurried day.",
        left_open=["You wanted to call Mia."],
    )


def _file(file_type: FileType, path: str, **attributes: str) -> LifeFile:
    facts = {"updated": _NOW.date().isoformat(), "energy": "low", "themes": ["rest"], **attributes}
    return LifeFile(path=path, file_type=file_type, frontmatter=facts, version=1, characters=6, head="Words.")
