"""At the end of a drill: what became of every accepted message and of every accepted file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import connection

from coaching.models import Document, DocumentState
from sessions_app.models import Message, MessageRole, Turn, TurnStatus
from tests.drill.model import words_of
from tests.drill.people import Said

ENDED_IN_WORDS = frozenset({TurnStatus.FAILED, TurnStatus.INTERRUPTED})


@dataclass(slots=True)
class Audit:
    """Counts, and a sentence for each violation."""

    said: int = 0
    accepted: int = 0
    whole: int = 0
    in_words: int = 0
    refused: int = 0
    twice: int = 0
    """Messages that were refused after they had been stored: the person sent them a second time."""
    documents: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


def audit(said: Sequence[Said], documents: Sequence[int]) -> Audit:
    """Compare what people were told with the database. Sync ORM code."""
    connection.close()  # the database has been restarted since
    found = Audit(said=len(said))
    for one in said:
        found.refused += one.refusals
        found.twice += _stored_times(one, one.ids) > 1
        if one.accepted_at is None:
            found.violations.append(f"{one.key} was sent {one.sent} times and never accepted")
            continue
        found.accepted += 1
        _audit_message(one, found)
    states = dict(Document.unscoped.filter(pk__in=documents).values_list("pk", "state"))
    found.documents.update(states.values())
    for document_id in documents:
        state = states.get(document_id, "gone")
        if state not in (DocumentState.FILED, DocumentState.REVIEW):
            found.violations.append(f"document {document_id} is {state}")
    return found


def _stored_times(said: Said, ids: Sequence[str]) -> int:
    return Message.unscoped.filter(session_id=said.session_id, client_id__in=ids).count()


def _audit_message(said: Said, found: Audit) -> None:
    times = _stored_times(said, [said.accepted_id])
    if times != 1:
        found.violations.append(f"{said.key} was accepted and is stored {times} times")
        return
    message = Message.unscoped.get(session_id=said.session_id, client_id=said.accepted_id)
    turn = Turn.unscoped.get(pk=message.turn_id)
    answer = turn.messages.filter(role=MessageRole.ASSISTANT).values_list("content", flat=True).first() or ""
    if turn.status == TurnStatus.COMPLETED and answer.split() == words_of(said.key):
        found.whole += 1
        if not said.is_whole:
            found.violations.append(f"{said.key} is whole, but its page didn't show it so")
    elif turn.status in ENDED_IN_WORDS and turn.user_notice:
        found.in_words += 1
    else:
        ended = f"{turn.status} ({turn.stop_reason} {turn.failure})"
        found.violations.append(f"{said.key} is {ended} with {len(answer.split())} words")
