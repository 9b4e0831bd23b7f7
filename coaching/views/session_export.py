"""A whole conversation to keep: as a Markdown file, or as a page to print."""

import uuid
from collections.abc import Generator
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from coaching.clock.days import local_day
from coaching.downloads.zip_stream import send_pieces
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.attempts import AttemptLimit, TooOften
from coaching.personal_data.transcript import transcript_name, write_transcript
from coaching.sandbox.markdown import render_replies
from coaching.transcript import conversation, turn_items
from coaching.transcript.rows import HistoryRows, read_history
from coaching.views.earlier import as_past, number_in
from coaching.views.parts import back_to, or_404
from sessions_app.database import give_back_connections, in_database
from sessions_app.languages import in_the_language_of_now
from sessions_app.models import MessageRole, Session
from sessions_app.selectors import accessible_session

EXPORTS_IN_AN_HOUR = 60
PRINTED_MESSAGES = 80
"""On one page, so that rendering them takes seconds."""
RENDERED_ANSWERS = 10
"""At once: what a call can't render in its two seconds stays Markdown."""

exports = AttemptLimit(attempts=EXPORTS_IN_AN_HOUR, seconds=3600)


@login_required
@require_safe
async def export_session(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """Send a conversation as Markdown."""
    user_id = user_id_of(request)
    with or_404():
        session = await in_database(accessible_session, user_id=user_id, session_id=session_id)
    try:
        exports.count(user_id)
    except TooOften as refusal:
        info(request, refusal.shown())
        return back_to("session", of=session_id)
    profile = await in_database(load_profile, request)
    pieces = in_the_language_of_now(_encoded(session, profile.zone))
    name = transcript_name(session, zone=profile.zone)
    disposition = content_disposition_header(as_attachment=True, filename=name)
    return StreamingHttpResponse(
        send_pieces(pieces),
        content_type="text/markdown; charset=utf-8",
        headers={
            "Content-Disposition": disposition or "attachment",
            "X-Content-Type-Options": "nosniff",
        },
    )


def _encoded(session: Session, zone: ZoneInfo) -> Generator[bytes, None, None]:
    for piece in write_transcript(session, zone=zone, has_files=False):
        if piece:
            yield piece.encode()


@login_required
@require_safe
def print_session(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Show a conversation without what can be done in it; a very long one in parts, the last part first."""
    user_id = user_id_of(request)
    with or_404():
        found = accessible_session(user_id=user_id, session_id=session_id)
    try:
        exports.count(user_id)
    except TooOften as refusal:
        info(request, refusal.shown())
        return back_to("session", of=session_id)
    rows = read_history(found, before=number_in(request), limit=PRINTED_MESSAGES)
    zone = load_profile(request).zone
    give_back_connections()  # rendering is slow
    rendered = _rendered(rows)
    context = {
        "here": "sessions",
        "session": found,
        "title": found.title or found.get_kind_display(),
        "begun_on": local_day(found.started_at, zone),
        "items": [as_past(item) for item in conversation.items_of(rows, zone=zone, rendered=rendered)],
        "earlier": rows.first_number if rows.has_earlier else None,
    }
    return render(request, "coaching/pages/print_session.html", context)


def _rendered(rows: HistoryRows) -> turn_items.Rendered:
    answers = [message for message in rows.messages if message.role == MessageRole.ASSISTANT]
    rendered: dict[str, SafeString] = {}
    for first in range(0, len(answers), RENDERED_ANSWERS):
        portion = answers[first : first + RENDERED_ANSWERS]
        rendered |= render_replies(text for answer in portion for text in turn_items.texts_of_answer(answer))
    return rendered
