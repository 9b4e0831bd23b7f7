"""At the end of a drill: what became of every accepted message and of every accepted file."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape

from django.db import connection

from coaching.models import Document, DocumentState, UserFileVersion
from sessions_app.models import Message, MessageRole, ToolCallRecord, Turn, TurnStatus
from tests.drill.model import words_of
from tests.drill.people import Said

READ = (DocumentState.FILED, DocumentState.REVIEW)
POLL_SECONDS = 0.5
_SAID = re.compile(r"\[(d\d+)(?: save)?\]")
_ANSWERED = re.compile(r"\b(d\d+)w\d+\b")
ENDED_IN_WORDS = frozenset({TurnStatus.FAILED, TurnStatus.INTERRUPTED})


@dataclass(slots=True)
class Audit:
    """Counts, and a sentence for each violation."""

    said: int = 0
    accepted: int = 0
    whole: int = 0
    in_words: int = 0
    keys_in_words: set[str] = field(default_factory=set)
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
    _audit_doubles(said, found)
    states = dict(Document.unscoped.filter(pk__in=documents).values_list("pk", "state"))
    found.documents.update(states.values())
    for document_id in documents:
        state = states.get(document_id, "gone")
        if state not in READ:
            found.violations.append(f"document {document_id} is {state}")
    return found


def wait_for_documents(documents: Sequence[int], seconds: float) -> None:
    """Wait until all files have been read, at most that long; the audit finds the rest. Sync ORM code."""
    connection.close()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if Document.unscoped.filter(pk__in=documents, state__in=READ).count() == len(documents):
            return
        time.sleep(POLL_SECONDS)


def _stored_times(said: Said, ids: Sequence[str]) -> int:
    return Message.unscoped.filter(session_id=said.session_id, client_id__in=ids).count()


def _audit_doubles(said: Sequence[Said], found: Audit) -> None:
    """Find words that are stored twice, or that nobody said, by their content only: ids are unique anyway."""
    stored: Counter[str] = Counter()
    answers: defaultdict[str, list[object]] = defaultdict(list)
    rows = Message.unscoped.values_list("role", "content", "turn_id").order_by()
    for role, content, turn_id in rows.iterator():
        if role == MessageRole.USER:
            stored.update(_SAID.findall(content) or ["without a key"])
        else:
            for key in set(_ANSWERED.findall(content)):
                answers[key].append(turn_id)
    expected = {one.key for one in said}
    for key, times in stored.items():
        if times > 1 or key not in expected:
            found.violations.append(f"{key} is stored {times} times among all people's messages")
    for key, turns in answers.items():
        if len(turns) > 1:
            found.violations.append(f"{key} is answered by {len(turns)} messages of Sage")


def _audit_message(said: Said, found: Audit) -> None:
    if said.ended_at is None:
        found.violations.append(f"{said.key} was accepted, and its page never showed an end")
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
        if said.is_saving:
            _audit_save(said, turn, found)
    elif turn.status in ENDED_IN_WORDS and turn.user_notice:
        found.in_words += 1
        found.keys_in_words.add(said.key)
        if turn.user_notice not in unescape("".join(said.markup)):
            found.violations.append(f"{said.key} ended with a sentence that its page didn't show")
    else:
        ended = f"{turn.status} ({turn.stop_reason} {turn.failure})"
        found.violations.append(f"{said.key} is {ended} with {len(answer.split())} words")


def _audit_save(said: Said, turn: Turn, found: Audit) -> None:
    """See that the call of a whole answer has stored its file once."""
    calls = ToolCallRecord.unscoped.filter(turn=turn).count()
    versions = UserFileVersion.unscoped.filter(
        session_id=said.session_id, content__contains=f"Said in {said.key}."
    ).count()
    if (calls, versions) != (1, 1):
        found.violations.append(f"{said.key} saved {versions} versions in {calls} calls")
