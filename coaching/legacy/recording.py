"""Turns a found conversation into what is stored: known kinds and states, storable words, times."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_noop

from coaching.legacy.importers.things import (
    MAX_MESSAGE_CHARACTERS,
    FoundConversation,
    FoundMessage,
    Problem,
)
from coaching.safety.card import ELSEWHERE_KEY, RECENT, danger_in, values_of_danger
from sessions_app.import_metadata import BRANCH_KEY, MODEL_KEY, PROJECT_KEY, TITLE_KEY
from sessions_app.models import MessageRole, SessionKind, SessionStatus, TitleSource
from sessions_app.recorded import RecordedMessage, RecordedSession
from sessions_app.text import mended, mended_json, title_from

MAX_METADATA_CHARACTERS = 16_000
MAX_NAME_CHARACTERS = 200
MAX_TITLE_CHARACTERS = 1_000
"""Of a title in its export, which is cut or withheld in lists."""
METADATA_KEY = "imported_metadata"
"""In a message's metadata: what its export had there, which means nothing here."""

CUT = gettext_noop("This message was too long, so only its beginning was imported.")
TWICE = gettext_noop("Its ID appears twice in this conversation, so it was skipped.")
UNKNOWN_KIND = gettext_noop("Sage doesn’t know this kind, so it became a regular conversation.")
UNKNOWN_STATUS = gettext_noop("Sage doesn’t know this status, so the conversation counts as active.")


@dataclass(slots=True)
class Recording:
    """The result: None where the conversation has no words. `problems` are what was changed or left out."""

    session: RecordedSession | None = None
    problems: list[Problem] = field(default_factory=list)


def record(found: FoundConversation, *, now: datetime, idle_since: datetime) -> Recording:
    """Make a session of a conversation.

    An arc that was idle at `idle_since` has expired, whatever its words say; `completed` it is only where its
    export says so. No time is in the future.
    """
    made = Recording()
    messages = _with_danger(list(_messages(found, now=now, problems=made.problems)), now=now)
    if not messages:
        return made
    kind = _kind(found, made.problems)
    answers = list(_answers(found, messages, now=now, problems=made.problems))
    last = max(message.created_at for message in messages)
    status = _status(found, made.problems)
    if status == SessionStatus.ACTIVE and kind != SessionKind.OPEN_CONVERSATION and last <= idle_since:
        status = SessionStatus.EXPIRED
    title, source = _title(found, messages)
    made.session = RecordedSession(
        imported_id=mended(found.imported_id),
        where=f"{found.where}, “{title}”" if title else found.where,
        kind=kind,
        status=status,
        title=title,
        title_source=source,
        started_at=min([message.created_at for message in messages] + _given(found.started_at)),
        messages=messages,
        answers=answers,
        origin=_origin(found, title),
    )
    return made


def _messages(
    found: FoundConversation, *, now: datetime, problems: list[Problem]
) -> Iterator[RecordedMessage]:
    earlier = found.started_at or next(
        (message.created_at for message in found.messages if message.created_at), now
    )
    seen: set[str] = set()
    for place, message in enumerate(found.messages):
        where = f"{found.where}, message {place + 1}"
        imported_id = mended(message.imported_id)
        if imported_id in seen:
            problems.append(Problem(where=where, text=TWICE))
            continue
        if not message.text.strip():
            continue
        seen.add(imported_id)
        if len(message.text) > MAX_MESSAGE_CHARACTERS:
            problems.append(Problem(where=where, text=CUT, is_lost=False))
        earlier = min(message.created_at or earlier, now)
        yield RecordedMessage(
            imported_id=imported_id,
            role=MessageRole(message.role),
            content=mended(message.text[:MAX_MESSAGE_CHARACTERS]),
            created_at=earlier,
            metadata=_metadata(message),
            shorter=_shorter(message),
        )


