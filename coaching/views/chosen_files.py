"""Files that a person selected together: deleted, with a way back, or downloaded as one archive."""

from collections.abc import Sequence
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import error, success
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from coaching.files.organising import delete_files, restore_file
from coaching.models import UserFile
from coaching.people.accounts import load_profile, user_id_of
from sessions_app.errors import Refused

MOST_CHOSEN = 200
_MOST_DIGITS = 18


def ids_in(values: Sequence[str]) -> list[int]:
    """Return the ids among what a request says, each once, at most `MOST_CHOSEN`."""
    ids = (int(text) for text in values if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS)
    return list(dict.fromkeys(ids))[:MOST_CHOSEN]


@login_required
@require_POST
def chosen(request: HttpRequest) -> HttpResponse:
    """Do with the selected files what the pressed button says: `do` is `delete` or `download`."""
    user_id, ids, do = user_id_of(request), ids_in(request.POST.getlist("file")), request.POST.get("do")
    if do == "delete" and (gone := delete_files(user_id=user_id, ids=ids, now=timezone.now())):
        return _see(f"{reverse('files')}?{urlencode({'deleted': gone}, doseq=True)}")
    present = list(UserFile.of(user_id).filter(pk__in=ids).values_list("pk", flat=True))
    if not present:
        error(request, _("Those files are gone already.") if ids else _("Select one or more files first."))
        return _see(f"{reverse('files')}?select=1")
    if do == "download":
        return _see(f"{reverse('file_archive')}?{urlencode({'file': present}, doseq=True)}")
    return _see(reverse("files"))


@login_required
@require_POST
def restore_chosen(request: HttpRequest) -> HttpResponse:
    """Undo a deletion of several files. Those that are there again, or gone for good, are left out."""
    user_id, zone = user_id_of(request), load_profile(request).zone
    restored = 0
    for file_id in ids_in(request.POST.getlist("file")):
        try:
            restore_file(user_id=user_id, file_id=file_id, now=timezone.now(), timezone=zone)
        except UserFile.DoesNotExist:
            continue
        except Refused as refused:
            error(request, refused.shown())
        else:
            restored += 1
    if restored:
        said = ngettext("%(count)s file restored.", "%(count)s files restored.", restored)
        success(request, said % {"count": restored})
    return _see(reverse("files"))


def _see(address: str) -> HttpResponse:
    response = redirect(address)
    response.status_code = HTTPStatus.SEE_OTHER
    return response
