"""Photos of the journal: adding them to a day, one photo with its description, and its image.

Each file of an upload becomes a photo or a sentence why not, and the others go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import info, success, warning
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from coaching.files.errors import StorageFailed
from coaching.files.objects import stream_object
from coaching.library.pipeline.page_rendering import MEDIA_TYPE
from coaching.library.pipeline.photos import PhotosBusy, prepare_photo, source_hash
from coaching.life.photos import (
    MAX_OF_A_DAY,
    ShownPhoto,
    check_day,
    delete_photo,
    describe_photo,
    find_photo,
    keep_photo,
    read_photo,
)
from coaching.models import Photo
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.danger_scans import danger_in_now
from coaching.people.help_lines import count_card
from coaching.safety.card import Card
from coaching.sandbox.limits import MEGABYTE
from coaching.views.capture_cards import capture_card, leave_card
from coaching.views.conversation_page import counted
from coaching.views.days import past_day_in, today_of
from coaching.views.parts import or_404, status_of, with_wait
from coaching.views.programs import error_as_json, login_or_401, wants_json
from sessions_app.database import in_database, in_database_page
from sessions_app.errors import Refused

"""As file managers count."""
TOO_LARGE = gettext_noop("This photo has %(size)s MB. The limit is %(most)s MB.")
EMPTY = gettext_noop("This file is empty.")
TOO_MANY = gettext_noop("You can add up to %(most)s photos at a time. Add the others when these are done.")
NO_FILE = gettext_lazy("Choose at least one photo.")
SAVED = gettext_lazy("Saved.")
DELETED = gettext_lazy("The photo was deleted.")
NOT_READ = gettext_lazy("Sage couldn’t get the file right now. Try again in a minute.")
NO_SNIFF = {"X-Content-Type-Options": "nosniff"}


class DescriptionForm(forms.Form):
    """What a photo shows, in the person's words."""

    description = forms.CharField(
        label=gettext_lazy("What it shows"),
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Read aloud to people who can’t see the photo, and shown below it."),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of a file: a new photo, one that was there before, or why it is none."""

    photo: Photo | None = None
    is_new: bool = False
    refusal: Refused | None = None

    @property
    def sentence(self) -> str:
        """Why nothing was added; empty for a new photo."""
        if self.refusal is not None:
            return self.refusal.shown()
        return "" if self.is_new else _known_already(self.photo)


@login_or_401
@require_POST
async def add_photos(request: HttpRequest) -> HttpResponse:
    """Add photos to a day, and answer with them or with the day's page."""
    profile = await in_database(load_profile, request)
    day = past_day_in(request.POST.get("day", ""), today_of(profile))
    files = [file for _, sent in request.FILES.lists() for file in sent]
    added = [await _add(profile.user_id, day, file) for file in files[:MAX_OF_A_DAY]]
    added += [Added(refusal=Refused(TOO_MANY, most=MAX_OF_A_DAY)) for _ in files[MAX_OF_A_DAY:]]
    if wants_json(request):
        return _as_json(added)
    return await in_database_page(_to_page, request, added, day)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def photo(request: HttpRequest, photo_id: int) -> HttpResponse:
    """Show a photo; a POST stores its description."""
    profile = load_profile(request)
    user_id = profile.user_id
    with or_404():
        found, of_day = read_photo(user_id=user_id, photo_id=photo_id)
    if request.method != "POST":
        form = DescriptionForm(initial={"description": found.description})
        return _photo_page(request, found, of_day, form)
    form = DescriptionForm(request.POST)
    danger = danger_in_now(request.POST.get("description", ""), user_id=user_id)
    if not form.is_valid():
        card = counted(capture_card(profile, danger))
        return _photo_page(request, found, of_day, form, card, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    words, now = form.cleaned_data["description"], timezone.now()
    with or_404():
        describe_photo(user_id=user_id, photo_id=photo_id, description=words, danger=danger, now=now)
    if danger is not None:
        count_card(danger.level, now=now)
    leave_card(request, danger)
    info(request, SAVED)
    return _to_day(found.day, f"#photo-{found.id}")


@login_required
@require_POST
def delete(request: HttpRequest, photo_id: int) -> HttpResponse:
    """Delete a photo for good."""
    with or_404():
        day = delete_photo(user_id=user_id_of(request), photo_id=photo_id)
    success(request, DELETED)
    return _to_day(day, "#photos")


@login_required
@require_safe
async def photo_image(request: HttpRequest, photo_id: int) -> HttpResponse:
    """Send a photo as an image."""
    with or_404():
        key = await in_database(_key_of, user_id_of(request), photo_id)
    try:
        data = b"".join([piece async for piece in stream_object(key)])
    except StorageFailed:
        status = HTTPStatus.SERVICE_UNAVAILABLE
        return HttpResponse(str(NOT_READ), content_type="text/plain; charset=utf-8", status=status)
    return HttpResponse(data, content_type=MEDIA_TYPE, headers=NO_SNIFF)


@login_required
@require_safe
def thumbnail(request: HttpRequest, photo_id: int) -> HttpResponse:
    """Send a photo as a small image."""
    with or_404():
        data = Photo.of(user_id_of(request)).values_list("thumbnail", flat=True).get(id=photo_id)
    return HttpResponse(bytes(data), content_type=MEDIA_TYPE, headers=NO_SNIFF)


async def _add(user_id: int, day: date, file: "UploadedFile[Any]") -> Added:
    try:
        found = await in_database_page(_read_file, user_id, day, file)
        if isinstance(found, Photo):
            return Added(photo=found)
        new = await prepare_photo(found, user_id=user_id)
        photo, is_new = await in_database_page(keep_photo, user_id=user_id, day=day, new=new)
    except Refused as refusal:
        return Added(refusal=refusal)
    return Added(photo=photo, is_new=is_new)


def _read_file(user_id: int, day: date, file: "UploadedFile[Any]") -> bytes | Photo:
    """Return what was uploaded, or the photo that was made of it before. Raises `Refused`."""
    size, most = file.size or 0, settings.SAGE_MAX_UPLOAD_MB
    if not size:
        raise Refused(EMPTY)
    if size > most * MEGABYTE:
        raise Refused(TOO_LARGE, size=size / MEGABYTE, most=most)
    data: bytes = file.read()
    if known := find_photo(user_id=user_id, source_sha256=source_hash(data)):
        return known
    check_day(user_id=user_id, day=day)
    return data


def _as_json(added: Sequence[Added]) -> HttpResponse:
    """Return an entry for each file, in order; the status and the error are those of the first refusal."""
    if not added:
        return error_as_json(str(NO_FILE), HTTPStatus.UNPROCESSABLE_ENTITY)
    photos = [_entry(each) for each in added]
    refusal = next((each.refusal for each in added if each.refusal is not None), None)
    if refusal is None:
        return JsonResponse({"photos": photos})
    is_passing = isinstance(refusal, StorageFailed | PhotosBusy)
    status = HTTPStatus.SERVICE_UNAVAILABLE if is_passing else status_of(refusal)
    return with_wait(error_as_json(refusal.shown(), status, photos=photos), refusal)


def _entry(added: Added) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    if added.photo is not None:
        entry |= {"id": added.photo.pk, "day": added.photo.day.isoformat()}
    if added.is_new:
        return entry | {"state": "added"}
    return entry | {"state": "refused", "reason": added.sentence}


def _to_page(request: HttpRequest, added: Sequence[Added], day: date) -> HttpResponse:
    if not added:
        warning(request, NO_FILE)
    if count := sum(each.is_new for each in added):
        success(
            request, ngettext("%(count)s photo added.", "%(count)s photos added.", count) % {"count": count}
        )
    for sentence in dict.fromkeys(each.sentence for each in added if not each.is_new):
        warning(request, sentence)
    return _to_day(day, "#photos")


def _known_already(photo: Photo | None) -> str:
    assert photo is not None
    said = _("You already have this photo. It’s on %(day)s.")
    return said % {"day": date_format(photo.day, "DATE_FORMAT")}


def _photo_page(
    request: HttpRequest,
    found: ShownPhoto,
    of_day: Sequence[ShownPhoto],
    form: DescriptionForm,
    card: Card | None = None,
    *,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    place = of_day.index(found)
    context = {
        "here": "journal",
        "photo": found,
        "form": form,
        "card": card,
        "before": of_day[place - 1] if place else None,
        "after": of_day[place + 1] if place + 1 < len(of_day) else None,
    }
    return render(request, "coaching/pages/photo.html", context, status=status)


def _key_of(user_id: int, photo_id: int) -> str:
    key: str = Photo.of(user_id).values_list("storage_key", flat=True).get(id=photo_id)
    return key


def _to_day(day: date, anchor: str) -> HttpResponse:
    response = HttpResponseRedirect(reverse("journal_day", args=[day.isoformat()]) + anchor)
    response.status_code = HTTPStatus.SEE_OTHER
    return response
