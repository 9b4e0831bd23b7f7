"""`forget_lines`: takes lines out of Sage's briefs and out of its two pages about the person.

It always waits for the person's yes: the card shows every line that goes. What was said stays in its
conversation, but no opening quotes it any more; earlier versions of a page stay. Only the person deletes
those, and the result says so.
"""

import unicodedata
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from django.db.models import F, Q
from django.utils.translation import gettext_noop as _
from pydantic import AfterValidator, Field

from coaching.clock.days import local_day
from coaching.context.brief_lines import (
    CORRECTED,
    corrected_lines,
    corrected_text,
    lines_of,
    without_citations,
)
from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files.attributes import Line
from coaching.files.edits import build_edit, editable_of
from coaching.files.objects import store_object
from coaching.files.selectors import FileText, read_file
from coaching.files.store import store_version
from coaching.files.types import RULES
from coaching.job_queue.sessions import enqueue_open_summary
from coaching.models import ActionItem, ActionState, FileSource, FileType, UserFile
from coaching.tools.context import ToolContext
from coaching.tools.forget_quotes import quoted_words, strike_quoted
from coaching.tools.going_lines import GoingLines, details_of, lines_going
from coaching.tools.presentation import Presentation, SageTool, held
from sessions_app.brief_corrections import correct_brief, room_for_corrections
from sessions_app.briefs import newest_briefs_with
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import Session, ToolCallRecord
from sessions_app.turn_records import CARD_DETAILS

DESCRIPTION = (
    "Strike the lines that have one of these words from what you remember, sage-context and sage-patterns. "
    "Use it when they want something forgotten. They see the lines and decide."
)
MOST_LINES = 30
LISTED = 10
NOTHING = (
    "Nothing that you remember has one of these words. What was said stays in its conversation until they "
    "delete it."
)
TOO_MANY = "More than {most} lines have one of these words, and at most {most} go at once. Give rarer words."
NO_ROOM = (
    "There is no room for so many removed lines: they can undo older ones under “What Sage remembers” of a "
    "conversation."
)
WHAT_STAYS = (
    "Tell them: earlier versions of a page stay until they delete the page, and 30 days more; what was said "
    "stays until they delete the conversation."
)
PAGES = (FileType.SAGE_CONTEXT, FileType.SAGE_PATTERNS)


def _has_letters(word: str) -> str:
    if not any(map(str.isalnum, word)):
        raise ValueError("letters or digits are needed")
    return word


Words = Annotated[Line, Field(min_length=3), AfterValidator(_has_letters)]


