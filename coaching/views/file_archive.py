"""All files of a person, or those that they selected, as one download."""

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET

from coaching.clock.days import local_day
from coaching.downloads.allowance import begin_download
from coaching.downloads.zip_stream import send_pieces, write_zip
from coaching.files.archive import read_file_entries
from coaching.models import UserFile
from coaching.people.accounts import load_profile, user_id_of
from coaching.views.chosen_files import ids_in
from coaching.views.confirmed_downloads import Download, ask_who_it_is
from sessions_app.database import in_database
from sessions_app.errors import Refused


@login_required
@require_GET
async def archive(request: HttpRequest) -> HttpResponseBase:
    """Send the person's files as a zip, one at a time; with `versions=all` the older versions, too.

    `file` names those to send, by their ids; without it, all are. The person confirms first that it is
    them, as for all their data.
    """
    user_id = user_id_of(request)
    chosen = ids_in(request.GET.getlist("file")) if "file" in request.GET else None
    if chosen is not None and not await in_database(UserFile.of(user_id).filter(pk__in=chosen).exists):
        raise Http404
    has_versions = request.GET.get("versions") == "all"
    wanted: Download = "versions" if has_versions else "files"
    if asked := await in_database(ask_who_it_is, request, wanted, chosen or ()):
        return asked
    profile = await in_database(load_profile, request)
    name = f"sage-files-{local_day(timezone.now(), profile.zone)}"
    entries = read_file_entries(user_id=user_id, has_versions=has_versions, chosen=chosen)
    pieces = send_pieces(write_zip(entries, folder=name, zone=profile.zone))
    try:
        download = begin_download(user_id=user_id, pieces=pieces)
    except Refused as refusal:
        info(request, refusal.shown())
        return redirect("files")
    return StreamingHttpResponse(
        download,
        content_type="application/zip",
        headers={
            "Content-Disposition": f'attachment; filename="{name}.zip"',
            "X-Content-Type-Options": "nosniff",
        },
    )
