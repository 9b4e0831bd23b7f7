"""Uploads to the library: a form with one or more files, from the page or from a program.

Each file ends as a document of its own; one that is over a limit is `refused`, and the others go on.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.messages import success, warning
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from coaching.files.errors import StorageFailed
from coaching.library.documents.intake import Destination, destination_of, refusal_of_size, refuse, take_in
from coaching.library.documents.reasons import shown_reason
from coaching.library.pages.program_values import document_as_json
from coaching.library.pipeline.pictures import prepare_picture
from coaching.models import Document, DocumentSource, DocumentState
from coaching.people.accounts import user_id_of
from coaching.people.attempts import AttemptLimit
from coaching.views.parts import or_404, status_of, with_wait
from coaching.views.programs import error_as_json, login_or_401, wants_json
from sessions_app.errors import Refused
from sessions_app.selectors import accessible_session

FILES_IN_TEN_MINUTES = 600
UNREADABLE = gettext_lazy(
    "Sage couldn’t read the form, so nothing was uploaded. “client” and “project” are numbers."
)
NO_FILE = gettext_lazy("Choose at least one file.")

uploads = AttemptLimit(attempts=FILES_IN_TEN_MINUTES, seconds=600)


class UploadForm(forms.Form):
    """Where uploaded files belong; the files may have any field name.

    `batch` is one for a whole drop, `session` the conversation whose next message they go with.
    """

    client = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    project = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    is_withheld = forms.BooleanField(required=False)
    batch = forms.UUIDField(required=False)
    session = forms.UUIDField(required=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The documents of an upload, and why not all files became one."""

    documents: Sequence[Document]
    refusal: Refused | None


@login_or_401
@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    """Take files in, and answer with their documents or with the page that they belong to."""
    form = UploadForm(request.POST)
    files = [file for _, sent in request.FILES.lists() for file in sent]
    if not form.is_valid():
        return _unreadable(request, str(UNREADABLE))
    session_id = form.cleaned_data["session"]
    with or_404():
        if session_id:
            accessible_session(user_id=user_id_of(request), session_id=session_id)
        destination = destination_of(
            user_id=user_id_of(request),
            source=DocumentSource.CHAT if session_id else DocumentSource.UPLOAD,
            session_id=session_id,
            client_id=form.cleaned_data["client"],
            project_id=form.cleaned_data["project"],
            batch=form.cleaned_data["batch"] or uuid.uuid4(),
        )
    if not files:
        return _unreadable(request, str(NO_FILE), destination)
    taken = _take_in(user_id_of(request), files, destination, is_withheld=form.cleaned_data["is_withheld"])
    return _as_json(taken) if wants_json(request) else _to_page(request, taken, destination)


def _take_in(
    user_id: int, files: Sequence["UploadedFile[Any]"], destination: Destination, *, is_withheld: bool
) -> Taken:
    documents: list[Document] = []
    for file in files:
        try:
            uploads.count(user_id)
            documents.append(_take_one_in(user_id, file, destination, is_withheld=is_withheld))
        except Refused as refusal:
            return Taken(documents=documents, refusal=refusal)
    return Taken(documents=documents, refusal=None)


def _take_one_in(
    user_id: int, file: "UploadedFile[Any]", destination: Destination, *, is_withheld: bool
) -> Document:
    name, size = file.name or "", file.size or 0
    if reason := refusal_of_size(size):  # without reading it
        return refuse(user_id=user_id, name=name, size=size, destination=destination, reason=reason)
    data = file.read()
    document = take_in(
        user_id=user_id, name=name, data=data, destination=destination, is_withheld=is_withheld
    )
    if destination.session_id and document.state != DocumentState.REFUSED:
        prepare_picture(document, data)
    return document


def _as_json(taken: Taken) -> HttpResponse:
    documents = [document_as_json(document) for document in taken.documents]
    if taken.refusal is None:
        return JsonResponse({"documents": documents})
    response = error_as_json(taken.refusal.shown(), _status_of(taken.refusal), documents=documents)
    return with_wait(response, taken.refusal)


def _status_of(refusal: Refused) -> HTTPStatus:
    return HTTPStatus.SERVICE_UNAVAILABLE if isinstance(refusal, StorageFailed) else status_of(refusal)


def _to_page(request: HttpRequest, taken: Taken, destination: Destination) -> HttpResponse:
    refused = [document for document in taken.documents if document.state == DocumentState.REFUSED]
    count = len(taken.documents) - len(refused)
    if count:
        said = ngettext(
            "%(count)s document uploaded. Sage will read it next.",
            "%(count)s documents uploaded. Sage will read them next.",
            count,
        )
        success(request, said % {"count": count})
    for document in refused:
        said = _("%(name)s wasn’t added. %(reason)s")
        warning(request, said % {"name": document.name, "reason": shown_reason(document.reason)})
    if taken.refusal:
        warning(request, taken.refusal.shown())
    return _back(destination, taken.documents)


def _unreadable(request: HttpRequest, words: str, destination: Destination | None = None) -> HttpResponse:
    if wants_json(request):
        return error_as_json(words, HTTPStatus.UNPROCESSABLE_ENTITY)
    warning(request, words)
    return _back(destination)


def _back(destination: Destination | None, documents: Sequence[Document] = ()) -> HttpResponse:
    """Redirect to the page of what the files were for; to a conversation with them for its next message."""
    address = reverse("library")
    if destination and destination.session_id:
        taken = [("documents", str(each.pk)) for each in documents if each.state != DocumentState.REFUSED]
        address = f"{reverse('session', args=[destination.session_id])}?{urlencode(taken)}"
    elif destination and destination.project:
        address = reverse("library_project", args=[destination.project.pk])
    elif destination:
        address = reverse("library_client", args=[destination.client.pk])
    response = HttpResponseRedirect(address)
    response.status_code = HTTPStatus.SEE_OTHER
    return response
