"""What a conversation's history is: read from the database, and audited in the requests to the model.

Of several answers to one message only the chosen one is in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from coaching.practice.api.records import ReceivedRequest
from sessions_app import selectors
from sessions_app.models import Message, MessageRole, Session, Turn, TurnStatus
from sessions_app.opened_turns import last_turn
from tests.faults.people import Conversation
from tests.faults.planned_model import WORDS, in_order, plan_of


def read_words(session_id: UUID) -> list[str]:
    """Return the words of the answers in a conversation's history, without notes."""
    history = selectors.history(Session.unscoped.get(id=session_id))
    return [word for message in history for word in in_order(WORDS.findall(message.content))]


def read_answer(session_id: UUID) -> tuple[str, str]:
    """Return the last turn of a conversation's history and its answer, both empty where there is none."""
    turn = last_turn(Session.unscoped.get(id=session_id))
    if turn is None:
        return "", ""
    answer = turn.messages.filter(role=MessageRole.ASSISTANT).first()
    return str(turn.id), answer.content if answer else ""


def read_alternatives(session_id: UUID) -> list[tuple[str, str]]:
    """Return the answers to a conversation's last message, each with its turn, in order."""
    last = last_turn(Session.unscoped.get(id=session_id))
    if last is None or last.message_number is None:
        return []
    shared = Turn.unscoped.filter(session_id=session_id, message_number=last.message_number)
    answers = Message.unscoped.filter(
        turn__in=shared.exclude(status=TurnStatus.SUPERSEDED), role=MessageRole.ASSISTANT
    )
    return [(str(answer.turn_id), answer.content) for answer in answers.order_by("number")]


def audit_histories(requests: Iterable[ReceivedRequest], conversations: Sequence[Conversation]) -> list[str]:
    """Return a violation for every request whose history isn't the one that was chosen."""
    before: Mapping[str, list[str]] = {
        plan: words for item in conversations for plan, words in item.words_before.items()
    }
    found = []
    for request in requests:
        plan = plan_of(request.body)
        if not plan or not request.body.get("tools"):  # titles and briefs have no history
            continue
        sent = words_sent(request.body)
        if any(word.startswith(f"{plan}r") for word in sent):
            found.append(f"I3 a request of {plan} has an earlier answer to its message: {sent}")
        chosen = before.get(plan)
        # The window may leave out what is older.
        if chosen is not None and (chosen[len(chosen) - len(sent) :] != sent or bool(sent) != bool(chosen)):
            found.append(f"I3 a request of {plan} has the history {sent}, chosen was {chosen}")
    return found


def words_sent(body: Mapping[str, Any]) -> list[str]:
    """Return the words of the answers before a request's newest message."""
    words: list[str] = []
    newest: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        if message["role"] == "user" and texts:
            words, newest = words + newest, []
        elif message["role"] == "assistant":
            newest += in_order(WORDS.findall(" ".join(texts)))
    return words
