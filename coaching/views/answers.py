"""Several answers to one message: a look at one of them, and the choice while the message is the last."""

import uuid

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from coaching.live.runner import get_runner
from coaching.people.accounts import user_id_of
from coaching.transcript import turn_items
from coaching.transcript.rows import read_turn
from coaching.views.earlier import as_past
from coaching.views.parts import back_to, wants_part
from sessions_app.alternatives import answered_turn, can_be_chosen
from sessions_app.database import give_back_connections, in_database, in_database_page
from sessions_app.errors import Refused
from sessions_app.models import Session, Turn


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
async def answer(request: HttpRequest, session_id: uuid.UUID, turn_id: uuid.UUID) -> HttpResponse:
    """Show an answer, as a page or for the place of another, without choosing it; a post chooses it."""
    if request.method != "POST":
        return await in_database_page(_show, request, session_id, turn_id)
    try:
        await get_runner().choose_answer(
            user_id=user_id_of(request), session_id=session_id, turn_id=str(turn_id)
        )
    except Session.DoesNotExist:
        raise Http404 from None
    except Refused as refusal:
        if await in_database(_find, request, session_id, turn_id) is None:
            raise Http404 from None
        info(request, refusal.shown())
    return back_to("session", of=session_id)


def _find(request: HttpRequest, session_id: uuid.UUID, turn_id: uuid.UUID) -> Turn | None:
    return answered_turn(user_id=user_id_of(request), session_id=session_id, turn_id=turn_id)


def _show(request: HttpRequest, session_id: uuid.UUID, turn_id: uuid.UUID) -> HttpResponse:
    turn = _find(request, session_id, turn_id)
    rows = read_turn(turn_id) if turn else None
    if turn is None or rows is None:
        raise Http404
    session = turn.session
    message = session.messages.get(number=turn.message_number or 0)
    choosable = can_be_chosen(turn)
    give_back_connections()  # rendering is slow
    item = turn_items.turn_item(rows)
    context = {
        "here": "sessions",
        "session": session,
        "title": session.title or session.get_kind_display(),
        "said": "" if message.metadata.get("is_hidden") else message.content,
        "item": item and as_past(item),
        "turn_id": turn.id,
        "is_chosen": not turn.is_withdrawn,
        "can_be_chosen": choosable,
    }
    name = "components/turn.html" if wants_part(request) else "pages/answer.html"
    return render(request, f"coaching/{name}", context)
