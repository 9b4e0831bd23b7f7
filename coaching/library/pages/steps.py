"""Next steps: what is open with its date and source, done boxes, proposals, and steps of one's own."""

from datetime import date
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info, success, warning
from django.core.paginator import Paginator
from django.db.models import F
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from coaching.clock.days import local_day
from coaching.library.decisions import DECISIONS
from coaching.library.drafts import NewAction
from coaching.library.pages.frame import frame_of
from coaching.library.pages.step_form import OutcomeForm, ShownForm, StepForm
from coaching.library.pages.step_history import history_of, source_of
from coaching.library.proposals import propose
from coaching.library.resolutions import Becomes, Resolution, edit_step, resolve
from coaching.library.rows.proposals import dismissed_of, newest_effect, next_steps_of
from coaching.models import ActionItem, ActionState, MadeBy
from coaching.people.accounts import load_profile, local_now, user_id_of
from coaching.people.own_changes import EditConflict
from coaching.turns.step_changes import decide_step, telling, undo_step
from coaching.views.parts import back_to, or_404, page_in, wants_part
from sessions_app.errors import Refused

ACTIONS_A_PAGE = 50
PROPOSALS_SHOWN = 50
PALETTE = "palette"
"""What a request of the palette sends as `then`: its answer is the step's entry there."""
CLOSED = (ActionState.DONE, ActionState.DROPPED)
BECAME = {
    "done": gettext_lazy("Done."),
    "dropped": gettext_lazy("Dropped."),
    "open": gettext_lazy("Open again."),
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def steps(request: HttpRequest) -> HttpResponse:
    """List what is open, or with `done` what is done; a post adds an item."""
    user_id = user_id_of(request)
    if request.method != "POST":
        return _page(request, user_id)
    form = StepForm(request.POST, user_id=user_id)
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


def _page(request: HttpRequest, user_id: int, *, form: StepForm | None = None) -> HttpResponse:
    is_done = "done" in request.GET
    rows = next_steps_of(user_id=user_id).filter(state__in=CLOSED if is_done else (ActionState.OPEN,))
    nearest = [F("due_date").asc(nulls_last=True), F("due_time").asc(nulls_last=True)]
    order = [Coalesce("done_at", "updated_at").desc()] if is_done else nearest
    proposed = next_steps_of(user_id=user_id, state=ActionState.PROPOSED)
    context = {
        **frame_of(request, "actions", user_id=user_id),
        "today": _today(request),
        "page": Paginator(rows.order_by(*order, "-created_at", "-id"), ACTIONS_A_PAGE).get_page(
            page_in(request)
        ),
        "proposals": [] if is_done else proposed[:PROPOSALS_SHOWN],
        "dismissed": dismissed_of(next_steps_of(user_id=user_id, with_dismissed=True)) if is_done else [],
        "is_done": is_done,
        "form": form or StepForm(user_id=user_id),
        "is_refused": form is not None,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form else HTTPStatus.OK
    return render(request, "coaching/pages/library_actions.html", context, status=status)


def _today(request: HttpRequest) -> date:
    profile = load_profile(request)
    return local_day(local_now(profile), profile.zone)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def step(request: HttpRequest, step_id: int) -> HttpResponse:
    """Show a step; a post ticks, drops, changes, accepts, dismisses, restores or deletes it."""
    user_id = user_id_of(request)
    with or_404():
        found = _step_of(user_id, step_id)
    if request.method != "POST":
        return _step_page(request, found)
    if "done" in request.POST:
        return _resolve(request, found, "done" if request.POST["done"] == "1" else "open")
    do = request.POST.get("do", "")
    if do == "drop":
        return _resolve(request, found, "dropped")
    try:
        with or_404():
            if do not in DECISIONS:
                return _save(request, found)
            decide_step(user_id=user_id, step_id=step_id, do=do)
    except Refused as refusal:
        return _step_page(request, found, refusal=refusal.shown())
    return back_to("library_action", of=step_id) if do == "restore" else redirect("library_actions")


def _step_of(user_id: int, step_id: int) -> ActionItem:
    """Return a step, also one that was dismissed. Raises `ActionItem.DoesNotExist`."""
    return next_steps_of(user_id=user_id, with_dismissed=True).get(pk=step_id)


def _resolve(request: HttpRequest, item: ActionItem, becomes: Becomes) -> HttpResponse:
    """Tick, untick or drop a step; return its row to htmx, otherwise to the page that the form is on."""
    form, shown = OutcomeForm(request.POST), ShownForm(request.POST)
    if not shown.is_valid():
        return HttpResponseBadRequest()
    if not form.is_valid():
        return _step_page(request, item, outcome_form=form)
    resolution = Resolution(
        becomes=becomes,
        occurrence=shown.cleaned_data["occurrence"],
        today=_today(request),
        now=timezone.now(),
        outcome=form.cleaned_data["outcome"],
    )
    refusal = ""
    try:
        with or_404(), telling(user_id=item.user_id, step_id=item.pk):
            resolve(user_id=item.user_id, step_id=item.pk, resolution=resolution)
    except Refused as refused:
        refusal = refused.shown()
    then = request.POST.get("then", "")
    if not wants_part(request):
        if refusal and then == "step":
            with or_404():
                return _step_page(
                    request, _step_of(item.user_id, item.pk), outcome_form=form, refusal=refusal
                )
        if refusal:
            info(request, refusal)
        else:
            success(request, str(BECAME[becomes]))
        return _back(then, item)
    with or_404():
        found = _step_of(item.user_id, item.pk)
    if then == PALETTE:
        return _in_palette(request, found, refusal=refusal, is_done=not refusal and becomes == "done")
    context = {"item": found, "today": _today(request), "refusal": refusal, "then": then == "home" and then}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "coaching/components/action_row.html", context, status=status)


def _in_palette(
    request: HttpRequest, item: ActionItem, *, refusal: str = "", is_done: bool = False
) -> HttpResponse:
    """Return a step as the palette shows it after a change, with what to say of it."""
    said = _("Done.") if is_done else _("Undone.")
    if is_done and item.state == ActionState.OPEN and item.due_date:  # it repeats
        said = _("Done. It is due again on %(day)s.") % {
            "day": date_format(item.due_date, "WEEKDAY_DAY_FORMAT")
        }
    undoable = newest_effect(item) if is_done else None
    context = {"item": item, "is_done": is_done, "said": refusal or said, "undoable": undoable}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "coaching/components/palette_step.html", context, status=status)


