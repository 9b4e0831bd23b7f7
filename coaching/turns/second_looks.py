"""What a second look reads before it asks, and what it stores afterwards. It asks no model itself.

It is taken at a message, at words with which a question was answered, and at a capture. No budget limits it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from coaching.care.reading import LOOK_KEY
from coaching.files.frontmatter import strip_frontmatter
from coaching.legacy_text.blocks import strip_block_tags
from coaching.life.capture_verdicts import drop_look, raise_verdict
from coaching.life.prompts import question_and_answer
from coaching.model_client.requests import store_usage
from coaching.models import UserFileVersion
from coaching.people.help_lines import count_card
from coaching.safety.card import METADATA_KEY, kept_danger
from coaching.safety.danger import Danger
from coaching.safety.second_look import EARLIER_MESSAGES
from coaching.turns.answer_second_looks import note_in
from coaching.turns.last_question import (
    before_own_message,
    own_message,
    question_of_call,
    said_before_turn,
    said_in,
    said_last,
)
from coaching.turns.taken_back import take_back_steps
from sessions_app.models import (
    Message,
    MessageRole,
    ModelUsage,
    SafetyVerdict,
    Session,
    ToolCallRecord,
    ToolCallState,
)
from sessions_app.queries import Columns, prepared, run_queries
from sessions_app.selectors import accessible_session
from sessions_app.session_events import CardGiven, append
from sessions_app.summaries import withdraw_summary
from sessions_app.titles import withhold_title
from sessions_app.verdicts import (
    SEEN,
    CalmLook,
    NewVerdict,
    is_more_acute,
    store_calm_looks,
    store_verdict,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookSubject:
    """What a second look is taken at: words, what Sage said just before, and the user's words before that.

    `key` is that of the message, the answered call, or the capture's version.
    """

    of: Literal["message", "answer", "capture"]
    key: int
    user_id: int
    session_id: UUID | None
    words: str
    earlier: Sequence[str] = ()
    asked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookResult:
    """How a look ended. `usage` is what its request cost, not yet stored."""

    outcome: str
    danger: Danger | None = None
    model: str = ""
    milliseconds: int = 0
    usage: ModelUsage | None = None


def read_words(turn_id: UUID) -> LookSubject | None:
    """Return what a look at a turn's message needs; None where nothing is to be asked.

    The card can't become more acute than the rules have made it. A message whose look came to nothing is
    looked at again when it is answered again.
    """
    own, earlier, sage = run_queries([_own(turn=turn_id), _earlier(turn=turn_id), said_before_turn(turn_id)])
    if not own:
        return None
    message, (user_id, is_seen) = _MESSAGE.object_of(own[0][: len(_MESSAGE)]), own[0][len(_MESSAGE) :]
    if is_seen:
        return None
    said = [text for (text,) in reversed(earlier)]
    return _subject(message, user_id=user_id, earlier=said, asked=said_in(sage))


def words_of(message: Message, *, before: Sequence[Message], user_id: int) -> LookSubject | None:
    """Return the same as `read_words` for a new message, from the messages before it, oldest first."""
    said = [each for each in before if each.role == MessageRole.USER and not each.metadata.get("is_hidden")]
    earlier = [each.content for each in said[-EARLIER_MESSAGES:]]
    return _subject(message, user_id=user_id, earlier=earlier, asked=said_last(before))


def _subject(message: Message, *, user_id: int, earlier: Sequence[str], asked: str) -> LookSubject | None:
    known = kept_danger(message.metadata)
    if message.metadata.get("is_hidden") or (known is not None and known.level == "immediate"):
        return None
    return LookSubject(
        of="message",
        key=message.pk,
        session_id=message.session_id,
        user_id=user_id,
        words=strip_block_tags(message.content),
        earlier=list(map(strip_block_tags, earlier)),
        asked=strip_block_tags(asked),
    )


_MESSAGE = Columns(Message)


@prepared
def _own() -> QuerySet[Any, Any]:
    is_seen = Exists(SafetyVerdict.unscoped.filter(message=OuterRef("pk"), looked__in=sorted(SEEN)))
    return own_message().values_list(*_MESSAGE.lookups, "session__user_id", is_seen)[:1]


@prepared
def _earlier() -> QuerySet[Any, Any]:
    return _said_earlier(before_own_message()).values_list("content")[:EARLIER_MESSAGES]


def _said_earlier(messages: QuerySet[Message]) -> QuerySet[Message]:
    said = messages.filter(role=MessageRole.USER, turn__is_withdrawn=False)
    return said.exclude(metadata__has_key="is_hidden").order_by("-number")


def read_answer(call_id: int) -> LookSubject | None:
    """Return what a look at a person's own words in an answer needs; None for a tap, and for clear danger."""
    calls = ToolCallRecord.unscoped.filter(id=call_id, state=ToolCallState.ANSWERED, turn__is_withdrawn=False)
    call = calls.select_related("turn__session").first()
    if call is None or LOOK_KEY in call.metadata:
        return None
    known = kept_danger(call.metadata)
    if not note_in(call.value) or (known is not None and known.level == "immediate"):
        return None
    session = call.turn.session
    return LookSubject(
        of="answer",
        key=call.pk,
        session_id=session.pk,
        user_id=session.user_id,
        words=note_in(call.value),
        earlier=_read_earlier(session),
        asked=strip_block_tags(question_of_call(session, call)),
    )


