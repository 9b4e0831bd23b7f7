"""Turn events as HTML fragments for the chat page: one template per event, the page's own components.

htmx swaps a fragment's elements in, out of band. Signals for the page's script are appended to `#signals`. No
event is interpreted here and nothing is stored. Markdown is rendered off the event loop, after the database
connection was given back.

Over 300 lines, because it has one function per event, and their table.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html import escape
from typing import Any, ParamSpec, TypeVar

from django.db import DatabaseError
from django.template.loader import render_to_string

from coaching import events
from coaching.sandbox.blocks import Block, BlockSplitter
from coaching.sandbox.markdown import render_blocks
from coaching.transcript import calls as shown_calls
from coaching.transcript import conversation, turn_items
from coaching.transcript import rows as shown_rows
from coaching.transcript.items import SaidItem
from coaching.transcript.names import arc_words, note_in_words, shown_name
from coaching.transcript.notices import shown_notice
from coaching.transcript.reading import reading_words
from coaching.transcript.step_chips import chip_of
from sessions_app.database import in_database
from sessions_app.languages import in_active_language

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="fragments")


async def render_fragment(event: events.TurnEvent) -> str:
    """Render an event; empty where there is nothing to show."""
    rendered = FRAGMENTS[type(event)](event)
    return rendered if isinstance(rendered, str) else await rendered


def _render_text(event: events.TextDelta) -> str:
    # Thousands per second: a template would cost more than the whole rest of the path.
    return f'<div hx-swap-oob="beforeend:#live-text">{escape(event.text)}</div>'


def _render_note(_: events.NoteDelta) -> str:
    return ""  # `StreamedReply` knows the note's beginning, which decides how it is worded.


def _render_boundary(_: events.RoundBoundary) -> str:
    return ""  # Each round is a section of its own.


def _render_turn_started(event: events.TurnStarted) -> str:
    return _render("turn_started", {"item": turn_items.live_turn_item(event.turn_id)})


def _render_reads(event: events.ModelReads) -> str:
    return _render("model_reads", {"label": reading_words(event.seconds)})


def _render_has_read(_: events.ModelHasRead) -> str:
    return _render("call_finished", {"tool_use_id": "reading"})


def _render_restarted(_: events.RoundRestarted) -> str:
    return _render("round_restarted")


def _render_call_started(event: events.ToolCallStarted) -> str:
    calls = turn_items.running_calls({event.tool_use_id: event.name})
    return _render("call_started", {"calls": calls})


def _render_call_finished(event: events.ToolCallFinished) -> str:
    return _render("call_finished", {"tool_use_id": event.tool_use_id})


def _render_error(event: events.ErrorShown) -> str:
    return _render(
        "error_shown",
        {"message": shown_notice(event.message), "field": event.field, "is_early": event.is_early},
    )


def _render_pending(event: events.CallPending) -> str:
    return _render("call_pending", {"call": shown_calls.pending_question(event)})


def _render_history(event: events.HistoryChanged) -> str:
    kept = [(path, shown_name(path)) for path in event.kept]
    return _render("history_changed", {"kept": kept, "effects": event.effects})


def _render_chosen(_: events.AnswerChosen) -> str:
    return ""  # The page fetches the history that has changed.


def _render_card(event: events.SafetyShown) -> str:
    if event.tool_use_id and not event.is_late:
        return ""  # The question, just shown with its answer, contains it.
    return _render(
        "safety_shown", {"card": event.card, "is_stored": event.number is not None, "shown": event}
    )


def _render_title(event: events.TitleChanged) -> str:
    return _render("title_changed", {"title": event.title})


def _render_document(event: events.DocumentMoved) -> str:
    return _render("document_moved", {"document": event.document})


def _render_step(event: events.StepShown) -> str:
    if not event.tool_use_id:
        return ""  # No chip here shows it.
    item = chip_of(event.tool_use_id, event.shown, became=event.became, is_undone=event.is_undone)
    return _render("step_shown", {"call": item, "is_changed": event.is_changed}) if item else ""


def _render_completed(_: events.SessionCompleted) -> str:
    return _render("session_completed")


def _render_closed(_: events.SessionClosed) -> str:
    return _render("session_closed")


def _render_continued(event: events.SessionContinued) -> str:
    return _render("session_continued", {"session_id": event.session_id})


def _render_arc_begin(event: events.ModeChanged) -> str:
    arc, mark = arc_words(event.arc), shown_calls.begin_mark(event.arc)
    return _render("arc_changed", {"arc": arc, "call": mark})


def _render_arc_end(event: events.ArcCompleted) -> str:
    return _render("arc_changed", {"arc": None, "call": shown_calls.end_mark(event.arc)})


async def _render_message(event: events.MessageStored) -> str:
    try:
        place = event.place
        if place is None:
            place = await in_database(shown_rows.read_place, event.turn_id, number=event.number)
        title, items = place.title, conversation.said_items(event, place)
    except DatabaseError:  # Only the title and the day's line are missing.
        said = SaidItem(
            session_id="",
            number=event.number,
            client_id=event.id,
            text=event.text,
            documents=event.documents,
        )
        title, items = "", [said]
    return _render("message_stored", {"title": title, "items": items, "client_id": event.id})


async def _render_done(event: events.TurnDone) -> str:
    try:
        rows = await in_database(shown_rows.read_done, event.turn_id)
    except DatabaseError:  # What was shown stays until the page asks again.
        rows = None
    view = await _off_loop(turn_items.done_view, rows) if rows else None
    return _render("turn_done", {"status": event.status, "turn_id": event.turn_id, "view": view})


async def _render_answered(event: events.CallAnswered) -> str:
    try:
        rows = await in_database(shown_rows.read_answered, event)
    except DatabaseError:  # The form stays until the turn ends or the page reloads.
        rows = None
    item = await _off_loop(turn_items.answered_item, rows) if rows else None
    return _render("call_answered", {"tool_use_id": event.tool_use_id, "state": event.state, "item": item})


async def _render_round(event: events.RoundClosed) -> str:
    if not (event.text.strip() or event.notes.strip()):
        return _render("round_closed", {"round": None})
    item = await _off_loop(turn_items.round_item, event.text, event.notes)
    return _render("round_closed", {"round": item})


async def _render_sync(event: events.Sync) -> str:
    item = None
    if event.turn_id:
        try:
            calls = await in_database(shown_rows.read_calls, uuid.UUID(event.turn_id))
        except DatabaseError:  # Only the state of its questions is missing.
            calls = None
        item = await _off_loop(turn_items.synced_turn_item, event, calls)
    return _render("sync", {"item": item, "sync": event, "calls": turn_items.running_calls(event.running)})


def _render(name: str, context: Mapping[str, Any] | None = None) -> str:
    return render_to_string(f"coaching/fragments/{name}.html", dict(context or {}))


async def _off_loop(function: Callable[P, ResultT], *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run what renders markdown in the fragments' own threads, in the reader's language."""
    call = in_active_language(partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_threads, call)