def _answers(
    found: FoundConversation, messages: Sequence[RecordedMessage], *, now: datetime, problems: list[Problem]
) -> Iterator[RecordedMessage]:
    """Yield other answers to some of the messages, each once."""
    asked = {message.imported_id: message for message in messages if message.role == MessageRole.USER}
    seen = {message.imported_id for message in messages}
    for answer in found.answers:
        imported_id, answers_to = mended(answer.imported_id), mended(answer.answers_to)
        if imported_id in seen or answers_to not in asked or not answer.text.strip():
            continue
        seen.add(imported_id)
        if len(answer.text) > MAX_MESSAGE_CHARACTERS:
            problems.append(Problem(where=found.where, text=CUT, is_lost=False))
        yield RecordedMessage(
            imported_id=imported_id,
            role=MessageRole.ASSISTANT,
            content=mended(answer.text[:MAX_MESSAGE_CHARACTERS]),
            created_at=min(answer.created_at or asked[answers_to].created_at, now),
            answers_to=answers_to,
            shorter=_shorter(answer),
        )


def _origin(found: FoundConversation, title: str) -> Mapping[str, str]:
    """Return what is known of where a conversation was recorded, with its title there, if it has another."""
    own_title = " ".join(found.title.split())
    values = {
        TITLE_KEY: "" if mended(own_title) == title else own_title[:MAX_TITLE_CHARACTERS],
        MODEL_KEY: found.model[:MAX_NAME_CHARACTERS],
        PROJECT_KEY: found.project[:MAX_NAME_CHARACTERS],
        BRANCH_KEY: found.branch_of,
    }
    return {key: mended(value) for key, value in values.items() if value.strip()}


def _with_danger(messages: Sequence[RecordedMessage], *, now: datetime) -> Sequence[RecordedMessage]:
    """Mark words of danger that were said less than two weeks ago.

    They get no card, since nobody is writing them now; Sage remembers them as it does words that were said
    here. A document's words aren't the user's.
    """
    said = [message for message in messages if message.role == MessageRole.USER]
    recent = [message for message in said if now - message.created_at <= RECENT]
    found = {message.imported_id: danger for message in recent if (danger := danger_in(_own_words(message)))}
    return [
        replace(
            message,
            metadata={**message.metadata, ELSEWHERE_KEY: values_of_danger(found[message.imported_id])},
        )
        if message.imported_id in found
        else message
        for message in messages
    ]


def _own_words(message: RecordedMessage) -> str:
    shorter = message.shorter_content
    return message.content if shorter is None else shorter


def _shorter(message: FoundMessage) -> tuple[int, str] | None:
    """Return how an earlier version stored a message, within the limit that it had."""
    if message.shorter is None:
        return None
    kept, ending = message.shorter
    return min(kept, MAX_MESSAGE_CHARACTERS), mended(ending)[: max(0, MAX_MESSAGE_CHARACTERS - kept)]


def _metadata(message: FoundMessage) -> dict[str, Any]:
    if not message.metadata:
        return {}
    kept = mended_json(dict(message.metadata))
    is_small = len(json.dumps(kept, default=str)) <= MAX_METADATA_CHARACTERS
    return {METADATA_KEY: kept} if is_small else {}


def _kind(found: FoundConversation, problems: list[Problem]) -> str:
    if found.kind in SessionKind.values:
        return found.kind
    if found.kind:
        problems.append(Problem(where=f"{found.where}.kind", text=UNKNOWN_KIND, is_lost=False))
    return SessionKind.OPEN_CONVERSATION


def _status(found: FoundConversation, problems: list[Problem]) -> SessionStatus:
    if found.status in SessionStatus.values:
        return SessionStatus(found.status)
    if found.status:
        problems.append(Problem(where=f"{found.where}.status", text=UNKNOWN_STATUS, is_lost=False))
    return SessionStatus.ACTIVE


def _title(found: FoundConversation, messages: Sequence[RecordedMessage]) -> tuple[str, TitleSource]:
    """Return the title; one that speaks of danger is withheld, since titles are shown in lists.

    A title of the export counts as Sage's, so that one of the user's own shows that they changed it.
    """
    said = next((_own_words(message) for message in messages if message.role == MessageRole.USER), "")
    title = title_from(mended(found.title))
    if danger_in(title or title_from(said)):
        return "", TitleSource.WITHHELD
    return (title, TitleSource.MODEL) if title else (title_from(said), TitleSource.WORDS)


def _given(moment: datetime | None) -> list[datetime]:
    return [moment] if moment else []
