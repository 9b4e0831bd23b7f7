"""Takes back what Sage has written after the user's yes."""

import uuid

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from coaching.people.accounts import user_id_of
from coaching.transcript.names import dom_id_of
from coaching.turns.undo import undo_write
from coaching.views.conversation_page import show_conversation
from coaching.views.parts import back_to, or_404
from sessions_app.errors import Refused


@login_required
@require_POST
def undo(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Undo one write, and show its card again."""
    tool_use_id = request.POST.get("tool_use_id", "")
    try:
        with or_404():
            undo_write(user_id=user_id_of(request), session_id=session_id, tool_use_id=tool_use_id)
    except Refused as refusal:
        return show_conversation(request, session_id, refusal=refusal.shown())
    return back_to("session", f"#{dom_id_of(tool_use_id)}", of=session_id)
