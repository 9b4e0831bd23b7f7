"""What people answered by a tap or a form, as words: for the requests of background jobs, in English.

Such an answer stands in no message: it is stored with the call of Sage that asked for it.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from coaching.models import LifeDomain
from coaching.people.languages import in_model_language
from coaching.safety.card import Verdict, danger_elsewhere, kept_danger, known_danger
from coaching.tools import presentation_of
from coaching.tools.presentation import CardField
from coaching.transcript.calls import QuestionItem, question_of
from coaching.transcript.made_files import values_in
from coaching.transcript.old_replies import ROUNDS_KEY
from coaching.transcript.ratings import ShownRating
from sessions_app.english import in_english
from sessions_app.models import Message, MessageRole, ToolCallRecord

NO_VERDICTS: Mapping[int, Verdict] = {}
FIELD_CHARACTERS = 500
"""Of the value of a card's field."""
_OUTCOMES = {
    "allowed": "Said yes",
    "accepted": "Said yes",
    "failed": "Said yes, and it failed",
    "declined": "Said no",
    "undone": "Said yes and took it back",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWords:
    """An answer. `asked` are Sage's words above its fields, `words` what the person did, in their place."""

    turn_id: uuid.UUID
    round_number: int
    asked: str
    words: str
    is_danger: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A piece of a message: what one of both said, or the person's answer within a message of Sage.

    `is_danger`: the person's words are of danger, here or in the program that they were imported from.
    """

    message: Message
    is_by_person: bool
    text: str
    is_answer: bool = False
    is_danger: bool = False


Answers = Mapping[uuid.UUID, Sequence[AnswerWords]]
"""Answers by turn, in order."""
NO_ANSWERS: Answers = {}


def read_answers(user_id: int, turn_ids: Collection[uuid.UUID]) -> Answers:
    """Read what the user answered in some turns. Sync ORM code."""
    calls = ToolCallRecord.of(user_id).filter(turn_id__in=turn_ids, value__isnull=False)
    found: dict[uuid.UUID, list[AnswerWords]] = defaultdict(list)
    with in_model_language():
        for call in calls.order_by("round_number", "position"):
            if answer := answer_words(call):
                found[call.turn_id].append(answer)
    return found


def answer_words(call: ToolCallRecord) -> AnswerWords | None:
    """Return the answer to a call; None where it has no words. The language is that of the model."""
    question = question_of(call)
    match question.kind:
        case "options":
            words = next((option.label for option in question.options if option.is_chosen), "")
            words = f"Tapped: {words}" if words else ""
        case "pulse":
            words = _ratings(question)
        case "confirm":
            words = _decision(question, call)
        case _:
            words = str(call.value) if isinstance(call.value, str) else ""
    if not words:
        return None
    return AnswerWords(
        turn_id=call.turn_id,
        round_number=call.round_number,
        asked="" if question.kind == "confirm" else question.prompt,
        words=words,
        is_danger=kept_danger(call.metadata) is not None,
    )


def said_in(
    messages: Iterable[Message], answers: Answers, verdicts: Mapping[int, Verdict] = NO_VERDICTS
) -> list[Said]:
    """Return what was said in some messages, in order; an answer follows the round that asked for it.

    `verdicts` are those about messages, by their ids.
    """
    said = [piece for message in messages for piece in _said_in_one(message, answers, verdicts)]
    return [piece for piece in said if piece.text.strip()]


def _said_in_one(message: Message, answers: Answers, verdicts: Mapping[int, Verdict]) -> Iterable[Said]:
    if message.metadata.get("is_hidden"):
        return []
    if message.role == MessageRole.USER:
        here = known_danger(message.metadata, verdicts.get(message.pk))
        is_danger = (here or danger_elsewhere(message.metadata)) is not None
        return [Said(message=message, is_by_person=True, text=message.content, is_danger=is_danger)]
    return _said_by_sage(message, answers.get(message.turn_id, ()))


def _said_by_sage(message: Message, answers: Sequence[AnswerWords]) -> Iterator[Said]:
    ends = message.metadata.get(ROUNDS_KEY) or [len(message.content)]
    start = 0
    for number, group in groupby(answers, key=lambda answer: answer.round_number):
        given = list(group)
        end = ends[min(number, len(ends)) - 1]
        texts = [message.content[start:end].strip(), *(answer.asked for answer in given)]
        yield Said(message=message, is_by_person=False, text="\n".join(filter(None, texts)))
        for answer in given:
            yield Said(
                message=message,
                is_by_person=True,
                text=answer.words,
                is_answer=True,
                is_danger=answer.is_danger,
            )
        start = end
    rest = message.content[start:]
    yield Said(message=message, is_by_person=False, text=rest.strip() if answers else rest)


def _ratings(question: QuestionItem) -> str:
    rated = [_rating(row) for row in question.ratings if row.new is not None]
    if not rated:
        return ""
    note = f" Their note: {question.note}" if question.note else ""
    return f"Rated from 1 (worst) to 5 (best): {', '.join(rated)}.{note}"


def _rating(row: ShownRating) -> str:
    before = "for the first time" if row.old is None else f"{row.old} before"
    label = in_english(LifeDomain(row.domain).label)
    return f"{label} {row.new} ({before})"


def _decision(question: QuestionItem, call: ToolCallRecord) -> str:
    """Return what became of a write: its question and its fields, with what the person has changed."""
    head = f"{_OUTCOMES.get(question.outcome, 'Said yes')} to “{question.prompt}”"
    if question.page is not None:
        head = f"{head} ({question.page.name})"
    asked = presentation_of(call.name).question(call.input if isinstance(call.input, dict) else {}).fields
    changed = values_in(call.result).get("changed_by_the_user")
    before = {field.name: field.words for field in asked if field.name in (changed or ())}
    fields = [_field(field, before.get(field.name)) for field in question.fields]
    words = "; ".join(filter(None, fields))
    return f"{head}: {words}" if words else head


def _field(field: CardField, before: str | None) -> str:
    """Return a field as it was written; `before` is what Sage had written where the person changed it."""
    words = " ".join(field.words.split())[:FIELD_CHARACTERS]
    if before is None:
        return f"{field.label}: {words}" if words else ""
    was = before[:FIELD_CHARACTERS] or "empty"
    return f"{field.label}: {words or 'empty'} (changed by them, it was: {was})"