def read_capture(version_id: int) -> LookSubject | None:
    """Return what a look at a capture needs; one that answers a question of Sage's comes with it.

    Where there are no words the look has ended.
    """
    version = UserFileVersion.unscoped.filter(pk=version_id).select_related("file").first()
    if version is None:
        return None
    user_id = version.file.user_id
    asked, words = question_and_answer(user_id=user_id, body=strip_frontmatter(version.content).strip())
    if not words:
        drop_look(version_id)
        return None
    return LookSubject(
        of="capture",
        key=version_id,
        session_id=None,
        user_id=user_id,
        words=words,
        asked=asked,
    )


def _read_earlier(session: Session) -> Sequence[str]:
    texts = _said_earlier(Message.within(session)).values_list("content", flat=True)[:EARLIER_MESSAGES]
    return [strip_block_tags(text) for text in texts][::-1]


def store_looks(looks: Sequence[tuple[LookSubject, LookResult]]) -> None:
    """Store how looks at different words ended, with a card if one makes it, or a more acute one.

    Those at messages that saw no danger are stored in one statement.
    """
    calm: dict[int, LookResult] = {}
    for subject, result in looks:
        if subject.of == "message" and result.danger is None:
            calm.setdefault(subject.key, result)
    stored = store_calm_looks([_calm(key, result) for key, result in calm.items()]) if calm else ()
    for subject, result in looks:
        if calm.get(subject.key) is not result:
            _store_look(subject, result)
        elif subject.key not in stored and result.usage:
            store_usage(result.usage)


def _calm(message_id: int, result: LookResult) -> CalmLook:
    return CalmLook(
        message_id=message_id,
        looked=result.outcome,
        model=result.model,
        milliseconds=result.milliseconds,
        usage=result.usage,
    )


def _store_look(subject: LookSubject, result: LookResult) -> None:
    danger = result.danger
    usage = store_usage(result.usage) if result.usage else None
    new = NewVerdict(
        level=danger.level if danger else "none",
        about=danger.about if danger else "self",
        topic=danger.topic if danger else "life",
        looked=result.outcome,
        model=result.model,
        milliseconds=result.milliseconds,
        usage_id=usage.pk if usage else None,
    )
    match subject.of:
        case "message":
            note_danger(subject.key, new)
        case "answer":
            _note_answer(subject.key, new)
        case "capture":
            raise_verdict(subject.key, new, now=timezone.now())


@transaction.atomic
def note_danger(message_id: int, new: NewVerdict) -> None:
    """Store a verdict, and its card where it makes one or a more acute one. A new card is counted."""
    before = Message.unscoped.filter(id=message_id).select_related("safety_verdict", "session").first()
    if before is None:
        return
    session = accessible_session(user_id=before.session.user_id, session_id=before.session_id, is_locked=True)
    if not store_verdict(message_id, new):
        return
    withhold_title(before)
    withdraw_summary(session, since=before.number)
    known = [kept_danger(before.metadata), before.known_verdict]
    levels = [each.level for each in known if each is not None]
    had_card = any(level != "none" for level in levels)
    if any(not is_more_acute(new.level, level) for level in levels if level != "none"):
        return
    if not had_card:
        count_card(new.level, now=timezone.now())
        take_back_steps(session, before.turn_id)
    append(session, CardGiven(number=before.number, is_replaced=had_card))


@transaction.atomic
def _note_answer(call_id: int, new: NewVerdict) -> None:
    """Store a verdict with an answered call, and its card where it makes one or a more acute one."""
    known_call = ToolCallRecord.unscoped.filter(id=call_id).select_related("turn__session").first()
    if known_call is None:
        return
    of = known_call.turn.session
    session = accessible_session(user_id=of.user_id, session_id=of.id, is_locked=True)
    calls = ToolCallRecord.unscoped.select_for_update(of=("self",), no_key=True).filter(id=call_id)
    call = calls.filter(turn__is_withdrawn=False).first()
    if call is None or LOOK_KEY in call.metadata:
        return
    known = kept_danger(call.metadata)
    level = known.level if known else "none"
    look: dict[str, Any] = {
        "level": new.looked,
        "model": new.model,
        "milliseconds": new.milliseconds,
        "usage_id": new.usage_id,
        "rules": level,
    }
    call.metadata = {**call.metadata, LOOK_KEY: look}
    is_raised = is_more_acute(new.level, level)
    if is_raised:
        call.metadata[METADATA_KEY] = {"level": new.level, "about": new.about, "topic": new.topic}
    call.look_due_at = None
    call.save(update_fields=["metadata", "look_due_at"])
    if not is_raised:
        return
    withdraw_summary(session)
    if known is None:
        count_card(new.level, now=timezone.now())
        take_back_steps(session, call.turn_id)
    card = CardGiven(turn_id=str(call.turn_id), tool_use_id=call.tool_use_id, is_replaced=known is not None)
    append(session, card)
