"""Action items: what is open with its date and source, done boxes, proposals, and items of one's own."""

from datetime import date
from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.messages import info, success
from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from coaching.clock.days import local_day
from coaching.library.drafts import MAX_DESCRIPTION, MAX_TITLE, NewAction
from coaching.library.pages.forms import id_field
from coaching.library.pages.frame import frame_of
from coaching.library.pages.knowledge import add_clients
from coaching.library.proposals import DECISIONS, edit, propose
from coaching.library.resolutions import set_done
from coaching.library.rows.proposals import actions_of, effects_of
from coaching.models import ActionItem, ActionPriority, ActionState, MadeBy
from coaching.people.accounts import load_profile, local_now, user_id_of
from coaching.views.parts import back_to, or_404, page_in, wants_part
from sessions_app.errors import Refused

ACTIONS_A_PAGE = 50
PROPOSALS_SHOWN = 50
EFFECTS_SHOWN = 20


class ActionForm(forms.Form):
    title = forms.CharField(
        label=gettext_lazy("What needs to be done"),
        max_length=MAX_TITLE,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    client = id_field(widget=forms.Select)
    due_date = forms.DateField(
        label=gettext_lazy("Due date (optional)"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    priority = forms.ChoiceField(label=gettext_lazy("Priority"), choices=ActionPriority.choices)
    owner = forms.CharField(
        label=gettext_lazy("Assigned to (optional)"),
        max_length=120,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    description = forms.CharField(
        label=gettext_lazy("Details (optional)"),
        max_length=MAX_DESCRIPTION,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )

    def __init__(self, data: Any = None, *, user_id: int, item: ActionItem | None = None) -> None:
        names = ("title", "due_date", "priority", "owner", "description")
        initial = {name: getattr(item, name) for name in names} if item else {"priority": "medium"}
        super().__init__(data, initial=initial, auto_id="action-%s")
        if item:
            del self.fields["client"]
        else:
            add_clients(self, user_id)

    def values(self) -> dict[str, Any]:
        """Return a valid form's values for the services."""
        given = {name: value for name, value in self.cleaned_data.items() if name != "client"}
        return {**given, "priority": ActionPriority(given["priority"])}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def actions(request: HttpRequest) -> HttpResponse:
    """List what is open, or with `done` what is done; a post adds an item."""
    user_id = user_id_of(request)
    if request.method != "POST":
        return _page(request, user_id)
    form = ActionForm(request.POST, user_id=user_id)
    if form.is_valid():
        new = NewAction(client_id=form.cleaned_data["client"], **form.values())
        try:
            with or_404():
                propose(user_id=user_id, new=new, made_by=MadeBy.USER, is_accepted=True)
        except Refused as refusal:
            form.add_error(None, refusal.shown())
        else:
            success(request, _("Added."))
            return back_to("library_actions")
    return _page(request, user_id, form=form)


def _page(request: HttpRequest, user_id: int, *, form: ActionForm | None = None) -> HttpResponse:
    is_done = "done" in request.GET
    rows = actions_of(user_id=user_id, state=ActionState.DONE if is_done else ActionState.OPEN)
    order = [F("done_at").desc()] if is_done else [F("due_date").asc(nulls_last=True)]
    context = {
        **frame_of(request, "actions", user_id=user_id),
        "today": _today(request),
        "page": Paginator(rows.order_by(*order, "-created_at", "-id"), ACTIONS_A_PAGE).get_page(
            page_in(request)
        ),
        "proposals": []
        if is_done
        else actions_of(user_id=user_id, state=ActionState.PROPOSED)[:PROPOSALS_SHOWN],
        "is_done": is_done,
        "form": form or ActionForm(user_id=user_id),
        "is_refused": form is not None,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form else HTTPStatus.OK
    return render(request, "coaching/pages/library_actions.html", context, status=status)


def _today(request: HttpRequest) -> date:
    profile = load_profile(request)
    return local_day(local_now(profile), profile.zone)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def action(request: HttpRequest, action_id: int) -> HttpResponse:
    """Show an item; a post ticks, changes, accepts, dismisses or deletes it."""
    user_id = user_id_of(request)
    with or_404():
        found = actions_of(user_id=user_id).get(pk=action_id)
    if request.method != "POST":
        return _action_page(request, found)
    if "done" in request.POST:
        return _tick(request, found)
    try:
        with or_404():
            decide = DECISIONS.get(request.POST.get("do", ""))
            if decide is None:
                return _save(request, found)
            decide(user_id=user_id, model=ActionItem, row_id=action_id)
    except Refused as refusal:
        return _action_page(request, found, refusal=refusal.shown())
    return redirect("library_actions")


def _tick(request: HttpRequest, item: ActionItem) -> HttpResponse:
    refusal = ""
    try:
        with or_404():
            set_done(
                user_id=item.user_id,
                action_id=item.pk,
                is_done=request.POST.get("done") == "1",
                today=_today(request),
                now=timezone.now(),
            )
    except Refused as refused:
        refusal = refused.shown()
    if not wants_part(request):
        if refusal:
            info(request, refusal)
        return back_to("library_actions")
    with or_404():
        found = actions_of(user_id=item.user_id).get(pk=item.pk)
    context = {"item": found, "today": _today(request), "refusal": refusal}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "coaching/components/action_row.html", context, status=status)


def _save(request: HttpRequest, item: ActionItem) -> HttpResponse:
    form = ActionForm(request.POST, user_id=item.user_id, item=item)
    if not form.is_valid():
        return _action_page(request, item, form=form)
    edit(user_id=item.user_id, model=ActionItem, row_id=item.pk, changes=form.values())
    success(request, _("Saved."))
    return back_to("library_action", of=item.pk)


def _action_page(
    request: HttpRequest, item: ActionItem, *, form: ActionForm | None = None, refusal: str = ""
) -> HttpResponse:
    context = {
        **frame_of(request, "actions", user_id=item.user_id),
        "item": item,
        "today": _today(request),
        "effects": effects_of(user_id=item.user_id).filter(action_item=item)[:EFFECTS_SHOWN],
        "form": form or ActionForm(user_id=item.user_id, item=item),
        "is_refused": form is not None,
        "refusal": refusal,
    }
    is_refused = form is not None or refusal
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK
    return render(request, "coaching/pages/library_action.html", context, status=status)
