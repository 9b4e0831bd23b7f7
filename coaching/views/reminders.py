"""Reminder settings, the page that a reminder opens, and the link in mails that switches one off."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from coaching.models import ReminderKind
from coaching.people.accounts import load_profile, user_id_of
from coaching.reminders.devices import devices_of
from coaching.reminders.mails import confirmed_address
from coaching.reminders.preferences import (
    Choice,
    choose_reminders,
    read_choices,
    read_off_token,
    switch_off,
)
from coaching.reminders.vapid import public_key
from coaching.reminders.words import WORDS, words_for
from coaching.views.forms import ReminderForm
from coaching.views.parts import back_to
from sessions_app.errors import Refused
from sessions_app.selectors import session_to_go_on_with

Forms = Mapping[str, ReminderForm]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderRow:
    kind: ReminderKind
    form: ReminderForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def reminders(request: HttpRequest) -> HttpResponse:
    user_id = user_id_of(request)
    load_profile(request)  # the worker needs a time zone
    ways = _ways(user_id)
    if request.method != "POST":
        forms = {
            kind: ReminderForm(initial=_initial(choice), prefix=kind, ways=ways)
            for kind, choice in read_choices(user_id).items()
        }
        return _page(request, forms, ways)
    forms = {kind: ReminderForm(request.POST, prefix=kind, ways=ways) for kind in ReminderKind.values}
    if not all([form.is_valid() for form in forms.values()]):  # noqa: C419 - each must be validated
        return _page(request, forms, ways)
    choose_reminders(
        user_id=user_id,
        choices={kind: Choice(**form.cleaned_data) for kind, form in forms.items()},
        origin=f"{request.scheme}://{request.get_host()}",
        now=timezone.now(),
    )
    success(request, _("Reminders saved."))
    return back_to("reminders")


@login_required
@require_safe
def reminder(request: HttpRequest, kind: str) -> HttpResponse:
    """Redirect to what a reminder is about: next steps, or a conversation, which home offers to start."""
    if kind == ReminderKind.STEPS:
        return redirect("library_actions")
    if kind not in WORDS:
        raise Http404
    words = words_for(load_profile(request), kind, now=timezone.now())
    session = session_to_go_on_with(user_id=user_id_of(request), kind=words.session_kind)
    return redirect("session", session.pk) if session else redirect("home")


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def switch_reminder_off(request: HttpRequest, token: str) -> HttpResponse:
    """Switch a reminder off by a link in a mail, without signing in. A mail program posts at once (RFC 8058).

    A GET changes nothing, as programs that check links for viruses follow them.
    """
    try:
        user_id, kind = read_off_token(token)
    except Refused:
        raise Http404 from None
    if request.method == "POST":
        switch_off(user_id=user_id, kind=kind)
    context = {"kind": ReminderKind(kind), "is_off": request.method == "POST"}
    return render(request, "coaching/pages/reminder_off.html", context)


def _ways(user_id: int) -> Collection[str]:
    """Return how the person can be reminded: at an address they confirmed, or on a device that allows it."""
    can_mail = settings.HAS_MAIL and bool(confirmed_address(user_id))
    can_push = bool(settings.SAGE_VAPID_PRIVATE_KEY and devices_of(user_id))
    return [name for name, can in (("by_push", can_push), ("by_mail", can_mail)) if can]


def _initial(choice: Choice) -> dict[str, object]:
    return {field.name: getattr(choice, field.name) for field in fields(choice)}


def _page(request: HttpRequest, forms: Forms, ways: Collection[str]) -> HttpResponse:
    rows: Sequence[ReminderRow] = [
        ReminderRow(kind=ReminderKind(kind), form=form) for kind, form in forms.items()
    ]
    is_refused = any(form.errors for form in forms.values())
    devices = devices_of(user_id_of(request))
    context = {
        "here": "settings",
        "rows": rows,
        "zone": load_profile(request).zone,
        "is_refused": is_refused,
        "has_ways": bool(ways),
        "needs_address": settings.HAS_MAIL and "by_mail" not in ways,
        "devices": devices,
        "known": " ".join(sha256(device.endpoint.encode()).hexdigest() for device in devices),
        "push_key": public_key(settings.SAGE_VAPID_PRIVATE_KEY),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK
    return render(request, "coaching/pages/reminders.html", context, status=status)
