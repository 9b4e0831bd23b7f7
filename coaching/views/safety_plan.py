"""`/safety/plan/`: the person's safety plan as a page that prints, a form for its sections, and removing it.

A save is based on the version that the form shows. Where another tab or Sage was faster, the form comes back
with what both wrote, section by section, and nothing is lost. No script keeps a draft of it on the device.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info, success
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from coaching.files.drafts import FileDraft
from coaching.files.errors import FileMoved, FileRefused, StorageFailed
from coaching.files.organising import KEPT_DAYS, delete_file
from coaching.files.safety_plans import PLAN_PATH, build_plan_draft, plan_in, read_plan_file
from coaching.files.selectors import FileText
from coaching.files.store import StoredFile, store_below_newest, store_edit
from coaching.models import UserFile
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.help_lines import country_of, read_offer
from coaching.safety.plan import PlanSection, SafetyPlan, make_plan
from coaching.safety.plan_lines import PlanLine, lines_of
from coaching.transcript.plans import PLAN_HEADINGS
from coaching.views.parts import or_404, status_of
from coaching.views.safety_plan_form import REST, fields_of, merge_plans

INCOMPLETE = gettext_lazy(
    "Nothing was saved, because the form was incomplete. Please make your changes again."
)
REMOVED_MEANWHILE = gettext_lazy(
    "The plan was removed while you were writing, so nothing was saved. Save again to create a new one."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSection:
    name: str
    heading: str
    lines: Sequence[PlanLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A submitted plan, the version that it was based on, and what is stored now. `None` is no plan."""

    request: HttpRequest
    user_id: int
    plan: SafetyPlan
    opened: int
    newest: FileText | None

    @property
    def held(self) -> SafetyPlan:
        return plan_in(self.newest) if self.newest else SafetyPlan()

    @property
    def version(self) -> int:
        return self.newest.version.number if self.newest else 0


