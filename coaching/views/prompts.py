"""A question from Sage: its page, and its answers."""

import uuid
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.db.transaction import atomic
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods

from coaching.life.prompts import (
    ALREADY,
    ShownPrompt,
    accessible_prompt,
    keep_answer,
    mark_answered,
    message_about,
    skip_prompt,
)
from coaching.live.runner import rate_limit
from coaching.models import Profile
from coaching.people.accounts import load_profile
from coaching.people.danger_scans import scans
from coaching.safety.card import Card
from coaching.safety.danger import Danger
from coaching.sandbox.markdown import render_markdown
from coaching.views.capture_cards import begin_look, capture_card, leave_card
from coaching.views.conversation_page import counted
from coaching.views.forms import PromptForm
from coaching.views.new_conversation import begin
from coaching.views.parts import back_to, or_404, status_of, with_wait
from sessions_app.database import in_database, in_database_page
from sessions_app.errors import Refused
from sessions_app.limits import refuse_over_limits
from sessions_app.models import SessionKind
from sessions_app.selectors import was_begun_by
from sessions_app.text import check_message_text

UNREADABLE = gettext_noop("Sage couldn’t read that. Please send it again.")
WRITTEN = gettext_lazy("Saved to your captures, with the question.")
SKIPPED = gettext_lazy("Skipped. You’ll find the question in Files.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
async def prompt(request: HttpRequest, prompt_id: int) -> HttpResponse:
    """Show a question; a POST talks about it, writes the answer down, or skips it."""
    profile, shown = await in_database(_read, request, prompt_id)
    if request.method != "POST":
        return await in_database_page(_page, request, shown)
    form = PromptForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused(UNREADABLE)
        match form.cleaned_data["do"]:
            case "talk":
                return await _talk(request, shown, form, user_id=profile.user_id)
            case "write":
                danger = await scans.danger_in(form.cleaned_data["text"], user_id=profile.user_id)
                page = await in_database_page(_write_down, request, shown, form, profile, danger)
                await in_database(begin_look, profile.user_id)
                return page
            case _:
                return await in_database_page(_skip, request, shown, profile)
    except Refused as refusal:
        danger = await scans.danger_in(request.POST.get("text", ""), user_id=profile.user_id)
        return await in_database_page(_refused, request, shown, profile, refusal, danger)


async def _talk(request: HttpRequest, shown: ShownPrompt, form: PromptForm, *, user_id: int) -> HttpResponse:
    client_id = form.cleaned_data["id"]
    is_begun = await in_database(was_begun_by, user_id=user_id, client_id=client_id)
    if not (shown.is_open or is_begun):
        raise Refused(ALREADY)
    text = message_about(shown, form.cleaned_data["text"])
    if not is_begun:  # before the conversation, which would stay empty
        await in_database(_check_message, user_id=user_id, text=text)
    response = await begin(request, kind=SessionKind.OPEN_CONVERSATION, text=text, client_id=client_id)
    if response.status_code == HTTPStatus.FOUND:
        await in_database(mark_answered, user_id=user_id, prompt_id=shown.id, now=timezone.now())
    return response


@atomic
def _check_message(*, user_id: int, text: str) -> None:
    """Raise `Refused` where the first message of a conversation would be."""
    check_message_text(text)
    refuse_over_limits(user_id=user_id, rate_limit=rate_limit())


def _write_down(
    request: HttpRequest, shown: ShownPrompt, form: PromptForm, profile: Profile, danger: Danger | None
) -> HttpResponse:
    keep_answer(
        shown,
        user_id=profile.user_id,
        text=form.cleaned_data["text"],
        client_id=form.cleaned_data["id"],
        now=timezone.now(),
        timezone=profile.zone,
        danger=danger,
    )
    leave_card(request, danger)
    info(request, WRITTEN)
    return back_to("home", "#captures" if danger else "")


def _skip(request: HttpRequest, shown: ShownPrompt, profile: Profile) -> HttpResponse:
    skip_prompt(user_id=profile.user_id, prompt_id=shown.id, now=timezone.now())
    info(request, SKIPPED)
    return back_to("home")


def _refused(
    request: HttpRequest, shown: ShownPrompt, profile: Profile, refusal: Refused, danger: Danger | None
) -> HttpResponse:
    page = _page(
        request,
        shown,
        refusal=refusal.shown(),
        draft=request.POST.get("text", ""),
        card=counted(capture_card(profile, danger)),
        status=status_of(refusal),
    )
    return with_wait(page, refusal)


def _read(request: HttpRequest, prompt_id: int) -> tuple[Profile, ShownPrompt]:
    profile = load_profile(request)
    with or_404():
        return profile, accessible_prompt(user_id=profile.user_id, prompt_id=prompt_id, timezone=profile.zone)


def _page(
    request: HttpRequest,
    shown: ShownPrompt,
    *,
    refusal: str = "",
    draft: str = "",
    card: Card | None = None,
    status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY,
) -> HttpResponse:
    context = {
        "here": "home",
        "prompt": shown,
        "question": render_markdown(shown.text),
        "refusal": refusal,
        "draft": draft,
        "card": card,
        "client_id": str(uuid.uuid4()),
    }
    return render(request, "coaching/pages/prompt.html", context, status=status if refusal else HTTPStatus.OK)
