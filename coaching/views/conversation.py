"""A conversation, and the forms that work without JavaScript.

With JavaScript the page uses its WebSocket; without it, a form waits for the answer and shows the page again.
`conversation_page` builds that page. Longer than other modules, because all its forms share how a refusal
keeps what was typed.
"""

import re
import uuid
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_safe

from coaching.live.runner import get_runner
from coaching.people.accounts import user_id_of
from coaching.people.danger_scans import scans
from coaching.people.in_flight import waiting
from coaching.safety.card import kept_danger
from coaching.transcript.names import dom_id_of, names_of
from coaching.turns.request import TurnRequest
from coaching.turns.start import StartedTurn
from coaching.views.conversation_page import show_conversation
from coaching.views.earlier import earlier, number_in
from coaching.views.forms import MessageForm
from coaching.views.parts import status_of, with_wait
from sessions_app.database import in_database_page
from sessions_app.errors import FieldRefused, Refused
from sessions_app.models import Session

# As long as a part of a turn with a quick server, and slightly longer: no proxy waits for a slow one.
WAIT_SECONDS = 57.0
RATING_FIELD = "rating_"
INPUT_FIELD = "input_"
DOCUMENT_ID = re.compile(r"[0-9]{1,18}", re.ASCII)
RATING = re.compile(r"-?[0-9]{1,3}", re.ASCII)
UNREADABLE = gettext_noop("Sage couldn’t read that. Please send it again.")
KEPT = gettext_lazy("Files that Sage has already written stay as they are: %(names)s.")
STAYS = gettext_lazy("This also stays: %(effects)s")