@login_required
@require_safe
def safety_plan(request: HttpRequest) -> HttpResponse:
    """Show the plan, or what a safety plan is where there is none."""
    user_id = user_id_of(request)
    found = read_plan_file(user_id=user_id)
    plan = plan_in(found) if found else SafetyPlan()
    profile = load_profile(request)
    context = {
        "here": "safety",
        "has_plan": found is not None,
        "sections": _shown(plan),
        "file": found.file if found else None,
        "path": PLAN_PATH,
        "zone": profile.zone,
        "name": profile.name,
        "offer": read_offer(country_of(profile)),
        "removed": None if found else _removed(request, user_id),
        "client_id": str(uuid.uuid4()),
        "kept_days": KEPT_DAYS,
    }
    return render(request, "coaching/pages/safety_plan.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest) -> HttpResponse:
    """Show or save the form with the seven sections."""
    user_id = user_id_of(request)
    newest = read_plan_file(user_id=user_id)
    held = plan_in(newest) if newest else SafetyPlan()
    if request.method != "POST":
        return _form(request, newest, held)
    if not any(section in request.POST for section in PlanSection):
        return _form(request, newest, held, refusal=str(INCOMPLETE))
    return _save(
        Edit(
            request=request,
            user_id=user_id,
            plan=_plan_of(request, held),
            opened=_opened(request, newest),
            newest=newest,
        )
    )


@login_required
@require_POST
def remove(request: HttpRequest) -> HttpResponse:
    """Remove the plan; it can be restored as every deleted file."""
    with or_404():
        file = delete_file(user_id=user_id_of(request), path=PLAN_PATH, now=timezone.now())
    return _see(f"{reverse('safety_plan')}?{urlencode({'removed': file.pk})}")


def _plan_of(request: HttpRequest, held: SafetyPlan) -> SafetyPlan:
    """Return the plan in a form; a section that wasn't sent stays as it is."""
    texts = {section: request.POST.get(section, held.text(section)) for section in PlanSection}
    return make_plan(texts, request.POST.get(REST, held.rest))


def _opened(request: HttpRequest, newest: FileText | None) -> int:
    """Return the version that was edited: 0 for none, -1 for one of a file that was removed since."""
    version, file = request.POST.get("version", ""), request.POST.get("file", "")
    number = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0
    is_this_file = newest is not None and file == str(newest.file.pk)
    return number if is_this_file or not number else -1


def _save(edit: Edit) -> HttpResponse:
    profile = load_profile(edit.request)
    try:
        draft = build_plan_draft(edit.plan, edit.newest, now=timezone.now(), timezone=profile.zone)
        if edit.newest and edit.plan == edit.held:
            info(edit.request, _("No changes to save."))
            return _see(reverse("safety_plan"))
        if edit.opened != edit.version:
            return _after_conflict(edit)
        if edit.newest and edit.request.POST.get("do") == "aside":
            store_below_newest(user_id=edit.user_id, draft=draft, newest=edit.newest)
            success(edit.request, _("The other text was kept. Yours is in the version history."))
        else:
            _store(edit, replace(draft, occasion="edited"))
            success(edit.request, _("Your safety plan is saved."))
        return _see(reverse("safety_plan"))
    except FileMoved:
        return _after_conflict(replace(edit, newest=read_plan_file(user_id=edit.user_id)))
    except FileRefused as refused:
        return _form(edit.request, edit.newest, edit.plan, refusal=refused.shown(), status=status_of(refused))
    except StorageFailed as failed:
        status = HTTPStatus.SERVICE_UNAVAILABLE
        return _form(edit.request, edit.newest, edit.plan, refusal=failed.shown(), status=status)


def _store(edit: Edit, draft: FileDraft) -> StoredFile:
    return store_edit(user_id=edit.user_id, draft=draft, expected_version=edit.version)


def _after_conflict(edit: Edit) -> HttpResponse:
    """The plan has changed since it was opened: show what both wrote, unless the person changed nothing."""
    if edit.newest is None:
        return _form(
            edit.request, None, edit.plan, refusal=str(REMOVED_MEANWHILE), status=HTTPStatus.CONFLICT
        )
    base = _opened_plan(edit)
    if base is not None and base == edit.plan:
        info(
            edit.request,
            _("You made no changes, but the plan has changed in the meantime. This is the current text."),
        )
        return _see(reverse("safety_plan"))
    merged, theirs = merge_plans(base or SafetyPlan(), edit.plan, edit.held)
    return _form(
        edit.request, edit.newest, merged, theirs=theirs, is_conflict=True, status=HTTPStatus.CONFLICT
    )


def _opened_plan(edit: Edit) -> SafetyPlan | None:
    if edit.opened < 1:
        return None
    opened = read_plan_file(user_id=edit.user_id, number=edit.opened)
    return plan_in(opened) if opened else None


def _form(
    request: HttpRequest,
    newest: FileText | None,
    plan: SafetyPlan,
    *,
    theirs: Mapping[str, str] | None = None,
    is_conflict: bool = False,
    refusal: str = "",
    status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY,
) -> HttpResponse:
    context = {
        "here": "safety",
        "fields": fields_of(plan, theirs or {}),
        "newest": newest.version if newest else None,
        "is_conflict": is_conflict,
        "has_overlap": bool(theirs),
        "refusal": refusal,
        "zone": load_profile(request).zone,
    }
    is_fine = not refusal and not is_conflict
    return render(
        request, "coaching/pages/safety_plan_edit.html", context, status=HTTPStatus.OK if is_fine else status
    )


def _shown(plan: SafetyPlan) -> Sequence[ShownSection]:
    sections = [
        ShownSection(
            name=section,
            heading=str(PLAN_HEADINGS[section]),
            lines=lines_of(section, plan.text(section)),
        )
        for section in PlanSection
    ]
    if plan.rest:
        lines = lines_of(PlanSection.WHAT_MATTERS, plan.rest)
        sections.append(ShownSection(name=REST, heading=_("Other notes"), lines=lines))
    return sections


def _removed(request: HttpRequest, user_id: int) -> UserFile | None:
    """Return the plan that was just removed, to offer undoing it."""
    named = request.GET.get("removed", "")
    if not (named.isascii() and named.isdigit() and len(named) < 19):
        return None
    return UserFile.deleted_of(user_id).filter(pk=int(named), path=PLAN_PATH).first()


def _see(address: str) -> HttpResponse:
    return HttpResponseRedirect(address, status=HTTPStatus.SEE_OTHER)
