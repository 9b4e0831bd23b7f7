"""A conversation's page: read first, then rendered without a connection."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy

from coaching.clock.days import local_day
from coaching.events import AttachedDocument, SafetyShown
from coaching.library.rows.attached import own_documents
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.help_lines import count_card
from coaching.safety.card import Card
from coaching.safety.danger import Danger
from coaching.sandbox.markdown import render_replies
from coaching.transcript import conversation, turn_items
from coaching.transcript.arcs import EndingItem, HeadItem, head_of, read_ending
from coaching.transcript.cards import NO_CARDS, Cards, read_card_of_refused, read_cards
from coaching.transcript.items import SaidItem
from coaching.transcript.origins import OriginItem, read_origin
from coaching.transcript.rows import HistoryRows, read_history
from coaching.views.parts import or_404
from sessions_app import selectors
from sessions_app.database import give_back_connections
from sessions_app.models import Session, SessionStatus, Turn, TurnStatus

PLACEHOLDER = gettext_lazy("Write to Sage")
PLACEHOLDER_ASKED = gettext_lazy("Answer above, or type a message")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PageRows:
    """The data of a conversation's page; `turn` is the open one, `cards` are its own."""

    session: Session
    zone: ZoneInfo
    turn: Turn | None
    cards: Cards
    refused: SafetyShown | None
    history: HistoryRows
    head: HeadItem
    ending: EndingItem | None
    origin: OriginItem | None
    documents: Sequence[AttachedDocument]


def _read_page(
    request: HttpRequest, session_id: uuid.UUID, *, refused: Danger | None, documents: Sequence[int]
) -> _PageRows:
    """Read a conversation's page, then return the connection. Raises `Http404`."""
    with or_404():
        found = selectors.accessible_session(user_id=user_id_of(request), session_id=session_id)
    # The open turn first: if it closes in between, it is in the history.
    turn = selectors.read_open_turn(found)
    history = read_history(found)
    if turn and any(message.turn_id == turn.id and not message.turn.is_open for message in history.messages):
        turn = None
    rows = _PageRows(
        session=found,
        zone=load_profile(request).zone,
        turn=turn,
        cards=read_cards(found.id, turn.calls.all()) if turn else NO_CARDS,
        refused=read_card_of_refused(found.id, refused),
        history=history,
        head=head_of(found),
        ending=read_ending(found, now=timezone.now()),
        origin=read_origin(found),
        documents=own_documents(user_id=found.user_id, ids=documents) if documents else (),
    )
    give_back_connections()  # rendering is slow
    return rows


def show_conversation(
    request: HttpRequest,
    session_id: uuid.UUID,
    *,
    refusal: str = "",
    status: HTTPStatus | None = None,
    draft: str = "",
    is_editing: bool = False,
    given: object = None,
    refused: Danger | None = None,
    documents: Sequence[int] = (),
) -> HttpResponse:
    """Show a conversation, with the input and perhaps the safety card of a refused message.

    `documents` are the ids of those that go with the next message.
    """
    rows = _read_page(request, session_id, refused=refused, documents=documents)
    context = _context_of(rows, draft=draft, is_editing=is_editing, given=given)
    context |= {"refusal": refusal, "card": counted(rows.refused.card if rows.refused else None)}
    status = status or (HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK)
    return render(request, "coaching/pages/chat.html", context, status=status)


def counted(card: Card | None) -> Card | None:
    """Count a card that is about to be shown, and return it."""
    if card is not None:
        count_card(card.danger.level, now=timezone.now())
    return card


def _context_of(rows: _PageRows, *, draft: str, is_editing: bool, given: object) -> dict[str, Any]:
    session, turn, history = rows.session, rows.turn, rows.history
    texts = [
        *conversation.texts_of_history(history),
        *(turn_items.texts_of_open_turn(turn) if turn else ()),
    ]
    rendered = render_replies(texts)
    items = conversation.items_of(history, zone=rows.zone, rendered=rendered)
    open_item = turn_items.open_turn_item(turn, rows.cards, given=given, rendered=rendered) if turn else None
    is_active = session.status == SessionStatus.ACTIVE
    said = [item for item in items if isinstance(item, SaidItem)]
    is_editing = is_editing and is_active and bool(said)
    return {
        "here": "sessions",
        "session": session,
        "title": session.title or session.get_kind_display(),
        "begun_on": local_day(session.started_at, rows.zone),
        "is_active": is_active,
        "head": rows.head,
        "ending": rows.ending,
        "origin": rows.origin,
        "earlier": history.first_number if history.has_earlier else None,
        "items": items,
        "open_item": open_item,
        "is_running": _has_status(turn, TurnStatus.RUNNING),
        "placeholder": PLACEHOLDER_ASKED if _has_status(turn, TurnStatus.AWAITING_USER) else PLACEHOLDER,
        "draft": draft or (said[-1].text if is_editing else ""),
        "is_editing": is_editing,
        "documents": rows.documents,
        # Focus the composer only in a new conversation; people who return read first.
        "is_new": len(said) <= 1
        and not history.has_earlier
        and not _has_status(turn, TurnStatus.AWAITING_USER),
        "client_id": str(uuid.uuid4()),
    }


def _has_status(turn: Turn | None, status: TurnStatus) -> bool:
    return turn is not None and turn.status == status
