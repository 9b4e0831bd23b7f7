"""What Sage remembers of a conversation: read it, correct or remove lines, ask for it to be written anew."""

import uuid
from http import HTTPStatus
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from django.views.decorators.http import require_http_methods

from coaching.clock.days import local_day
from coaching.clock.moments import moment_in_words
from coaching.context.brief_lines import corrected_text
from coaching.context.continuity import RecentSession, recent_of
from coaching.context.life_queries import recent_rows
from coaching.job_queue.sessions import enqueue_brief_anew, enqueue_open_summary
from coaching.models import ClientType, SessionScope
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.attempts import AttemptLimit
from coaching.transcript.remembered import line_of, read_remembered
from coaching.views.forms import BriefForm
from coaching.views.parts import back_to, or_404, status_of, with_wait
from sessions_app.brief_corrections import CORRECTION_CHARACTERS, correct_brief, undo_correction
from sessions_app.errors import Refused
from sessions_app.limits import refuse_over_budget
from sessions_app.models import BriefCorrection, Session
from sessions_app.selectors import accessible_session

UNREADABLE = _("Sage couldn’t read that. Please send it again.")
CHANGED = _("This has changed since you opened the page. Please check it again.")
NOTHING_TO_WRITE = _("There’s nothing to summarise yet. Talk with Sage first.")
CORRECTED = _("Saved. Sage will use your correction from your next message on.")
REMOVED = _("Removed. It won’t come back.")
RESTORED = _("Undone. The line is back.")
UNDONE = _("Undone. The line may come back when Sage next rewrites the summary.")
ASKED_ANEW = _("Sage is rewriting the summary from the whole conversation. Reload this page in a moment.")

_anew = AttemptLimit(attempts=1, seconds=60)
_changes = AttemptLimit(attempts=30, seconds=60)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def brief(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Show what Sage remembers of a conversation; a POST changes it."""
    with or_404():
        session = accessible_session(user_id=user_id_of(request), session_id=session_id)
    if request.method != "POST":
        return _page(request, session)
    form = BriefForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused(UNREADABLE)
        info(request, gettext(_act(session, form)))
    except Refused as refusal:
        page = _page(request, session, refusal=refusal.shown(), draft=request.POST.get("words", ""))
        page.status_code = status_of(refusal)
        return with_wait(page, refusal)
    return back_to("brief", of=session.id)


def _act(session: Session, form: BriefForm) -> str:
    """Do what the form asks for; return the sentence for the user. Raises `Refused`."""
    values = form.cleaned_data
    if values["do"] == "anew":
        return _write_anew(session)
    # Each makes the next prompt new, so that none of it is cached.
    _changes.count(session.user_id)
    if values["do"] == "undo":
        return _undo(session, values["correction"] or 0)
    line = ""
    if values["line"] is not None:
        line = line_of(session, version=values["version"] or 0, index=values["line"]) or ""
        if not line:
            raise Refused(CHANGED)
    is_strike = values["do"] == "strike"
    if is_strike and not line:
        raise Refused(UNREADABLE)
    correct_brief(
        user_id=session.user_id,
        session_id=session.id,
        words=values["words"],
        finish=corrected_text,
        line=line,
        is_strike=is_strike,
    )
    enqueue_open_summary(session.id)
    return REMOVED if is_strike else CORRECTED


def _undo(session: Session, correction_id: int) -> str:
    try:
        is_restored = undo_correction(
            user_id=session.user_id,
            session_id=session.id,
            correction_id=correction_id,
            finish=corrected_text,
        )
    except BriefCorrection.DoesNotExist:
        raise Refused(CHANGED) from None
    enqueue_open_summary(session.id)
    return RESTORED if is_restored else UNDONE


@transaction.atomic
def _write_anew(session: Session) -> str:
    if not session.is_used:
        raise Refused(NOTHING_TO_WRITE)
    if daily_tokens := settings.SAGE_DAILY_TOKENS:
        refuse_over_budget(user_id=session.user_id, daily_tokens=daily_tokens)
    _anew.count(session.user_id)
    enqueue_brief_anew(session)
    return ASKED_ANEW


def _page(request: HttpRequest, session: Session, *, refusal: str = "", draft: str = "") -> HttpResponse:
    zone = load_profile(request).zone
    remembered = read_remembered(session)
    covers_to = ""
    if remembered.covers_to:
        today = local_day(timezone.now(), zone)
        covers_to = moment_in_words(remembered.covers_to, today=today, zone=zone)
    scopes = SessionScope.of(session.user_id).filter(session=session)
    is_of_client = scopes.exclude(client__client_type=ClientType.SELF).exists()
    context = {
        "here": "sessions",
        "session": session,
        "title": session.title or session.get_kind_display(),
        "remembered": remembered,
        "told": _told_elsewhere(session, zone) if session.is_used else None,
        "is_of_client": is_of_client,
        "covers_to": covers_to,
        "most_characters": CORRECTION_CHARACTERS,
        "refusal": refusal,
        "draft": draft,
    }
    return render(request, "coaching/pages/brief.html", context, status=HTTPStatus.OK)


def _told_elsewhere(session: Session, zone: ZoneInfo) -> RecentSession:
    """Return what other conversations are told of this one."""
    rows = recent_rows(Session.of(session.user_id).filter(id=session.id))
    return recent_of(list(rows), zone)[0]