@login_required
@require_safe
def session(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Show a conversation; `?before=` shows earlier messages.

    `?edit` puts its last message into the composer, `?change` the beginning of one that corrects an answer.
    """
    if (before := number_in(request)) is not None:
        return earlier(request, session_id, before=before)
    return show_conversation(
        request,
        session_id,
        draft=_("I meant:") + " " if "change" in request.GET else "",
        is_editing="edit" in request.GET,
        documents=_documents_in(request.GET),
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
async def message(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Send a message or act on the last turn; wait for the answer and show it.

    A refused form is shown at this address, to which browsers return after a sign-in: GET leads to the page.
    """
    if request.method != "POST":
        return redirect("session", session_id)
    form = MessageForm(request.POST)
    draft = request.POST.get("text", "")
    if not form.is_valid():
        refusal = Refused(UNREADABLE)
        return await show_refusal(request, session_id, refusal, draft=draft, refused=draft)
    try:
        anchor, session_id = await _act(request, session_id, form)
    except Session.DoesNotExist:
        raise Http404 from None
    except Refused as refusal:
        given = _answer_in(request.POST) if form.cleaned_data["tool_use_id"] else None
        if isinstance(refusal, FieldRefused) and isinstance(given, dict):
            given["faults"] = {refusal.field: refusal.shown()}
        return await show_refusal(
            request,
            session_id,
            refusal,
            draft=draft,
            is_editing=form.cleaned_data["do"] == "edit",
            given=given,
            refused=given or draft,
            documents=_documents_in(request.POST),
        )
    response = HttpResponseRedirect(reverse("session", args=[session_id]) + anchor)
    response.status_code = HTTPStatus.SEE_OTHER
    return response


async def _act(request: HttpRequest, session_id: uuid.UUID, form: MessageForm) -> tuple[str, uuid.UUID]:
    runner = get_runner()
    user_id = user_id_of(request)
    tool_use_id = form.cleaned_data["tool_use_id"]
    match form.cleaned_data["do"]:
        case "dismiss":
            turn_id = await runner.dismiss_call(
                user_id=user_id, session_id=session_id, tool_use_id=tool_use_id
            )
            return f"#turn-{turn_id}", session_id
        case "" if tool_use_id:
            value = _answer_in(request.POST)
            return await _answer(user_id, session_id, tool_use_id, value), session_id
        case "stop":
            await runner.stop(user_id=user_id, session_id=session_id)
            await _wait_for_answer(session_id)
            return "", session_id
        case "end":
            await runner.end_session(user_id=user_id, session_id=session_id)
            await _wait_for_answer(session_id)
            return "#ending", session_id
    documents = _documents_in(request.POST)
    started = await runner.open_turn(_turn_request(user_id, session_id, form, documents))
    if started.kept:
        info(request, KEPT % {"names": names_of(started.kept)})
    if started.effects:
        info(request, STAYS % {"effects": " ".join(started.effects)})
    return await _anchor_of(started, session_id), started.opened.session_id


async def _answer(user_id: int, session_id: uuid.UUID, tool_use_id: str, value: object) -> str:
    """Answer a pending call; return the anchor to go to."""
    ended = await get_runner().answer_call(
        user_id=user_id, session_id=session_id, tool_use_id=tool_use_id, value=value
    )
    if kept_danger(ended.call.metadata):
        return f"#{dom_id_of(tool_use_id)}"
    await _wait_for_answer(session_id)
    return f"#turn-{ended.turn.id}"


async def _anchor_of(started: StartedTurn, session_id: uuid.UUID) -> str:
    """Wait for the answer unless there is a safety card, whose page refreshes; return its anchor."""
    if started.danger:
        return f"#card-message-{started.opened.message.number}"
    # If the turn continued in another session, redirect: that page shows the answer as it streams.
    if started.opened.session_id == session_id:
        await _wait_for_answer(session_id)
    return f"#turn-{started.opened.turn.id}"


async def _wait_for_answer(session_id: uuid.UUID) -> None:
    """Wait for the running turn, unless many of the person's requests wait: the page follows it."""
    async with waiting() as may_wait:
        if may_wait:
            await get_runner().wait_until_idle(session_id, seconds=WAIT_SECONDS)


def _turn_request(
    user_id: int, session_id: uuid.UUID, form: MessageForm, documents: Sequence[int]
) -> TurnRequest:
    match form.cleaned_data["do"]:
        case "retry" | "again" | "continue" as kind:
            return TurnRequest(kind=kind, user_id=user_id, session_id=session_id)
        case do:
            return TurnRequest(
                kind="edit" if do == "edit" else "message",
                user_id=user_id,
                session_id=session_id,
                text=form.cleaned_data["text"],
                client_id=form.cleaned_data["id"],
                documents=documents or None,
            )


def _documents_in(fields: QueryDict) -> Sequence[int]:
    """Return the ids in a form; the service checks whose they are."""
    return [int(value) for value in fields.getlist("documents") if DOCUMENT_ID.fullmatch(value)]


def _answer_in(fields: QueryDict) -> object:
    """Return a form's answer: a yes or no, ratings, or a value. The tool that asked validates it."""
    if "accept" in fields:
        edited = {
            name.removeprefix(INPUT_FIELD): str(fields[name])
            for name in fields
            if name.startswith(INPUT_FIELD)
        }
        is_yes = fields["accept"] == "yes"
        return {"accept": is_yes, "input": edited} if is_yes else {"accept": False}
    if "note" not in fields and not any(name.startswith(RATING_FIELD) for name in fields):
        return fields.get("value", "")
    ratings: dict[str, int | str] = {}
    for name in fields:
        text = str(fields.get(name, ""))
        if name.startswith(RATING_FIELD) and text:
            ratings[name.removeprefix(RATING_FIELD)] = int(text) if RATING.fullmatch(text) else text
    return {"ratings": ratings, "note": fields.get("note", "")}


async def show_refusal(
    request: HttpRequest, session_id: uuid.UUID, refusal: Refused, *, refused: object, **shown_again: Any
) -> HttpResponse:
    """Show the conversation with a refusal, and the input again."""
    danger = await scans.danger_in(refused, user_id=user_id_of(request))
    page = await in_database_page(
        show_conversation,
        request,
        session_id,
        refusal=refusal.shown(),
        status=status_of(refusal),
        refused=danger,
        **shown_again,
    )
    return with_wait(page, refusal)
