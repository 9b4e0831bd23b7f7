"""A new conversation: the form that begins one, with a message or with Sage's own words."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import structlog
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from coaching.clock.days import local_day
from coaching.library.scopes import check_scope, set_scope
from coaching.live.runner import get_runner, rate_limit
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.danger_scans import scans
from coaching.people.help_lines import country_of
from coaching.safety.card import Card
from coaching.safety.danger import Danger
from coaching.transcript.cards import read_card_without_session
from coaching.transcript.names import arc_title
from coaching.turns.request import TurnRequest
from coaching.views.conversation import UNREADABLE, show_refusal
from coaching.views.conversation_page import counted
from coaching.views.forms import NewSessionForm
from coaching.views.parts import status_of, with_wait
from sessions_app.database import in_database, in_database_page
from sessions_app.errors import Refused, TooManySessions
from sessions_app.models import Session, SessionKind
from sessions_app.organising import remove_if_empty
from sessions_app.session_services import begin_session

logger = structlog.get_logger(__name__)

ABOUT = {"client_id": "client", "project_id": "project"}
"""The ids that a session can be opened with, and their form fields."""
ATTEMPTS = 4
"""How often a form opens a session that is removed before its message is in it."""


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
async def new_session(request: HttpRequest) -> HttpResponse:
    """Start a conversation, with a first message if there is one, and redirect to it.

    A refused form is shown at this address, to which browsers return after a sign-in: GET leads home.
    """
    if request.method != "POST":
        return redirect("home")
    form = NewSessionForm(request.POST)
    if not form.is_valid():
        return await _refused_home(request)
    return await begin(
        request,
        kind=form.cleaned_data["kind"] or SessionKind.OPEN_CONVERSATION,
        text=form.cleaned_data["text"],
        client_id=form.cleaned_data["id"],
        about={name: form.cleaned_data[field] for name, field in ABOUT.items() if form.cleaned_data[field]},
    )


async def begin(
    request: HttpRequest, *, kind: str, text: str, client_id: str, about: Mapping[str, int] | None = None
) -> HttpResponse:
    """Open a session with a message, or with Sage's own words, and redirect.

    A refused message leaves no session: a page shows it in a field, to send it again. `about` are the ids of
    a client or project that the session is opened from.
    """
    about = about or {}
    for _attempt in range(ATTEMPTS):
        try:
            opened = await in_database(
                _begin_session, request, kind=kind, client_id=client_id, text=text, about=about
            )
        except ObjectDoesNotExist:
            raise Http404 from None
        except IntegrityError as error:  # it is gone already
            logger.warning("session_not_begun", error=type(error.__cause__).__name__)
            continue
        except TooManySessions as refusal:
            return await _not_begun(request, refusal, kind=kind, draft=text, about=about)
        except Refused:
            return await _refused_home(request)
        try:
            return await _open_turn(request, opened, text=text, client_id=client_id, about=about)
        except Session.DoesNotExist:
            continue  # the same form, sent at the same time, was refused and has removed it
    return await _not_begun(request, Refused(UNREADABLE), kind=kind, draft=text, about=about)


async def _open_turn(
    request: HttpRequest, session: Session, *, text: str, client_id: str, about: Mapping[str, int]
) -> HttpResponse:
    """Open a session's first turn and redirect, or show why not. Raises `Session.DoesNotExist`."""
    turn = TurnRequest(kind="opening", user_id=session.user_id, session_id=session.id)
    if text.strip():
        turn = replace(turn, kind="message", text=text, client_id=client_id)
    try:
        await get_runner().open_turn(turn)
    except Refused as refusal:
        if turn.has_text:
            if await in_database(remove_if_empty, user_id=session.user_id, session_id=session.id):
                return await _not_begun(request, refusal, kind=session.kind, draft=text, about=about)
            return await show_refusal(request, session.id, refusal, draft=text, refused=text)
    return redirect("session", session.id)


def _begin_session(
    request: HttpRequest, *, kind: str, client_id: str, text: str, about: Mapping[str, int]
) -> Session:
    """Open a session, about a client or project if they are the user's.

    A form without an id that only asks Sage to begin gets the one of its day: several that are sent at once
    open one conversation, unless two were begun so that day already.
    """
    user_id = user_id_of(request)
    today = local_day(timezone.now(), load_profile(request).zone)
    scope = {name: about.get(name) for name in ABOUT}
    if about:
        check_scope(user_id=user_id, **scope)
    elif not (client_id or text.strip() or kind == SessionKind.OPEN_CONVERSATION):
        client_id = str(today)
    session = begin_session(
        user_id=user_id,
        kind=kind,
        client_id=client_id,
        rate_limit=rate_limit(),
        text=text,
        title=arc_title(kind, today),
    )
    if about:
        set_scope(session, **scope)
    return session


async def _not_begun(
    request: HttpRequest, refusal: Refused, *, kind: str, draft: str, about: Mapping[str, int]
) -> HttpResponse:
    """Show why no session was begun, with the message in a field that begins one."""
    danger = await scans.danger_in(draft, user_id=user_id_of(request))
    context = {
        "title": "" if isinstance(refusal, TooManySessions) else _("Your message wasn’t sent"),
        "message": refusal.shown(),
        "kind": kind,
        "draft": draft,
        "hidden_fields": [(ABOUT[name], value) for name, value in about.items()],
        "client_id": str(uuid.uuid4()),
    }
    page = await in_database_page(_show_not_begun, request, context, danger, status=status_of(refusal))
    return with_wait(page, refusal)


def _show_not_begun(
    request: HttpRequest, context: dict[str, Any], danger: Danger | None, *, status: HTTPStatus
) -> HttpResponse:
    context["card"] = counted(_card_without_session(request, danger))
    return render(request, "429.html", context, status=status)


def _card_without_session(request: HttpRequest, danger: Danger | None) -> Card | None:
    country = country_of(load_profile(request))
    return read_card_without_session(danger, user_id=user_id_of(request), country=country)


async def _refused_home(request: HttpRequest) -> HttpResponse:
    return await in_database_page(render, request, "400.html", status=HTTPStatus.BAD_REQUEST)
