"""What Sage said just before a person's words: the question that these may answer."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Subquery, Value
from django.db.models.functions import JSONObject

from coaching.legacy_text.blocks import strip_block_tags
from coaching.safety.answers import danger_in_answer, may_answer
from coaching.safety.danger import Danger
from coaching.tools import presentation_of
from coaching.turns.request import TurnRequest
from sessions_app.models import Message, MessageRole, Round, Session, ToolCallRecord, Turn, TurnStatus
from sessions_app.queries import Query, Rows, parameter, prepared


def own_message() -> QuerySet[Message]:
    """Return the query of the person's message that the turn `turn` has stored, unless it is withdrawn."""
    own = Message.unscoped.filter(turn=parameter("turn"), role=MessageRole.USER, turn__is_withdrawn=False)
    return own.order_by("number")


def before_own_message() -> QuerySet[Message]:
    """Return the query of what was said before it in its session."""
    own = own_message()
    session, number = Subquery(own.values("session")[:1]), Subquery(own.values("number")[:1])
    return Message.unscoped.filter(session=session, number__lt=number)


def said_before_turn(turn_id: UUID) -> Query:
    """Return the query for what Sage said before a turn's stored message, which `said_in` takes."""
    return _before_turn(turn=turn_id)


@prepared
def _before_turn() -> QuerySet[Any, Any]:
    return _last_answer(before_own_message())


def said_last(messages: Sequence[Message]) -> str:
    """Return what Sage said last in these messages of a session, oldest first."""
    said = [message for message in messages if message.role == MessageRole.ASSISTANT][-1:]
    calls = [
        (call.get("name"), call.get("input"))
        for message in said
        for call in message.metadata.get("tool_calls", ())
    ]
    return _joined([message.content for message in said], calls)


def said_in(rows: Rows) -> str:
    """Return what Sage said, from the rows of `said_before_turn`."""
    values = [json.loads(value) if isinstance(value, str) else value for _, value in rows]
    calls = [(call.get("name"), call.get("input")) for value in values for call in value["calls"] or ()]
    return _joined([value["text"] for value in values], calls)


def last_question_query(request: TurnRequest) -> Query | None:
    """Return the query for what Sage said before words that are about to be stored.

    None for words that deny or evade whatever was asked. An edit replaces the last message.
    """
    if not request.has_text or not isinstance(request.text, str) or not may_answer(request.text):
        return None
    query = _before_edit if request.kind == "edit" else _before_message
    return query(user=request.user_id, session=request.session_id)


def asked_in(rows: Rows) -> str:
    """Return what Sage said before a message, from the rows of `last_question_query`."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for kind, values in rows:
        found.setdefault(kind, []).append(json.loads(values) if isinstance(values, str) else values)
    waiting = [*found.get("text", ()), *found.get("call", ())]
    said = [] if waiting else found.get("answer", [])
    texts = [values["text"] for values in (*sorted(found.get("text", ()), key=_place), *said)]
    calls = [
        *sorted(found.get("call", ()), key=_place),
        *(call for values in said for call in values["calls"] or ()),
    ]
    return _joined(texts, ((call.get("name"), call.get("input")) for call in calls))


def _place(values: Mapping[str, Any]) -> tuple[int, int]:
    return int(values["round"]), int(values["position"])


@prepared
def _before_message() -> QuerySet[Any, Any]:
    """Return what a turn says that waits for the person, and Sage's last answer, which counts without one."""
    waiting = {"turn__session": parameter("session"), "turn__status": TurnStatus.AWAITING_USER}
    rounds = Round.of(parameter("user")).filter(**waiting).order_by()
    calls = ToolCallRecord.of(parameter("user")).filter(**waiting).order_by()
    text = JSONObject(round=F("number"), position=Value(0), text=F("text"))
    call = JSONObject(round=F("round_number"), position=F("position"), name=F("name"), input=F("input"))
    return _answers().union(
        rounds.values_list(Value("text"), text), calls.values_list(Value("call"), call), all=True
    )


@prepared
def _before_edit() -> QuerySet[Any, Any]:
    """Return Sage's last answer before the person's last message."""
    own = Message.of(parameter("user")).filter(session=parameter("session"), turn__is_withdrawn=False)
    own = own.filter(role=MessageRole.USER).exclude(metadata__has_key="is_hidden").order_by("-number")
    return _answers(number__lt=Subquery(own.values("number")[:1]))


def _answers(**where: Any) -> QuerySet[Any, Any]:
    said = Message.of(parameter("user")).filter(session=parameter("session"), **where)
    return _last_answer(said)


def _last_answer(messages: QuerySet[Message]) -> QuerySet[Any, Any]:
    said = messages.filter(role=MessageRole.ASSISTANT, turn__is_withdrawn=False).order_by("-number")
    values = JSONObject(text=F("content"), calls=F("metadata__tool_calls"))
    return said.values_list(Value("answer"), values)[:1]


def danger_of_words(words: object, *, asked: str) -> Danger | None:
    """Return the danger of words, or of an answer's note, that affirm what Sage asked."""
    if isinstance(words, Mapping):
        words = words.get("note")
    if not isinstance(words, str):
        return None
    return danger_in_answer(words, asked=strip_block_tags(asked))


def question_of_call(session: Session, call: ToolCallRecord) -> str:
    """Return what Sage said with a question that is answered by a tap or a form."""
    turn = Turn.within(session).get(id=call.turn_id)
    return _joined(_texts_of(turn), [(call.name, call.input)])


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
