"""Settings of programs: the person's tokens, making and revoking them, and what programs changed lately."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, cast

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from coaching.models import LibraryEffect, ProgramToken, Scope, UserFileVersion
from coaching.models.programs import MAX_NAME
from coaching.people.accounts import load_profile, user_id_of
from coaching.programs.callers import known_scopes
from coaching.programs.tokens import MAX_DAYS, USUAL_DAYS, MadeToken, make_token, revoke_token, tokens_of
from coaching.transcript.names import name_of
from coaching.views.connected_programs import connected_programs
from coaching.views.parts import back_to, or_404, status_of, with_wait
from sessions_app.errors import FieldRefused, Refused

CHANGES_SHOWN = 20
DAYS = (7, 30, USUAL_DAYS, 180, MAX_DAYS)
NOTICE = "account/email/program_token_made"


class TokenForm(forms.Form):
    """A new token; the service has the limits."""

    name = forms.CharField(
        required=False,
        label=gettext_lazy("Name of the program"),
        help_text=gettext_lazy("It is shown next to everything that the program writes."),
        widget=forms.TextInput(attrs={"maxlength": MAX_NAME, "autocomplete": "off", "dir": "auto"}),
    )
    scopes = forms.MultipleChoiceField(
        required=False,
        label=gettext_lazy("What it may do"),
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Valid for"),
        choices=lambda: [
            (days, ngettext("%(count)s day", "%(count)s days", days) % {"count": days}) for days in DAYS
        ],
        coerce=int,
        initial=USUAL_DAYS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """A token as the page lists it; `scopes` are in words."""

    token: ProgramToken
    scopes: Sequence[str]
    is_expired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramChange:
    """Something that a program wrote or changed, and where it can be undone."""

    program: str
    name: str
    address: str
    at: datetime


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(allow_get=True)  # type: ignore[untyped-decorator]  # allauth has no types
def programs(request: HttpRequest) -> HttpResponse:
    """Show the tokens; a post makes one and shows its secret, once."""
    if request.method != "POST":
        return _page(request, TokenForm())
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    user = cast("User", request.user)
    try:
        made = make_token(user_id=user.pk, password=user.password, **form.cleaned_data)
    except Refused as refusal:
        form.add_error(refusal.field if isinstance(refusal, FieldRefused) else None, refusal.shown())
        return with_wait(_page(request, form, status=status_of(refusal)), refusal)
    send_notice(request, user, name=made.token.name, scopes=_in_words(made.token))
    return _page(request, TokenForm(), made=made)


@login_required
@require_POST
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token: its next request, and one that waits, is refused."""
    with or_404():
        name = revoke_token(user_id=user_id_of(request), token_id=token_id)
    success(request, _("“%(name)s” can’t reach Sage any more.") % {"name": name})
    return back_to("programs", "#tokens")


def send_notice(request: HttpRequest, user: User, *, name: str, scopes: Sequence[str]) -> None:
    """Tell a person by mail that a program got access; `scopes` are in words."""
    get_adapter(request).send_notification_mail(NOTICE, user, {"name": name, "scopes": scopes})


def _page(
    request: HttpRequest, form: TokenForm, *, made: MadeToken | None = None, status: int = HTTPStatus.OK
) -> HttpResponse:
    profile, now = load_profile(request), timezone.now()
    rows = [
        TokenRow(token=token, scopes=_in_words(token), is_expired=token.expires_at <= now)
        for token in tokens_of(profile.user_id)
    ]
    context: dict[str, Any] = {
        "here": "settings",
        "zone": profile.zone,
        "form": form,
        "is_refused": bool(form.errors),
        "mcp_address": request.build_absolute_uri(reverse("mcp")),
        "made": made,
        "rows": rows,
        "connected": connected_programs(profile.user_id),
        "changes": _changes(profile.user_id),
    }
    return render(request, "coaching/pages/settings_programs.html", context, status=status)


def _in_words(token: ProgramToken) -> Sequence[str]:
    return [str(scope.label) for scope in Scope if scope in known_scopes(token.scopes)]


def _changes(user_id: int) -> Sequence[ProgramChange]:
    """Return what programs wrote and changed last, in two queries."""
    versions = UserFileVersion.of(user_id).exclude(program="").defer("content").select_related("file")
    effects = LibraryEffect.of(user_id).exclude(program="").filter(undone_at=None, action_item__isnull=False)
    found = [
        ProgramChange(
            program=version.program,
            name=name_of(version.file),
            address=reverse("file", args=[version.file.path]),
            at=version.created_at,
        )
        for version in versions.order_by("-id")[:CHANGES_SHOWN]
    ]
    found += [
        ProgramChange(
            program=effect.program,
            name=effect.action_item.title,
            address=reverse("library_action", args=[effect.action_item.pk]),
            at=effect.created_at,
        )
        for effect in effects.select_related("action_item").order_by("-id")[:CHANGES_SHOWN]
        if effect.action_item
    ]
    return sorted(found, key=lambda change: change.at, reverse=True)[:CHANGES_SHOWN]
