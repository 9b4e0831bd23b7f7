"""Puts a situation's person, their life and what was said before into the database, by Sage's services."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from uuid import uuid4

import time_machine
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from coaching.files.attributes import FileAttributes
from coaching.files.drafts import build_draft
from coaching.files.store import store_edit
from coaching.library.clients import create_client, own_client
from coaching.library.scopes import set_scope
from coaching.life.captures import keep_capture
from coaching.models import (
    ActionItem,
    Client,
    ClientType,
    Document,
    DocumentState,
    DocumentText,
    FilingLevel,
    Profile,
    PulseRating,
)
from coaching.people.profile_changes import offer_library
from coaching.turns.request import TurnRequest
from coaching.turns.start import StartedTurn, start_turn
from sessions_app import session_services, turn_endings
from sessions_app.limits import RateLimit
from sessions_app.models import Session, SessionStatus, TurnStatus
from sessions_app.turn_endings import Ending
from sessions_app.turn_locks import TurnKey
from tests.evals.situation import OPENING, LifeDocument, LifeFile, Line, Sage, Situation, Step, Them
from tests.stored_turns import store_round

NO_LIMIT = RateLimit(turns=10_000, seconds=60)
MINUTES_BEFORE = 5
"""How long before the first line that the model answers the lines above it were written."""


def seed(situation: Situation) -> Session:
    """Return the situation's conversation as it is before the model's first answer."""
    user = _make_person(situation)
    _seed_life(situation, user)
    for earlier in situation.history:
        at = earlier.at.replace(tzinfo=situation.zone)
        with time_machine.travel(at, tick=True):
            session = session_services.open_session(user_id=user.pk, kind=earlier.kind)
            say_given(session, earlier.talk)
            session_services.end_session(
                user_id=user.pk, session_id=session.pk, status=SessionStatus.COMPLETED
            )
        Session.of(user.pk).filter(pk=session.pk).update(summary=earlier.summary)
    with time_machine.travel(situation.moment - timedelta(minutes=MINUTES_BEFORE), tick=True):
        session = session_services.open_session(user_id=user.pk, kind=situation.kind)
        if situation.client:
            set_scope(session, client_id=_client_id(user, situation.client), project_id=None)
        say_given(session, given_lines(situation.talk))
    return Session.of(user.pk).get(pk=session.pk)


def given_lines(talk: Sequence[Line]) -> Sequence[Line]:
    """Return the lines of a talk up to the last answer that is given."""
    last = max((place for place, line in enumerate(talk) if isinstance(line, Sage)), default=-1)
    return talk[: last + 1]


def say_given(session: Session, talk: Sequence[Line]) -> None:
    """Say lines that all have their answers. An answer that comes first is Sage's own opening."""
    asked: StartedTurn | None = None
    for line in talk:
        match line:
            case Them(them=text):
                asked = _start(session, text)
            case Sage(sage=text):
                _answer(asked or _start(session, None), text)
                asked = None
            case _:
                raise ValueError(f"{OPENING} stands only where the model answers")


def _start(session: Session, text: str | None) -> StartedTurn:
    request = TurnRequest(
        kind="opening" if text is None else "message",
        user_id=session.user_id,
        session_id=session.pk,
        text=text,
    )
    return start_turn(request, owner="evals", rate_limit=NO_LIMIT)


def _answer(asked: StartedTurn, text: str) -> None:
    turn = asked.opened.turn
    key = TurnKey(turn_id=turn.id, fence=turn.fence)
    store_round(key, text=text)
    turn_endings.close_turn(key, Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn"))


def document_ids(user_id: int, names: Sequence[str]) -> list[int]:
    """Return the ids of a person's documents by their names, in this order."""
    ids = dict(Document.of(user_id).filter(name__in=names).values_list("name", "id"))
    return [ids[name] for name in names]


def _make_person(situation: Situation) -> User:
    person = situation.person
    user: User = get_user_model().objects.create_user(username=f"{person.name}-{uuid4().hex[:12]}")
    Profile.unscoped.create(
        user=user,
        name=person.name,
        timezone=person.zone,
        language=person.language,
        next_checkin_on=person.next_checkin,
    )
    return user


def _seed_life(situation: Situation, user: User) -> None:
    life, moment = situation.life, situation.moment
    for name in life.clients:
        create_client(user_id=user.pk, name=name, client_type=ClientType.PERSON)
    for document in life.documents:
        _put_document(user, document, moment)
    for file in life.files:
        _put_file(user, file, situation)
    for place, text in enumerate(reversed(life.captures), start=1):
        at = moment - timedelta(hours=5 * place)
        with time_machine.travel(at, tick=True):
            keep_capture(user_id=user.pk, text=text, client_id=None, now=at, timezone=situation.zone)
    for domain, ratings in life.ratings.items():
        for weeks, rating in enumerate(reversed(ratings), start=1):
            rated_at = moment - timedelta(weeks=weeks)
            PulseRating.unscoped.create(user=user, domain=domain, rating=rating, rated_at=rated_at)
    for step in life.steps:
        _put_step(user, step, moment)


def _put_file(user: User, file: LifeFile, situation: Situation) -> None:
    evening = datetime.combine(situation.at.date(), time(20), tzinfo=situation.zone)
    at = min(evening, situation.moment - timedelta(minutes=30)) - timedelta(days=file.days_ago)
    with time_machine.travel(at, tick=True):
        draft = build_draft(
            file_type=file.type,
            content=file.text,
            file_name=file.name,
            attributes=FileAttributes.model_validate(file.attributes),
            now=at,
            timezone=situation.zone,
        )
        store_edit(user_id=user.pk, draft=draft, expected_version=0)


def _put_step(user: User, step: Step, moment: datetime) -> None:
    client_id = _client_id(user, step.client)
    row = ActionItem.of(user.pk).create(
        user=user, client_id=client_id, title=step.title, quote=step.quote, due_date=step.due
    )
    ActionItem.of(user.pk).filter(pk=row.pk).update(created_at=moment - timedelta(days=3))


def _put_document(user: User, given: LifeDocument, moment: datetime) -> None:
    document = Document.of(user.pk).create(
        user=user,
        client_id=_client_id(user, given.client),
        name=given.name,
        size=len(given.text),
        sha256=hashlib.sha256(given.text.encode()).hexdigest(),
        storage_key=f"evals/{user.pk}/{given.name}",
        state=DocumentState.FILED,
        file_type=given.type,
        category="correspondence",
        folder="Letters",
        level=FilingLevel.CLIENT,
        read_at=moment,
        page_count=1,
    )
    DocumentText.unscoped.create(document=document, text=given.text, fingerprint=[])
    offer_library(user.pk)


def _client_id(user: User, name: str) -> int:
    if not name:
        return own_client(user.pk).pk
    return Client.of(user.pk).get(name=name).pk
