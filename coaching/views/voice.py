"""Voice: a page sends a recording, asks for its words, and says who may hear it. Answers are JSON."""

import uuid
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from coaching.files.errors import StorageFailed
from coaching.models import Recording, RecordingState
from coaching.people.accounts import user_id_of
from coaching.people.profile_changes import choose_transcription_host
from coaching.views.parts import back_to, status_of, with_wait
from coaching.views.programs import error_as_json, login_or_401, wants_json
from coaching.voice.recordings import (
    NOT_AGREED,
    NOT_READ,
    current_recording,
    drop_recording,
    has_agreed,
    is_late,
    take_recording,
)
from coaching.voice.transcription import transcription_host
from coaching.voice.usage import check_budget
from sessions_app.errors import Refused


@login_or_401
@require_http_methods(["GET", "HEAD", "POST"])
def recordings(request: HttpRequest) -> HttpResponse:
    """Take a recording: multipart with `id`, which its page has chosen, and `audio`.

    A GET asks before anything is recorded whether one is taken.
    """
    user_id = user_id_of(request)
    try:
        if not has_agreed(user_id):
            raise Refused(NOT_AGREED)
        if request.method != "POST":
            check_budget(user_id)
            return JsonResponse({"state": "ready"})
        return _take(request, user_id)
    except StorageFailed as refusal:
        return error_as_json(refusal.shown(), HTTPStatus.SERVICE_UNAVAILABLE)
    except Refused as refusal:
        return with_wait(error_as_json(refusal.shown(), status_of(refusal)), refusal)


def _take(request: HttpRequest, user_id: int) -> HttpResponse:
    file: UploadedFile[Any] | None = request.FILES.get("audio")
    client_id = _uuid(request.POST.get("id", ""))
    if file is None or client_id is None:
        raise Refused(NOT_READ)
    return _answer(take_recording(user_id=user_id, client_id=client_id, data=file.read()))


@login_or_401
@require_http_methods(["GET", "HEAD", "POST"])
def recording(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """Say what has become of a recording; a POST deletes it: its page has taken the words, or wants none."""
    user_id = user_id_of(request)
    found = current_recording(user_id=user_id, client_id=str(client_id))
    if found is None:
        raise Http404
    if request.method == "POST":
        drop_recording(user_id=user_id, client_id=str(client_id))
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return _answer(found)


@login_required
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Store that the person agrees to who hears their recordings, as a page named it, or that nobody may."""
    named = request.POST.get("hearer", "")
    if named not in ("", transcription_host()):
        return HttpResponseBadRequest(_(NOT_AGREED), content_type="text/plain")
    choose_transcription_host(user_id=user_id_of(request), host=named)
    if wants_json(request):
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    success(request, _("Settings saved."))
    return back_to("data", "#voice-setting")


def _answer(found: Recording) -> HttpResponse:
    """Return a recording as JSON: `state`, and `text`, the `error` with which it has ended, or `is_late`."""
    said: dict[str, Any] = {"id": found.client_id, "state": found.state}
    if found.state == RecordingState.DONE:
        said["text"] = found.text
    elif found.state == RecordingState.FAILED:
        said["error"] = _(found.reason)
    is_waiting = found.state == RecordingState.WAITING
    if is_waiting and is_late(found):
        said["is_late"] = True
    return JsonResponse(said, status=HTTPStatus.ACCEPTED if is_waiting else HTTPStatus.OK)


def _uuid(text: str) -> str | None:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None
