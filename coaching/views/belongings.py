"""What belongs to a person: taken along as one archive, or removed with the account."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import cast
from weakref import WeakValueDictionary

import structlog
from allauth.core import ratelimit
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.messages import info
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from coaching.belongings.archive import archive_name, stream_archive
from coaching.belongings.removal import begin_removal
from coaching.forms import DeleteAccountForm

logger = structlog.get_logger(__name__)

TOO_OFTEN = "That was tried too often. Wait a minute, then try again."
_exporting: WeakValueDictionary[int, "_Sending"] = WeakValueDictionary()
"""The archives that this process is sending, by whose they are."""


@login_required
@require_POST
async def export(request: HttpRequest) -> HttpResponseBase:
    """Send everything that Sage keeps of the person, as a zip; one at a time."""
    user = cast("User", await request.auser())
    if user.pk in _exporting:
        info(request, "Your archive is on its way already. Wait until it is here, then ask again.")
        return redirect("settings")
    now = timezone.now()
    response = StreamingHttpResponse(_Sending(user), content_type="application/zip")
    response["Content-Disposition"] = (
        content_disposition_header(as_attachment=True, filename=f"{archive_name(now)}.zip") or "attachment"
    )
    response["Cache-Control"] = "no-store"
    return response


@sensitive_post_parameters("password")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete_account(request: HttpRequest) -> HttpResponse:
    """Say what goes with the account; asked for in earnest, close it and have everything removed."""
    user = cast("User", request.user)
    if request.method != "POST":
        return _delete_page(request, DeleteAccountForm(user=user))
    # Here a password can be guessed at, as where one signs in: the same limit holds.
    if not ratelimit.consume(request, action="reauthenticate", user=user):
        form = DeleteAccountForm(user=user)
        return _delete_page(request, form, refusal=TOO_OFTEN, status=HTTPStatus.TOO_MANY_REQUESTS)
    form = DeleteAccountForm(request.POST, user=user)
    if not form.is_valid():
        return _delete_page(request, form, status=HTTPStatus.BAD_REQUEST)
    begin_removal(user_id=user.pk)
    logger.info("account_closed", user_id=user.pk)
    logout(request)
    return redirect("goodbye")


@require_safe
def goodbye(request: HttpRequest) -> HttpResponse:
    """Say what is happening to somebody whose account is closed, and who is nobody here any more."""
    if request.user.is_authenticated:
        return redirect("home")
    return render(request, "coaching/pages/goodbye.html")


def _delete_page(
    request: HttpRequest, form: DeleteAccountForm, *, refusal: str = "", status: int = HTTPStatus.OK
) -> HttpResponse:
    context = {"here": "settings", "form": form, "refusal": refusal}
    return render(request, "coaching/pages/delete_account.html", context, status=status)


class _Sending:
    """A person's archive while it is sent.

    Django closes it when the response is over, but not where making the archive failed, or where nobody was
    there any more to send it to: so it counts for as long as it is held, and no failure locks its person out.
    """

    def __init__(self, user: User) -> None:
        self._user_id = user.pk
        self._pieces = stream_archive(user, now=timezone.now())
        _exporting[user.pk] = self

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._pieces:
                yield piece
        finally:
            self.close()

    def close(self) -> None:
        if _exporting.get(self._user_id) is self:
            del _exporting[self._user_id]
