"""Downloads of everything: people confirm first that it is them, and the download they chose begins then.

Allauth would repeat a suspended POST, but only of a view that isn't async, and it would leave the browser on
the page that asked for the password. So people come back by way of a page that starts the download.
"""

from collections.abc import Sequence
from typing import Literal, cast

from allauth.account.adapter import get_adapter
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from coaching.people.accounts import user_id_of
from coaching.people.allauth_internals import needs_confirmation

Download = Literal["everything", "files", "versions"]

TOKEN_SECONDS = 900
_SALT = "confirmed download"


def ask_who_it_is(request: HttpRequest, download: Download, files: Sequence[int] = ()) -> HttpResponse | None:
    """Return a redirect to the page that asks for a password, passkey or code; None if they just gave it.

    `files` are the ids of those that they selected.
    """
    if not needs_confirmation(request):
        return None
    query = [("download", _token(request, download)), *(("file", str(file)) for file in files)]
    begin = f"{reverse('download_begins')}?{urlencode(query)}"
    methods = get_adapter().get_reauthentication_methods(request.user)
    return redirect(f"{methods[0]['url']}?{urlencode({'next': begin})}")


def is_chosen(request: HttpRequest, download: Download) -> bool:
    """Return whether the person chose this download by a form a few minutes ago."""
    return _chosen(request) == download


@login_required
@require_safe
def download_begins(request: HttpRequest) -> HttpResponse:
    """Start the download that the person chose before they confirmed that it is them."""
    download = _chosen(request)
    if download is None:
        return redirect("data")
    if download == "everything":
        url = f"{reverse('export')}?{request.GET.urlencode()}"
    else:
        query = {"file": request.GET.getlist("file")}
        if download == "versions":
            query["versions"] = ["all"]
        url = f"{reverse('file_archive')}?{urlencode(query, doseq=True)}".removesuffix("?")
    back = "data" if download == "everything" else "files"
    return render(request, "coaching/pages/download_begins.html", {"url": url, "back": reverse(back)})


def _token(request: HttpRequest, download: Download) -> str:
    return signing.dumps([user_id_of(request), download], salt=_SALT)


def _chosen(request: HttpRequest) -> Download | None:
    try:
        user_id, download = signing.loads(request.GET.get("download", ""), salt=_SALT, max_age=TOKEN_SECONDS)
    except signing.BadSignature:
        return None
    return cast("Download", download) if user_id == user_id_of(request) else None
