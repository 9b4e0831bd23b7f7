"""Downloads of documents, and undoing one change in the library."""

import re
from collections.abc import AsyncIterator
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success, warning
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from coaching.downloads.zip_stream import safe_name
from coaching.files.errors import StorageFailed
from coaching.files.objects import stream_object
from coaching.library.documents import undoing
from coaching.library.documents.filing import read_download
from coaching.library.extractors.content_types import RECORDINGS
from coaching.models import Document, LibraryEffect
from coaching.people.accounts import user_id_of
from coaching.views.parts import back_to, or_404
from sessions_app.database import in_database
from sessions_app.errors import Refused

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
NOT_READ = gettext_lazy("Sage couldn’t get the file right now. Try again in a minute.")
LOST = gettext_lazy(
    "This file was lost. What Sage had read of it is still here. If you have the file, upload it again."
)


@login_required
@require_safe
async def file(request: HttpRequest, document_id: int) -> HttpResponseBase:
    """Send a document as it was uploaded, for saving and never for showing."""
    with or_404():
        try:
            found = await in_database(read_download, user_id=user_id_of(request), document_id=document_id)
        except Refused:  # it was refused unread
            raise Http404 from None
    pieces = stream_object(found.storage_key)
    try:
        first = await anext(pieces, b"")
    except StorageFailed:
        warning(request, str(LOST if found.is_lost else NOT_READ))
        return back_to("library_document", of=document_id)
    disposition = content_disposition_header(as_attachment=True, filename=safe_name(found.name))
    return StreamingHttpResponse(
        _all_of(first, pieces),
        content_type="application/octet-stream",
        headers={
            "Content-Disposition": disposition or "attachment",
            "Content-Length": str(found.size),
            "X-Content-Type-Options": "nosniff",
        },
    )


@login_required
@require_safe
async def recording(request: HttpRequest, document_id: int) -> HttpResponse:
    """Send a recording to be played, or the part of it that a player asks for."""
    with or_404():
        found = await in_database(_recording_of, user_id_of(request), document_id)
    try:
        data = b"".join([piece async for piece in stream_object(found.storage_key or "")])
    except StorageFailed:
        status = HTTPStatus.SERVICE_UNAVAILABLE
        return HttpResponse(str(NOT_READ), content_type="text/plain; charset=utf-8", status=status)
    return _played(data, found.content_type, request.headers.get("Range", ""))


def _recording_of(user_id: int, document_id: int) -> Document:
    rows = Document.of(user_id).filter(content_type__in=RECORDINGS, is_withheld=False)
    return rows.exclude(storage_key=None).only("storage_key", "content_type").get(id=document_id)


def _played(data: bytes, content_type: str, asked: str) -> HttpResponse:
    headers = {"Accept-Ranges": "bytes", "X-Content-Type-Options": "nosniff"}
    part = _RANGE.fullmatch(asked)
    if part is None or not (part[1] or part[2]):  # several parts: all is a right answer, too
        return HttpResponse(data, content_type=content_type, headers=headers)
    size = len(data)
    first = int(part[1]) if part[1] else max(0, size - int(part[2]))
    last = min(size - 1, int(part[2])) if part[1] and part[2] else size - 1
    if first > last:
        status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        return HttpResponse(status=status, headers={**headers, "Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return HttpResponse(
        data[first : last + 1], content_type=content_type, status=HTTPStatus.PARTIAL_CONTENT, headers=headers
    )


async def _all_of(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


@login_required
@require_POST
def undo_effect(request: HttpRequest, effect_id: int) -> HttpResponse:
    """Undo a change, and return to what it changed."""
    user_id = user_id_of(request)
    with or_404():
        effect = LibraryEffect.of(user_id).get(id=effect_id)
    try:
        with or_404():
            undoing.undo_effect(user_id=user_id, effect_id=effect_id)
    except Refused as refusal:
        warning(request, refusal.shown())
    else:
        success(request, _("Undone."))
    if effect.document_id:
        return back_to("library_document", of=effect.document_id)
    return back_to("library_actions" if effect.action_item_id else "library_knowledge")
