"""Builds the items of a conversation from the rows that `rows` has read: days, messages, cards, turns.

The page builds the whole list, a fragment one item of it, so a reload and the stream can't differ; those of
turns are built by `turn_items`. Nothing is read or changed here. Rendering markdown may take seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day
from coaching.events import AttachedDocument, MessagePlace, MessageStored
from coaching.library.rows.attached import attached_to
from coaching.sandbox.markdown import render_replies
from coaching.transcript.items import CardItem, DayItem, SaidItem, ShownItem
from coaching.transcript.rows import CallRows, HistoryRows, TurnRows
from coaching.transcript.turn_items import Rendered, texts_of_answer, turn_item
from sessions_app.history import PROGRAM_KEY
from sessions_app.models import Message, MessageRole
from sessions_app.opening_message import OPENING_ID


@dataclass(slots=True)
class _Days:
    zone: ZoneInfo
    last: date | None = field(default=None)

    def line_before(self, said_at: datetime) -> list[DayItem]:
        day = local_day(said_at, self.zone)
        if day == self.last:
            return []
        self.last = day
        return [DayItem(date=day)]


def texts_of_history(rows: HistoryRows) -> list[str]:
    """Return the texts to render for a piece of history."""
    answers = (message for message in rows.messages if message.role == MessageRole.ASSISTANT)
    return [text for answer in answers for text in texts_of_answer(answer)]


def items_of(rows: HistoryRows, *, zone: ZoneInfo, rendered: Rendered | None = None) -> list[ShownItem]:
    """Build the items of a piece of history, without the turn that is still open.

    `rendered` is given if the page renders further texts in the same call.
    """
    rendered = render_replies(texts_of_history(rows)) if rendered is None else rendered
    days = _Days(zone)
    items: list[ShownItem] = []
    said_after = {row.number: row.content for row in rows.messages if row.role == MessageRole.USER}
    for turn_id, group in groupby(rows.messages, key=lambda message: message.turn_id):
        messages = list(group)
        for message in messages:
            if message.role != MessageRole.USER:
                continue
            if message.client_id == OPENING_ID:
                days.line_before(message.created_at)  # the page's head says when the conversation began
            elif not message.metadata.get("is_hidden"):
                items += [*days.line_before(message.created_at), said_item(message, rows.documents)]
            if shown := rows.cards.of_message(message):
                items.append(CardItem(card=shown.card))
        turn = messages[0].turn
        answer = next((message for message in messages if message.role == MessageRole.ASSISTANT), None)
        if turn.is_open:
            continue
        ended = TurnRows(
            turn=turn,
            answer=answer,
            shown=CallRows(calls=rows.calls.get(turn_id, ()), cards=rows.cards),
            spent=rows.spent.get(turn_id),
            verdict=rows.cards.verdict_among(messages),
            zone=zone,
            old_files=rows.old_files,
            said_next=said_after.get(messages[-1].number + 1, ""),
            answered_by=rows.answered_by.get(turn.message_number or 0, ()),
            has_message=any(message.role == MessageRole.USER for message in messages),
            documents=rows.documents,
            rating=rows.ratings.get(turn_id, ""),
        )
        if item := turn_item(ended, rendered=rendered):
            items.append(item)
    return items


def said_item(message: Message, documents: Mapping[int, AttachedDocument]) -> SaidItem:
    """Build the item of a user's message; `documents` are those that are still there."""
    return SaidItem(
        session_id=str(message.session_id),
        number=message.number,
        client_id=message.client_id or "",
        text=message.content,
        documents=attached_to(message, documents),
        program=message.metadata.get(PROGRAM_KEY, ""),
    )


def said_items(event: MessageStored, place: MessagePlace) -> list[ShownItem]:
    """Build the items of a new message: a line for a new day if needed, then the message."""
    days = _Days(ZoneInfo(place.timezone))
    if place.before_at:
        days.line_before(place.before_at)
    said = SaidItem(
        session_id=place.session_id,
        number=event.number,
        client_id=event.id,
        text=event.text,
        documents=event.documents,
        program=event.program,
    )
    return [*days.line_before(place.said_at), said]