def _back(then: str, item: ActionItem) -> HttpResponse:
    match then:
        case "home":
            return back_to("home", "#steps")
        case "step":
            return back_to("library_action", of=item.pk)
    return back_to("library_actions")


def _save(request: HttpRequest, item: ActionItem) -> HttpResponse:
    form = StepForm(request.POST, user_id=item.user_id, item=item)
    if not form.is_valid():
        return _step_page(request, item, form=form)
    user_id = item.user_id
    given: dict[str, Any] = {"changes": form.values(), "seen": form.seen()}
    try:
        with telling(user_id=user_id, step_id=item.pk):
            edit_step(user_id=user_id, step_id=item.pk, now=timezone.now(), **given)
    except Refused as refusal:
        item = _step_of(user_id, item.pk)
        both = refusal.fields if isinstance(refusal, EditConflict) else ()
        form = form.renewed(StepForm(user_id=user_id, item=item), both=both)
        if not both:
            form.add_error(None, refusal.shown())
        return _step_page(request, item, form=form, is_conflict=bool(both))
    success(request, _("Saved."))
    return back_to("library_action", of=item.pk)


@login_required
@require_POST
def undo(request: HttpRequest, step_id: int) -> HttpResponse:
    """Undo a step's newest change, for a day: also that it was written.

    The form names the change that its page shows (`effect`), and another one isn't undone.
    """
    user_id = user_id_of(request)
    shown = ShownForm(request.POST)
    if not shown.is_valid():
        return HttpResponseBadRequest()
    refusal = ""
    try:
        with or_404(), telling(user_id=user_id, step_id=step_id):
            undo_step(
                user_id=user_id,
                step_id=step_id,
                now=timezone.now(),
                effect_id=shown.cleaned_data["effect"],
            )
    except Refused as refused:
        refusal = refused.shown()
    if request.POST.get("then") == PALETTE and wants_part(request):
        with or_404():
            item = _step_of(user_id, step_id)
        return _in_palette(request, item, refusal=refusal)
    if refusal:
        warning(request, refusal)
    else:
        success(request, _("Undone."))
    return back_to("library_action", of=step_id)


def _step_page(
    request: HttpRequest,
    item: ActionItem,
    *,
    form: StepForm | None = None,
    outcome_form: OutcomeForm | None = None,
    refusal: str = "",
    is_conflict: bool = False,
) -> HttpResponse:
    frame = frame_of(request, "actions", user_id=item.user_id)
    context = {
        **frame,
        "item": item,
        "today": _today(request),
        "source": source_of(item, zone=frame["zone"]),
        "events": history_of(item, now=timezone.now()),
        "form": form or StepForm(user_id=item.user_id, item=item),
        "outcome_form": outcome_form or OutcomeForm(),
        "is_refused": form is not None,
        "refusal": refusal,
    }
    is_refused = form is not None or outcome_form is not None or refusal
    refused = HTTPStatus.CONFLICT if is_conflict else HTTPStatus.UNPROCESSABLE_ENTITY
    status = refused if is_refused else HTTPStatus.OK
    return render(request, "coaching/pages/library_action.html", context, status=status)
