"""Earlier messages of a conversation, page by page and read-only: no socket, no composer."""

import re
import uuid
from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from coaching.clock.days import local_day
from coaching.people.accounts import load_profile, user_id_of
from coaching.transcript import conversation
from coaching.transcript.items import SaidItem, ShownItem, TurnItem
from coaching.transcript.rows import PAGE_MESSAGES, read_history
from coaching.views.parts import or_404
from sessions_app import selectors
from sessions_app.database import give_back_connections

NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)


def number_in(request: HttpRequest) -> int | None:
    """Return the message number in `?before`; None if it is missing or invalid."""
    text = request.GET.get("before", "")
    return int(text) if NUMBER.fullmatch(text) else None


def earlier(request: HttpRequest, session_id: uuid.UUID, *, before: int) -> HttpResponse:
    """Show the messages before one; if there are none, the conversation itself."""
    with or_404():
        found = selectors.accessible_session(user_id=user_id_of(request), session_id=session_id)
    rows = read_history(found, before=before)
    if not rows.messages:
        return redirect("session", found.id)
    later = selectors.number_after(found, rows.messages[-1].number, count=PAGE_MESSAGES)
    zone = load_profile(request).zone
    give_back_connections()  # rendering is slow
    context = {
        "here": "sessions",
        "session": found,
        "title": found.title or found.get_kind_display(),
        "begun_on": local_day(found.started_at, zone),
        "items": [as_past(item) for item in conversation.items_of(rows, zone=zone)],
        "earlier": rows.first_number if rows.has_earlier else None,
        "later": later,
    }
    return render(request, "coaching/pages/earlier.html", context)


def as_past(item: ShownItem) -> ShownItem:
    """Return an item without the actions of the last turn."""
    if isinstance(item, SaidItem):
        return replace(item, session_id="")
    if isinstance(item, TurnItem):
        return replace(item, can_retry=False, can_continue=False, can_ask_again=False)
    return item
