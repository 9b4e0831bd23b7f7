"""Export of a person's data, and deletion of their account."""

from http import HTTPStatus
from typing import cast

import structlog
from allauth.core import ratelimit
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.messages import info
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from coaching.downloads.allowance import begin_download
from coaching.people.accounts import is_last_superuser, load_profile
from coaching.personal_data.archive import archive_name, stream_archive
from coaching.personal_data.removal import begin_removal
from coaching.views.confirmed_downloads import ask_who_it_is, is_chosen
from coaching.views.forms import DeleteAccountForm
from sessions_app.database import in_database
from sessions_app.errors import Refused

logger = structlog.get_logger(__name__)

TOO_OFTEN = gettext_lazy("Too many attempts. Wait a minute, then try again.")


@login_required
@require_http_methods(["GET", "POST"])
async def export(request: HttpRequest) -> HttpResponseBase:
    """Send all of the person's data as a zip, one at a time, once they confirmed that it is them.

    Chosen by a form; a GET is the way back from the page that asked for their password.
    """
    if request.method != "POST" and not is_chosen(request, "everything"):
        return redirect("data")
    if asked := await in_database(ask_who_it_is, request, "everything"):
        return asked
    user = cast("User", request.user)
    now = timezone.now()
    profile = await in_database(load_profile, request)
    try:
        download = begin_download(user_id=user.pk, pieces=stream_archive(user, now=now))
    except Refused as refusal:
        info(request, refusal.shown())
        return redirect("data")
    response = StreamingHttpResponse(download, content_type="application/zip")
    name = f"{archive_name(now, profile.zone)}.zip"
    response["Content-Disposition"] = (
        content_disposition_header(as_attachment=True, filename=name) or "attachment"
    )
    return response


@sensitive_post_parameters("password")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete_account(request: HttpRequest) -> HttpResponse:
    """Show what deleting the account removes; once confirmed, close it and queue the removal."""
    user = cast("User", request.user)
    if request.method != "POST":
        return _delete_page(request, DeleteAccountForm(user=user))
    # Passwords could be guessed here as at sign-in, so the same limit applies.
    if not ratelimit.consume(request, action="reauthenticate", user=user):
        form = DeleteAccountForm(user=user)
        return _delete_page(request, form, refusal=str(TOO_OFTEN), status=HTTPStatus.TOO_MANY_REQUESTS)
    form = DeleteAccountForm(request.POST, user=user)
    if not form.is_valid():
        return _delete_page(request, form, status=HTTPStatus.BAD_REQUEST)
    begin_removal(user_id=user.pk)
    logger.info("account_closed", user_id=user.pk)
    logout(request)
    return redirect("goodbye")


@require_safe
def goodbye(request: HttpRequest) -> HttpResponse:
    """Explain the deletion to somebody whose account is closed and who is signed out."""
    if request.user.is_authenticated:
        return redirect("home")
    return render(request, "coaching/pages/goodbye.html")


def _delete_page(
    request: HttpRequest, form: DeleteAccountForm, *, refusal: str = "", status: int = HTTPStatus.OK
) -> HttpResponse:
    context = {
        "here": "settings",
        "form": form,
        "refusal": refusal,
        "has_daily_backups": bool(settings.SAGE_BACKUP_DIR),
        "is_last_superuser": is_last_superuser(cast("User", request.user)),
    }
    return render(request, "coaching/pages/delete_account.html", context, status=status)