FRAGMENTS: Mapping[type[events.TurnEvent], Callable[[Any], str | Awaitable[str]]] = {
    events.TextDelta: _render_text,
    events.NoteDelta: _render_note,
    events.ToolCallStarted: _render_call_started,
    events.ToolCallFinished: _render_call_finished,
    events.RoundBoundary: _render_boundary,
    events.RoundRestarted: _render_restarted,
    events.CallPending: _render_pending,
    events.Sync: _render_sync,
    events.MessageStored: _render_message,
    events.HistoryChanged: _render_history,
    events.AnswerChosen: _render_chosen,
    events.TurnStarted: _render_turn_started,
    events.ModelReads: _render_reads,
    events.ModelHasRead: _render_has_read,
    events.RoundClosed: _render_round,
    events.CallAnswered: _render_answered,
    events.SafetyShown: _render_card,
    events.ModeChanged: _render_arc_begin,
    events.ArcCompleted: _render_arc_end,
    events.TitleChanged: _render_title,
    events.DocumentMoved: _render_document,
    events.StepShown: _render_step,
    events.SessionCompleted: _render_completed,
    events.SessionClosed: _render_closed,
    events.SessionContinued: _render_continued,
    events.ErrorShown: _render_error,
    events.TurnDone: _render_done,
}
"""One function for each event; a test holds the keys against the union."""


class StreamedReply:
    """The running round as one reader of the page sees it: finished blocks formatted, the last one as text.

    Blocks are cut as on a reload, so the end of a round changes nothing that is shown. Rendered blocks are
    cached: a second tab costs no second rendering.
    """

    def __init__(self) -> None:
        self._begin()

    async def frames_of(self, event: events.TurnEvent) -> list[str]:
        """Return an event's frames; none where there is nothing to show."""
        frame = await render_fragment(event)
        frames = [frame] if frame else []
        if isinstance(event, events.TextDelta):
            blocks = self._take(event.text)
            return [*frames, await self._render_blocks(blocks)] if blocks else frames
        if isinstance(event, events.NoteDelta):
            return [self._render_note(event.text)]
        if isinstance(event, events.Sync):
            live = next((shown for shown in event.rounds if not shown.is_finished), None)
            self._begin(live.text if live else "", live.notes if live else "")
        elif isinstance(event, events.RoundRestarted | events.RoundClosed | events.TurnStarted):
            self._begin()
        return frames

    def _begin(self, text: str = "", notes: str = "") -> None:
        """Start with the text and notes of a round that the reader has been shown."""
        self._splitter, self._line, self._notes = BlockSplitter(), "", notes
        self._splitter.feed(text)

    def _render_note(self, text: str) -> str:
        """Add text to the running round's notes and return its frame."""
        before = note_in_words(self._notes)
        self._notes += text
        words = note_in_words(self._notes)
        # The name of a file becomes words when its last letters are here.
        if words.startswith(before):
            return f'<div hx-swap-oob="beforeend:#live-notes">{escape(words[len(before) :])}</div>'
        return f'<div hx-swap-oob="innerHTML:#live-notes">{escape(words)}</div>'

    def _take(self, text: str) -> list[Block]:
        """Add text and return the blocks that it finished: at the end of a line or of a list."""
        self._line += text
        if "\n" not in text and not self._splitter.awaits_word:
            return []
        line, self._line = self._line, ""
        return self._splitter.feed(line)

    async def _render_blocks(self, blocks: list[Block]) -> str:
        """Return the frame that puts blocks before the text that is being written, and what is left of it.

        The page's script adds items to the list before them, and rows to the table (stream.js).
        """
        markup = await _off_loop(render_blocks, blocks)
        rest = escape(self._splitter.rest + self._line)
        return (
            f'<div hx-swap-oob="beforebegin:#live-text">{markup}</div>'
            f'<div hx-swap-oob="innerHTML:#live-text">{rest}</div>'
        )
