"""What belongs to a person: taken along as one archive, or removed with the account."""

from collections.abc import AsyncIterator
from typing import cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.messages import info
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST

from coaching.belongings.archive import archive_name, stream_archive

_exporting: set[int] = set()
"""Whose archive this process is sending."""


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


class _Sending:
    """A person's archive while it is sent. Django closes it when the response is over, however it ends."""

    def __init__(self, user: User) -> None:
        self._user_id = user.pk
        self._pieces = stream_archive(user, now=timezone.now())
        _exporting.add(user.pk)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    def close(self) -> None:
        _exporting.discard(self._user_id)
