"""What Sage said just before a person's words: the question that these may answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from coaching.legacy_text.blocks import strip_block_tags
from coaching.safety.answers import danger_in_answer, may_answer
from coaching.safety.danger import Danger
from coaching.tools import presentation_of
from coaching.turns.request import TurnRequest
from sessions_app.models import Message, MessageRole, Session, ToolCallRecord, Turn, TurnStatus


def asked_before(message: Message) -> str:
    """Return what Sage said before a stored message."""
    return _last_said(message.session.user_id, message.session_id, before=message.number)


def asked_of_new(*, user_id: int, session_id: UUID, is_edit: bool) -> str:
    """Return what Sage said before words that are about to be stored; an edit replaces the last message."""
    if is_edit:
        own = Message.of(user_id).filter(session=session_id, role=MessageRole.USER, turn__is_withdrawn=False)
        own = own.exclude(metadata__has_key="is_hidden").order_by("-number")
        last = own.values_list("number", flat=True).first()
        return _last_said(user_id, session_id, before=last) if last else ""
    waiting = Turn.of(user_id).filter(session=session_id, status=TurnStatus.AWAITING_USER).first()
    if waiting is None:
        return _last_said(user_id, session_id)
    calls = waiting.calls.order_by("round_number", "position")
    return _joined(_texts_of(waiting), ((call.name, call.input) for call in calls))


def danger_of_answer(request: TurnRequest) -> Danger | None:
    """Return the danger of a message that answers what Sage asked last.

    What was asked is read only for words that neither deny nor evade it.
    """
    words = request.text
    if not isinstance(words, str) or not may_answer(words):
        return None
    asked = asked_of_new(
        user_id=request.user_id, session_id=request.session_id, is_edit=request.kind == "edit"
    )
    return danger_of_words(words, asked=asked)


def danger_of_words(words: object, *, asked: str) -> Danger | None:
    """Return the danger of words, or of an answer's note, that affirm what Sage asked."""
    if isinstance(words, Mapping):
        words = words.get("note")
    if not isinstance(words, str):
        return None
    return danger_in_answer(words, asked=strip_block_tags(asked))


def asked_by_call(session: Session, call: ToolCallRecord) -> str:
    """Return what Sage said with a question that is answered by a tap or a form."""
    turn = Turn.within(session).get(id=call.turn_id)
    return _joined(_texts_of(turn), [(call.name, call.input)])


def _last_said(user_id: int, session_id: UUID, *, before: int | None = None) -> str:
    said = Message.of(user_id).filter(session=session_id, turn__is_withdrawn=False).order_by("-number")
    if before is not None:
        said = said.filter(number__lt=before)
    message = said.filter(role=MessageRole.ASSISTANT).only("content", "metadata").first()
    if message is None:
        return ""
    calls: Sequence[Mapping[str, Any]] = message.metadata.get("tool_calls", ())
    return _joined([message.content], ((call.get("name"), call.get("input")) for call in calls))


def _texts_of(turn: Turn) -> Iterable[str]:
    return turn.rounds.order_by("number").values_list("text", flat=True)


def _joined(texts: Iterable[str], calls: Iterable[tuple[object, object]]) -> str:
    prompts = (_prompt_of(name, values) for name, values in calls)
    return "\n".join(text for text in (*texts, *prompts) if text.strip())


def _prompt_of(name: object, values: object) -> str:
    """Return the words above an interactive call's fields, if it has any."""
    question = presentation_of(str(name)).question
    if not isinstance(values, Mapping):
        return ""
    given: Mapping[str, Any] = values
    return question(given).prompt
