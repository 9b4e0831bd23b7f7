"""A copy for reading offline: whether this browser keeps one, and what it keeps."""

from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from coaching.people.accounts import load_profile, user_id_of
from coaching.people.device_copies import begin_copy, end_copy, fetches, has_copy_of
from coaching.personal_data.device_copy import read_copy, write_copy
from coaching.views.parts import back_to, status_of, with_wait
from coaching.views.programs import error_as_json, login_or_401
from sessions_app.database import give_back_connections
from sessions_app.errors import Refused


@login_required
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Have the browser keep a copy, or erase the one that it has."""
    response = back_to("data", "#device-copy")
    match request.POST.get("do"):
        case "keep":
            begin_copy(response, user_id=user_id_of(request))
        case "erase":
            end_copy(response)
            success(request, _("The copy on this device was erased."))
        case _:
            return HttpResponseBadRequest(_("Choose one of the options."), content_type="text/plain")
    return response


@login_or_401
@require_safe
def copy(request: HttpRequest) -> HttpResponse:
    """Send a browser its copy; nothing to one that keeps none."""
    profile = load_profile(request)
    if not has_copy_of(request, profile.user_id):
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    try:
        fetches.count(profile.user_id)
    except Refused as refusal:
        return with_wait(error_as_json(refusal.shown(), status_of(refusal)), refusal)
    rows = read_copy(profile, now=timezone.now())
    give_back_connections()  # rendering is slow
    return JsonResponse({"person": str(profile.user_id), "html": write_copy(rows)})
