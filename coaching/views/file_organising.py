"""New files, names of people's own, deleting and restoring: plain forms that redirect."""

import uuid
from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.messages import error, success
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from coaching.files.drafts import MAX_CONTENT_CHARACTERS
from coaching.files.errors import StorageFailed
from coaching.files.organising import (
    KEPT_DAYS,
    MAX_TITLE_CHARACTERS,
    create_note,
    delete_file,
    read_deleted,
    rename_file,
    restore_file,
)
from coaching.people.accounts import load_profile, user_id_of
from coaching.views.files import FileRow
from coaching.views.parts import or_404, page_in, status_of
from sessions_app.errors import Refused
from sessions_app.text import check_client_id

DELETED_A_PAGE = 100
UNSTORABLE = gettext_lazy(
    "The name or the text has a character that can’t be stored. Please remove it and save again."
)


class NoteForm(forms.Form):
    """A new note; the service has the limits."""

    title = forms.CharField(
        required=False,
        label=gettext_lazy("Name"),
        strip=False,
        widget=forms.TextInput(
            attrs={"maxlength": MAX_TITLE_CHARACTERS, "required": True, "dir": "auto", "autocomplete": "off"}
        ),
    )
    body = forms.CharField(
        required=False,
        label=gettext_lazy("Text"),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "dir": "auto"}),
    )

    # Of the form, so that pressing Save twice makes one note.
    id = forms.CharField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="note-%s")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_file(request: HttpRequest) -> HttpResponse:
    """Show the form of a new note, or store it and show its page. What was typed stays after a refusal."""
    form = NoteForm(request.POST or None)
    refusal, status = "", HTTPStatus.OK
    if request.method == "POST":
        try:
            if not form.is_valid():
                raise Refused(str(UNSTORABLE))
            file = create_note(
                user_id=user_id_of(request),
                title=form.cleaned_data["title"],
                content=form.cleaned_data["body"],
                now=timezone.now(),
                timezone=load_profile(request).zone,
                client_id=check_client_id(form.cleaned_data["id"]),
            )
        except StorageFailed as failed:
            refusal, status = failed.shown(), HTTPStatus.SERVICE_UNAVAILABLE
        except Refused as refused:
            refusal, status = refused.shown(), status_of(refused)
        else:
            success(request, _("Saved. Sage can find it when you refer to it."))
            return _see(reverse("file", args=[file.path]))
    context = {
        "here": "files",
        "form": form,
        "refusal": refusal,
        "most_in_words": number_format(MAX_CONTENT_CHARACTERS, force_grouping=True),
    }
    return render(request, "coaching/pages/file_new.html", context, status=status)


@login_required
@require_POST
def rename(request: HttpRequest, path: str) -> HttpResponse:
    """Give a file another name, and go back to its page."""
    try:
        with or_404():
            rename_file(user_id=user_id_of(request), path=path, title=request.POST.get("title", ""))
    except Refused as refused:
        error(request, refused.shown())
    else:
        success(request, _("Renamed."))
    return _see(reverse("file", args=[path]))


@login_required
@require_POST
def delete(request: HttpRequest, path: str) -> HttpResponse:
    """Delete a file, and show the files with a way to undo it."""
    with or_404():
        file = delete_file(user_id=user_id_of(request), path=path, now=timezone.now())
    return _see(f"{reverse('files')}?{urlencode({'deleted': file.pk})}")


@login_required
@require_safe
def deleted(request: HttpRequest) -> HttpResponse:
    number = page_in(request)
    found = read_deleted(
        user_id=user_id_of(request), limit=DELETED_A_PAGE + 1, before=(number - 1) * DELETED_A_PAGE
    )
    if number > 1 and not found:
        raise Http404
    context = {
        "here": "files",
        "zone": load_profile(request).zone,
        "rows": [(file.pk, FileRow.of(file), file.deleted_at) for file in found[:DELETED_A_PAGE]],
        "newer_page": number - 1,
        "older_page": number + 1 if len(found) > DELETED_A_PAGE else 0,
        "kept_days": KEPT_DAYS,
    }
    return render(request, "coaching/pages/files_deleted.html", context)


@login_required
@require_POST
def restore_deleted(request: HttpRequest, file_id: int) -> HttpResponse:
    user_id, zone = user_id_of(request), load_profile(request).zone
    try:
        with or_404():
            file = restore_file(user_id=user_id, file_id=file_id, now=timezone.now(), timezone=zone)
    except Refused as refused:
        error(request, refused.shown())
        return _see(reverse("deleted_files"))
    success(request, _("Restored."))
    return _see(reverse("file", args=[file.path]))


def _see(address: str) -> HttpResponse:
    response = redirect(address)
    response.status_code = HTTPStatus.SEE_OTHER
    return response
