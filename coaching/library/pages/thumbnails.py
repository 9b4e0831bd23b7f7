"""Small pictures in conversations."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from coaching.library.pipeline.thumbnails import thumbnail_for
from coaching.people.accounts import user_id_of
from coaching.views.parts import or_404


@login_required
@require_safe
async def thumbnail(request: HttpRequest, document_id: int) -> HttpResponse:
    """Send a document that is a picture as a small image."""
    with or_404():
        data, media_type = await thumbnail_for(user_id=user_id_of(request), document_id=document_id)
    return HttpResponse(data, content_type=media_type, headers={"X-Content-Type-Options": "nosniff"})
