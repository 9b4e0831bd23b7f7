"""A turn's calls as a page shows them: questions with answers, marks of arcs, and written files. No I/O.

Other calls aren't shown. Stored inputs may be of an older version: unexpected values are left out and never
raise.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal

from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from coaching.events import CallPending
from coaching.models import FileType
from coaching.safety.card import Card, kept_danger
from coaching.safety.danger import Danger
from coaching.tools import presentation_of
from coaching.tools.presentation import ARC, PAGE, REPLACES, CardField, QuestionKind, text_in
from coaching.tools.tainted import Ruling
from coaching.transcript.confirm_cards import Outcome, card_parts, given_fields, written_fields
from coaching.transcript.going_lines import ShownGoing, going_shown
from coaching.transcript.made_files import values_in
from coaching.transcript.names import MadeFile, arc_words, dom_id_of, in_words, made_file, source_names
from coaching.transcript.old_replies import old_inputs
from coaching.transcript.ratings import ShownRating, day_rated, rated_rows, rating_in, rows_to_rate
from coaching.transcript.step_chips import StepItem, chip_of_call
from sessions_app.models import Message, ToolCallRecord, ToolCallState
from sessions_app.turn_records import CARD_DETAILS

SESSION_DONE = gettext_noop("This conversation was completed here.")


_UNANSWERED_ENDS = (ToolCallState.SUPERSEDED, ToolCallState.EXPIRED)
_ENDS = (ToolCallState.ANSWERED, ToolCallState.DISMISSED, *_UNANSWERED_ENDS)
SHOWN_STATES = (ToolCallState.PENDING, ToolCallState.FINISHED, *_ENDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownOption:
    """One answer to tap."""

    label: str
    value: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionItem:
    """A call that waits or waited for the user. `dom_id` depends only on `tool_use_id`.

    A write that wants a yes has `fields`, to be edited, and `details`, each with a label. `sources` are the
    texts of others that Sage had read: they may have asked for it. A `page` would get the `text`; `mark`
    names an arc, and `goes` are lines that a yes strikes. `faults` are what was wrong with a refused answer
    of ratings, by the field. `danger` is what was detected in the answer; `Cards` adds the `card`.
    """

    kind: QuestionKind
    dom_id: str
    tool_use_id: str
    state: str
    prompt: str = ""
    options: Sequence[ShownOption] = ()
    ratings: Sequence[ShownRating] = ()
    note: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    fields: Sequence[CardField] = ()
    details: Sequence[tuple[str, str]] = ()
    yes: str = ""
    done: str = ""
    outcome: Outcome = ""
    sources: str = ""
    page: MadeFile | None = None
    is_page_new: bool = True
    mark: str = ""
    text: str = ""
    goes: Sequence[ShownGoing] = ()
    can_undo: bool = True
    danger: Danger | None = None
    card: Card | None = None

    @property
    def is_pending(self) -> bool:
        return self.state == ToolCallState.PENDING

    @property
    def last_rated_on(self) -> date | None:
        return day_rated(self.ratings)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkItem:
    """A line where an arc begins or ends. `name` is unique in a turn."""

    name: str
    text: str
    kind: Literal["mark"] = "mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenItem:
    """A file that an old reply holds whole, folded. `path` is set if the user has such a file today."""

    name: str
    folder: str
    html: SafeString
    text: str
    path: str = ""
    kind: Literal["written"] = "written"


ShownCall = QuestionItem | MarkItem | WrittenItem | StepItem


def calls_by_round(records: Iterable[ToolCallRecord], *, is_waiting: bool) -> dict[int, list[ShownCall]]:
    """Return the shown calls of a turn by round; `records` are in order.

    Questions are asked one after another: of the pending ones only the first is shown, and only while the
    turn waits. Those after a question without an answer were never asked.
    """
    shown: dict[int, list[ShownCall]] = {}
    silent_rounds: set[int] = set()
    for record in records:
        number = record.round_number
        if record.is_allowed:
            shown.setdefault(number, []).append(question_of(record))
        if record.state == ToolCallState.FINISHED:
            if noted := _mark_of(record) or chip_of_call(record):
                shown.setdefault(number, []).append(noted)
            continue
        if record.is_allowed or record.state not in SHOWN_STATES or number in silent_rounds:
            continue
        if record.state == ToolCallState.PENDING or record.state in _UNANSWERED_ENDS:
            silent_rounds.add(number)
        if record.state != ToolCallState.PENDING or is_waiting:
            shown.setdefault(number, []).append(question_of(record))
    return shown


def old_calls_by_round(
    calls: Iterable[Mapping[str, Any]],
    *,
    rendered: Mapping[str, SafeString],
    paths: Collection[str] = (),
    said_next: str = "",
) -> dict[int, list[ShownCall]]:
    """Return the calls of an old reply by round; `paths` are those of the files that still exist.

    An offered answer is the chosen one if the user said just that in the next message.
    """
    shown: dict[int, list[ShownCall]] = {}
    for call in calls:
        if item := _old_call(call, rendered, paths):
            item = _with_chosen(item, said_next.strip()) if isinstance(item, QuestionItem) else item
            shown.setdefault(call["round"], []).append(item)
    return shown


def _with_chosen(question: QuestionItem, said: str) -> QuestionItem:
    if said not in [option.label for option in question.options]:
        return question
    options = [replace(option, is_chosen=option.label == said) for option in question.options]
    return replace(question, options=options, state=ToolCallState.ANSWERED)


def written_texts(answer: Message) -> list[str]:
    """Return the texts of the files that an old reply holds."""
    return [given["content"] for name, given in old_inputs(answer) if presentation_of(name).writes_file]


def question_of(record: ToolCallRecord) -> QuestionItem:
    state, details = record.shown_state, record.metadata.get(CARD_DETAILS)
    asked = _asked(record.tool_use_id, record.name, record.input, state, details)
    if ruling := Ruling.of(record.metadata):
        asked = replace(asked, sources=source_names(ruling.sources), can_undo=not ruling.is_held)
    if state != ToolCallState.ANSWERED:
        return asked
    asked = replace(asked, danger=kept_danger(record.metadata))
    if asked.kind == "options":
        options = [replace(option, is_chosen=option.value == record.value) for option in asked.options]
        return replace(asked, options=options)
    if asked.kind == "pulse":
        return _with_ratings(asked, record)
    if asked.kind != "confirm":
        return asked
    outcome, fields = written_fields(asked.fields, record)
    return replace(asked, outcome=outcome, fields=fields)


def pending_question(pending: CallPending) -> QuestionItem:
    """Build the item of a call that has just started to wait."""
    asked = _asked(pending.tool_use_id, pending.name, pending.input, ToolCallState.PENDING, pending.details)
    return replace(asked, sources=source_names(pending.sources))


def with_given(question: QuestionItem, given: object) -> QuestionItem:
    """Return the question with what a refused answer gave."""
    if isinstance(given, Mapping) and isinstance(given.get("input"), Mapping):
        return replace(question, fields=given_fields(question.fields, given))
    if not isinstance(given, Mapping) or not isinstance(given.get("ratings"), Mapping):
        return question
    said, faults = given["ratings"], given.get("faults") or {}
    ratings = [
        replace(row, new=rating_in(said.get(row.domain)), fault=faults.get(row.domain, ""))
        for row in question.ratings
    ]
    return replace(question, ratings=ratings, note=str(given.get("note") or ""), faults=faults)


def begin_mark(arc: str) -> MarkItem | None:
    """Build the line where an arc begins in an open conversation."""
    words = arc_words(arc)
    return MarkItem(name=f"begin-{arc}", text=words.name) if words else None


def end_mark(arc: str) -> MarkItem | None:
    """Build the line where an arc ends and the conversation goes on."""
    words = arc_words(arc)
    return MarkItem(name=f"end-{arc}", text=words.done) if words else None


def _old_call(
    call: Mapping[str, Any], rendered: Mapping[str, SafeString], paths: Collection[str]
) -> ShownCall | None:
    presentation, result = presentation_of(call["name"]), values_in(call["result"])
    if presentation.writes_file:
        text = call["input"]["content"]
        path = text_in(result, "path")
        made = made_file(path) if path else None
        return WrittenItem(
            name=made.name if made else _type_name(call["input"]["file_type"]),
            folder=made.folder if made else "",
            html=rendered[text],
            text=text,
            path=path if path in paths else "",
        )
    if result.get("completed") == "session":
        return MarkItem(name="end-session", text=gettext(SESSION_DONE))
    if result:
        return begin_mark(presentation.arc_begun(result))
    return _asked(call["id"], call["name"], call["input"], ToolCallState.SUPERSEDED)


def _type_name(file_type: str) -> str:
    return str(FileType(file_type).label) if file_type in FileType.values else in_words(file_type)


def _asked(tool_use_id: str, name: str, given: object, state: str, details: object = None) -> QuestionItem:
    question = presentation_of(name).question(given if isinstance(given, Mapping) else {})
    shown = details if isinstance(details, Mapping) else {}
    fields, words = card_parts(question.fields, shown, is_pending=state == ToolCallState.PENDING)
    return QuestionItem(
        kind=question.kind,
        dom_id=dom_id_of(tool_use_id),
        tool_use_id=tool_use_id,
        state=state,
        prompt=question.prompt.strip(),
        options=[ShownOption(label=label, value=value) for label, value in question.options],
        ratings=rows_to_rate(question.domains, shown),
        fields=fields,
        details=words,
        yes=question.yes,
        done=question.done,
        page=made_file(path) if (path := text_in(shown, PAGE)) else None,
        is_page_new=not shown.get(REPLACES),
        mark=arc.name if (arc := arc_words(text_in(shown, ARC))) else "",
        text=question.text,
        goes=going_shown(shown) if state == ToolCallState.PENDING else [],
    )


def _with_ratings(asked: QuestionItem, record: ToolCallRecord) -> QuestionItem:
    result = values_in(record.result).get("ratings")
    rows = rated_rows(asked.ratings, result if isinstance(result, Mapping) else {})
    value = record.value if isinstance(record.value, Mapping) else {}
    return replace(asked, ratings=rows, note=str(value.get("note") or ""))


def _mark_of(record: ToolCallRecord) -> MarkItem | None:
    if record.is_error:
        return None
    presentation, result = presentation_of(record.name), values_in(record.result)
    return begin_mark(presentation.arc_begun(result)) or end_mark(presentation.arc_ended(result))
