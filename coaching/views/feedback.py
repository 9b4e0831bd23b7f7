"""Feedback on an answer: two buttons below it, then a note and what operators may see of it."""

import uuid
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods

from coaching.models import AnswerFeedback
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.danger_scans import danger_in_now
from coaching.safety.card import Card
from coaching.turns.feedback import MAX_NOTE, delete_feedback, rate_answer, rated_turn, write_feedback
from coaching.views.capture_cards import capture_card
from coaching.views.conversation_page import counted
from coaching.views.parts import back_to, or_404, say, wants_part
from coaching.views.session_forms import FeedbackForm
from sessions_app.errors import Refused
from sessions_app.models import Turn

UNREADABLE = gettext_noop("Sage couldn’t read that. Please try again.")
SAVED = gettext_lazy("Your feedback is saved. Thank you.")
DELETED = gettext_lazy("Your feedback is deleted.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def feedback(request: HttpRequest, session_id: uuid.UUID, turn_id: uuid.UUID) -> HttpResponse:
    """Show the feedback on an answer, or store it: a rating at once, then the whole form."""
    with or_404():
        turn = rated_turn(user_id=user_id_of(request), session_id=session_id, turn_id=turn_id)
    if request.method != "POST":
        return _show(request, turn)
    form = FeedbackForm(request.POST)
    if not form.is_valid():
        return _refused(request, turn, Refused(UNREADABLE), form)
    fields = form.cleaned_data
    if fields["do"] == "delete":
        delete_feedback(turn)
        return _done(request, turn, str(DELETED))
    if fields["do"] != "save":
        rate_answer(turn, rating=fields["rating"])
        return _show(request, turn) if wants_part(request) else _to_form(turn)
    try:
        write_feedback(
            turn,
            rating=fields["rating"],
            note=fields["note"],
            is_shared=fields["share"],
            is_answer_shared=fields["share_answer"],
        )
    except Refused as refusal:
        return _refused(request, turn, refusal, form)
    if card := _card_of(request, fields["note"]):
        return _show(request, turn, card=card)
    return _done(request, turn, str(SAVED))


def _card_of(request: HttpRequest, note: str) -> Card | None:
    """Return the safety card for what a note says."""
    profile = load_profile(request)
    return counted(capture_card(profile, danger_in_now(note, user_id=profile.user_id)))


def _show(
    request: HttpRequest,
    turn: Turn,
    *,
    given: AnswerFeedback | None = None,
    refusal: str = "",
    card: Card | None = None,
) -> HttpResponse:
    """Show the form, with what was `given` in place of what is stored."""
    stored = AnswerFeedback.within(turn).first()
    context = {
        "here": "sessions",
        "turn": turn,
        "feedback": given or stored or AnswerFeedback(turn=turn),
        "is_stored": stored is not None,
        "most": MAX_NOTE,
        "refusal": refusal,
        "card": card,
        "is_part": wants_part(request),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    name = "components/feedback_form.html" if wants_part(request) else "pages/feedback.html"
    return render(request, f"coaching/{name}", context, status=status)


def _refused(request: HttpRequest, turn: Turn, refusal: Refused, form: FeedbackForm) -> HttpResponse:
    fields = form.cleaned_data
    given = AnswerFeedback(
        turn=turn,
        rating=fields.get("rating", ""),
        note=fields.get("note", ""),
        is_shared=fields.get("share", False),
        is_answer_shared=fields.get("share_answer", False),
    )
    card = _card_of(request, request.POST.get("note", ""))
    return _show(request, turn, given=given, refusal=refusal.shown(), card=card)


def _done(request: HttpRequest, turn: Turn, sentence: str) -> HttpResponse:
    if wants_part(request):
        return say(sentence)
    info(request, sentence)
    return back_to("session", f"#turn-{turn.pk}", of=turn.session_id)


def _to_form(turn: Turn) -> HttpResponse:
    """Redirect to the form, where a note can be added to a rating."""
    response = HttpResponseRedirect(reverse("feedback", args=[turn.session_id, turn.pk]))
    response.status_code = HTTPStatus.SEE_OTHER
    return response