class ForgetLinesInput(ToolInput):
    words: Annotated[list[Words], Field(max_length=5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """What goes: lines of one brief, of `session`, or of a page, `found`."""

    lines: Sequence[str]
    session: Session | None = None
    found: FileText | None = None

    def going(self, zone: ZoneInfo) -> GoingLines:
        """Return what a card says of it."""
        lines = _shown(*self.lines)
        if self.session is None:
            return GoingLines(lines=lines, page=self.found.file.path if self.found else "")
        return GoingLines(
            lines=lines,
            session=str(self.session.id),
            kind=self.session.kind,
            title=self.session.title,
            day=local_day(self.session.started_at, zone).isoformat(),
        )


def _shown(*lines: str) -> Sequence[str]:
    return [without_citations(line) for line in lines_of("\n".join(lines))]


def _has(words: Sequence[str], line: str) -> bool:
    text = _plain(line)
    return any(word in text for word in words)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _forms(words: Sequence[str]) -> Sequence[str]:
    """Return words as the database may find them, which doesn't fold “ß” as Python does."""
    return list({form for word in words for form in (_plain(word), unicodedata.normalize("NFKC", word))})


def _find(
    user_id: int, words: Sequence[str], sessions: Collection[uuid.UUID] | None = None
) -> Iterator[Struck]:
    """Yield what would go, of the briefs of some sessions or of all. Sync ORM code."""
    plain = [_plain(word) for word in words]
    if not plain:
        return
    yield from _in_pages(user_id, plain)
    for brief, said in newest_briefs_with(user_id=user_id, words=_forms(words), sessions=sessions):
        kept = corrected_lines(brief.text, said)
        lines = [line for line in kept if not line.startswith(CORRECTED) and _has(plain, line)]
        if lines:
            yield Struck(lines=lines, session=brief.session)


def _in_pages(user_id: int, words: Sequence[str]) -> Iterator[Struck]:
    for page in PAGES:
        try:
            file = read_file(user_id=user_id, path=RULES[page].place)
        except UserFile.DoesNotExist:
            continue
        lines = [line for line in editable_of(file).body.splitlines() if _has(words, line)]
        if lines:
            yield Struck(lines=lines, found=file)


def _find_to_show(user_id: int, words: Sequence[str], asked_in: uuid.UUID | None) -> Sequence[Struck]:
    """Return what would go. Sync ORM code. Raises `ToolError` for nothing, or too much.

    Where neither a brief nor a page has the words, it is what openings quote of conversations.
    """
    found: list[Struck] = []
    count = 0
    for each in _find(user_id, words):
        found.append(each)
        count += len(each.lines)
        if count > MOST_LINES:
            raise ToolError(TOO_MANY.format(most=MOST_LINES))
    if not count:
        quoted = quoted_words(user_id, [_plain(word) for word in words], asked_in=asked_in)
        if not quoted:
            raise ToolError(NOTHING)
        found = [Struck(lines=each.sentences, session=each.session) for each in quoted]
    if sum(len(each.lines) for each in found if each.session) > room_for_corrections(user_id):
        raise ToolError(NO_ROOM)
    return found


def _going_in(context: ToolContext) -> Sequence[GoingLines]:
    """Return the lines that the card showed, if there was one. Sync ORM code."""
    if context.session_id is None:
        return ()
    calls = ToolCallRecord.of(context.user_id).filter(
        turn__session_id=context.session_id, tool_use_id=context.tool_use_id
    )
    return lines_going((calls.values_list("metadata", flat=True).first() or {}).get(CARD_DETAILS, {}))


def _find_shown(context: ToolContext, words: Sequence[str]) -> Sequence[Struck]:
    """Return what goes, without lines that were written while the card waited. Sync ORM code."""
    going = _going_in(context)
    if not going:
        return list(_find(context.user_id, words))
    sessions = [uuid.UUID(each.session) for each in going if each.session]
    seen = {(each.session or each.page): set(each.lines) for each in going}
    anywhere = seen.get("", set())
    kept: list[Struck] = []
    for each in _find(context.user_id, words, None if anywhere else sessions):
        place = each.going(context.timezone)
        shown = seen.get(place.session or place.page, anywhere)
        lines = [line for line in each.lines if shown.issuperset(_shown(line))]
        if lines:
            kept.append(replace(each, lines=lines))
    return kept


async def _check(context: ToolContext, given: ForgetLinesInput) -> Mapping[str, Any]:
    found = await in_database(_find_to_show, context.user_id, given.words, context.session_id)
    return details_of([each.going(context.timezone) for each in found])


async def _run(context: ToolContext, given: ForgetLinesInput) -> ToolResult:
    """Strike line by line: done again after an interruption, it finds those that are left."""
    try:
        found = await in_database(_find_shown, context, given.words)
        for each in found:
            if each.found:
                await _strike_in_page(context, each.found, each.lines)
            elif each.session:
                await in_database(_strike_in_brief, each.session, each.lines)
        conversations = await in_database(
            strike_quoted, context.user_id, [_plain(word) for word in given.words]
        )
    except Refused as refusal:
        raise ToolError(str(refusal)) from refusal
    return await context.commit(lambda: _result(context, given, found, conversations))


async def _strike_in_page(context: ToolContext, found: FileText, lines: Sequence[str]) -> None:
    held_now = editable_of(found)
    body = "\n".join(line for line in held_now.body.splitlines() if line not in lines)
    draft = build_edit(
        found, body=body, attributes=held_now.attributes, now=context.now, timezone=context.timezone
    )
    stored = await store_object(user_id=context.user_id, data=draft.data)
    await in_database(
        store_version,
        user_id=context.user_id,
        draft=replace(draft, expected_version=found.version.number),
        stored=stored,
        source=FileSource(context.source),
        session_id=context.session_id,
        tool_use_id=context.tool_use_id,
    )


def _strike_in_brief(session: Session, lines: Sequence[str]) -> None:
    try:
        for line in lines:
            correct_brief(
                user_id=session.user_id,
                session_id=session.id,
                words="",
                finish=corrected_text,
                line=line,
                is_strike=True,
            )
    except Session.DoesNotExist:
        return  # deleted while the card waited
    enqueue_open_summary(session.id)


def _result(
    context: ToolContext, given: ForgetLinesInput, found: Sequence[Struck], conversations: tuple[int, int]
) -> ToolResult:
    """Return what went, and where the words still are."""
    wanted = [_plain(word) for word in given.words]
    has_words = Q()
    for word in _forms(given.words):
        has_words |= Q(versions__content__icontains=word)
    files = UserFile.of(context.user_id).filter(deleted_at=None).exclude(file_type=FileType.SAFETY_PLAN)
    still = files.filter(has_words, versions__number=F("version_number")).distinct()
    steps = ActionItem.of(context.user_id).filter(state__in=(ActionState.OPEN, ActionState.PROPOSED))
    named = [
        step for step in steps.only("id", "title", "quote") if _has(wanted, f"{step.title} {step.quote}")
    ]
    return ToolResult.of(
        success=True,
        lines_struck=sum(len(each.lines) for each in found),
        conversations_no_longer_quoted=conversations[0],
        **({"conversations_still_quoted": conversations[1]} if conversations[1] else {}),
        pages_changed=[each.found.file.path for each in found if each.found],
        pages_that_still_say_it=list(still.order_by("path").values_list("path", flat=True)[:LISTED]),
        steps_that_still_say_it=[{"id": step.pk, "title": step.title} for step in named[:LISTED]],
        what_stays=WHAT_STAYS,
    )


FORGET_LINES: SageTool[ForgetLinesInput] = SageTool(
    name="forget_lines",
    description=DESCRIPTION,
    input_model=ForgetLinesInput,
    kind="instant",
    run=_run,
    check=_check,
    holds=lambda *_: True,
    presentation=Presentation(
        once=_("asked to forget something"),
        often=_("asked {count} times to forget something"),
        activity=_("Looking for what to forget"),
        question=held(
            _("Shall I forget this?"),
            yes=_("Forget it"),
            done=_("Forgotten. What was said stays in its conversation until you delete that."),
        ),
    ),
)
