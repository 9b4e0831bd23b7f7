"""Histories for the benchmark: the conversations of LoCoMo, and a million messages made of their words."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from coaching.models import Profile
from sessions_app.models import Message, MessageRole, Session, SessionKind, Turn, TurnStatus

ADVERSARIAL = 5
ASKED_AT = datetime(2023, 12, 1, tzinfo=UTC)
"""Just after the last of the conversations."""
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question over one history, and the imported ids of the messages that answer it."""

    username: str
    text: str
    evidence: frozenset[str]
    category: int


def load_conversations(path: Path, *, is_named: bool = True) -> Sequence[Asked]:
    """Store each conversation as one user's history, its first speaker as the user; return the questions."""
    asked: list[Asked] = []
    for number, entry in enumerate(json.loads(path.read_text())):
        username = f"locomo-{number}"
        spoken = entry["conversation"]
        ids = _store(username, spoken, is_named=is_named)
        for qa in entry["qa"]:
            named = {f"D{a}:{b}" for text in qa["evidence"] for a, b in _EVIDENCE.findall(text)} & ids
            if qa["category"] != ADVERSARIAL and named:
                asked.append(
                    Asked(
                        username=username,
                        text=str(qa["question"]),
                        evidence=frozenset(named),
                        category=qa["category"],
                    )
                )
    return asked


@transaction.atomic
def _store(username: str, spoken: Mapping[str, Any], *, is_named: bool) -> set[str]:
    User.objects.filter(username=username).delete()
    user = User.objects.create_user(username)
    name = spoken["speaker_a"] if is_named else ""
    Profile.of(user.pk).update_or_create(user_id=user.pk, defaults={"name": name})
    ids: set[str] = set()
    for number in range(1, 100):
        said = spoken.get(f"session_{number}")
        if not said:
            continue
        started = datetime.strptime(spoken[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(
            tzinfo=UTC
        )
        words = [(entry["dia_id"], entry["speaker"] == spoken["speaker_a"], _text(entry)) for entry in said]
        store_session(user, words, started=started)
        ids |= {entry["dia_id"] for entry in said}
    return ids


def _text(entry: Mapping[str, Any]) -> str:
    caption = entry.get("blip_caption")
    return f"{entry['text']} [shared photo: {caption}]" if caption else str(entry["text"])


def store_session(
    user: User, words: Sequence[tuple[str, bool, str]], *, started: datetime, title: str = ""
) -> None:
    """Store a session of messages, each an imported id, whether the user wrote it, and its text."""
    session = Session.of(user.pk).create(
        kind=SessionKind.OPEN_CONVERSATION, last_message_number=len(words), title=title
    )
    turns: list[Turn] = []
    messages: list[Message] = []
    is_answered = True
    for number, (imported_id, is_by_user, text) in enumerate(words, 1):
        if is_by_user or is_answered:
            turns.append(Turn(session=session, status=TurnStatus.COMPLETED, ended_at=started))
        is_answered = not is_by_user
        messages.append(
            Message(
                session=session,
                turn=turns[-1],
                number=number,
                role=MessageRole.USER if is_by_user else MessageRole.ASSISTANT,
                content=text,
                metadata={"imported_id": imported_id},
            )
        )
    Turn.unscoped.bulk_create(turns)
    moments = {message.number: started + timedelta(minutes=message.number) for message in messages}
    for message in Message.unscoped.bulk_create(messages):
        message.created_at = moments[message.number]
    Message.unscoped.bulk_update(messages, ["created_at"], batch_size=500)
