"""The original beside its facts: a document's page as an image, in which a chosen sentence is marked.

A document whose type has no pages to draw shows its text instead, a recording its player above that. One that
is withheld shows neither.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from coaching.files.errors import StorageFailed
from coaching.library.documents.drawn_pages import HIDDEN_STATES
from coaching.library.documents.facts import fact_key
from coaching.library.documents.page_marks import NO_MARKS, Marks, marks_of
from coaching.library.extractors.content_types import RECORDINGS
from coaching.library.pages.forms import ids_in
from coaching.library.pages.text_pages import FIRST_PAGE, Chosen, TextPage, has_text, surrounding, text_pages
from coaching.library.pipeline.page_images import has_pages, known_page, page_for
from coaching.library.pipeline.page_rendering import MEDIA_TYPE
from coaching.library.pipeline.turns import Busy
from coaching.library.rows.documents import document_with_text
from coaching.models import UNFINISHED_STATES, ActionItem, Document, DocumentPage, KnowledgeEntry
from coaching.people.accounts import user_id_of
from coaching.people.attempts import TooOften
from coaching.views.parts import or_404, status_of, with_wait
from sessions_app.database import in_database, in_database_page
from sessions_app.errors import Refused

CHOICES = ("fact", "entry", "step", "page")
MAX_NUMBER = 1_000_000
_MOMENT = re.compile(r"^\[(\d\d):(\d\d):(\d\d)\] ", re.MULTILINE | re.ASCII)
LINE_BEFORE = 2_000
"""How far before a mark its line begins at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """What the viewer shows. Without `is_loaded` only its place, which then loads the page."""

    document: Document
    chosen: Chosen
    count: int
    is_loaded: bool = False
    image: DocumentPage | None = None
    marks: Marks = NO_MARKS
    text: TextPage | None = None
    pages_read: Sequence[int] = ()
    refusal: Refused | None = None

    @property
    def has_pages(self) -> bool:
        """Return whether there is an image to show, at least an attempt at one."""
        return has_pages(self.document)

    @property
    def has_sound(self) -> bool:
        """Return whether the original is a recording that may be played, above its words."""
        document = self.document
        return document.content_type in RECORDINGS and not document.is_withheld and bool(document.storage_key)

    @property
    def begins_at(self) -> int:
        """The second of the recording at which the line with the mark begins."""
        if self.text is None or not self.text.text.mark:
            return 0
        found = _MOMENT.findall(self.text.text.before[-LINE_BEFORE:])
        return (
            sum(int(part) * unit for part, unit in zip(found[-1], (3600, 60, 1), strict=True)) if found else 0
        )

    @property
    def is_marked(self) -> bool:
        in_text = self.text is not None and bool(self.text.text.mark)
        return bool(self.marks.lines) or (in_text and self.image is None)

    @property
    def is_whole(self) -> bool:
        """Return whether all of the sentence is marked."""
        marks = self.text.text if self.text and self.image is None else self.marks
        return self.is_marked and marks.is_whole

    @property
    def previous(self) -> int:
        """The number of the page before; 0 if there is none."""
        return max((number for number in self._numbers if number < self.chosen.number), default=0)

    @property
    def next(self) -> int:
        """The number of the page after; 0 if there is none."""
        return min((number for number in self._numbers if number > self.chosen.number), default=0)

    @property
    def _numbers(self) -> Sequence[int]:
        """The pages that can be shown: of a type without images those whose text was read."""
        here = self.chosen.number
        around = [number for number in (here - 1, here + 1) if 1 <= number <= self.count]
        return around if has_pages(self.document) else self.pages_read


@login_required
@require_safe
async def viewer(request: HttpRequest, document_id: int) -> HttpResponse:
    """Show what was chosen, as a part of the document's page or of the review."""
    with or_404():
        document, chosen = await in_database(_asked, request, document_id)
        image, refusal = await _drawn(document, chosen)
        return await in_database_page(_part, request, document, chosen, image=image, refusal=refusal)


def _asked(request: HttpRequest, document_id: int) -> tuple[Document, Chosen]:
    document = document_with_text(user_id=user_id_of(request), document_id=document_id)
    if not has_viewer(document, has_text=has_text(document)):
        raise Document.DoesNotExist
    return document, chosen_in(request, document) or FIRST_PAGE


async def _drawn(document: Document, chosen: Chosen) -> tuple[DocumentPage | None, Refused | None]:
    """Return the page's image, or why there is none; neither for a type without pages."""
    if not has_pages(document):
        return None, None
    try:
        asked = {"user_id": document.user_id, "document_id": document.pk, "number": chosen.number}
        return await page_for(**asked, has_data=False), None
    except Refused as refusal:
        return None, refusal


def _part(
    request: HttpRequest,
    document: Document,
    chosen: Chosen,
    *,
    image: DocumentPage | None,
    refusal: Refused | None,
) -> HttpResponse:
    shown = viewer_of(document, chosen, text_pages(document, chosen), image=image, refusal=refusal)
    too_often = refusal if isinstance(refusal, TooOften) else None
    status = HTTPStatus.TOO_MANY_REQUESTS if too_often else HTTPStatus.OK
    response = render(request, "coaching/components/viewer.html", {"viewer": shown}, status=status)
    if too_often:
        response["HX-Retarget"] = "#viewer"
    return with_wait(response, too_often)


@login_required
@require_safe
async def page_image(request: HttpRequest, document_id: int, number: int) -> HttpResponse:
    """Send a page as an image. Without one, a sentence says why."""
    try:
        with or_404():
            page = await page_for(user_id=user_id_of(request), document_id=document_id, number=number)
    except Refused as refusal:
        is_passing = isinstance(refusal, Busy | StorageFailed)
        status = HTTPStatus.SERVICE_UNAVAILABLE if is_passing else status_of(refusal)
        response = HttpResponse(refusal.shown(), content_type="text/plain; charset=utf-8", status=status)
        return with_wait(response, refusal)
    return HttpResponse(
        bytes(page.data), content_type=MEDIA_TYPE, headers={"X-Content-Type-Options": "nosniff"}
    )


def has_viewer(document: Document, *, has_text: bool) -> bool:
    """Return whether there is an original to show: of a withheld document there is none."""
    is_hidden = document.is_withheld or document.state in (*UNFINISHED_STATES, *HIDDEN_STATES)
    return not is_hidden and bool(document.storage_key) and (has_pages(document) or has_text)


def chosen_in(request: HttpRequest, document: Document) -> Chosen | None:
    """Return what a URL chooses in a document; None for nothing, and for what isn't there any more.

    Raises `Http404` for what can't be chosen.
    """
    name = next((name for name in CHOICES if name in request.GET), None)
    if name is None:
        return None
    if name == "fact":
        return _fact(document, request.GET[name])
    numbers = ids_in([request.GET[name]])
    if not numbers or not numbers[0]:
        raise Http404
    (number,) = numbers
    quote, page = "", None
    if name == "page":
        page = number
    else:
        made = (KnowledgeEntry if name == "entry" else ActionItem).of(document.user_id)
        found = made.filter(id=number, document=document).values_list("quote", "page").first()
        if found is None:
            return None
        quote, page = found
    if (page or 1) > MAX_NUMBER:
        raise Http404
    return Chosen(query=f"{name}={number}", number=page or 1, quote=quote)


def _fact(document: Document, key: str) -> Chosen | None:
    fact = next((each for each in document.key_facts if fact_key(each) == key), None)
    if fact is None:
        return None
    return Chosen(query=f"fact={key}", number=fact.get("page") or 1, quote=fact.get("quote", ""))


def viewer_at_once(document: Document, chosen: Chosen | None, pages: Sequence[TextPage]) -> Viewer:
    """Return a viewer with what is there without drawing; otherwise its place, which then loads it.

    `pages` are the document's text, with what was chosen in it.
    """
    wanted = chosen or FIRST_PAGE
    place = Viewer(document=document, chosen=wanted, count=max(document.page_count, 1))
    if not has_pages(document):
        return viewer_of(document, wanted, pages)
    try:
        asked = {"user_id": document.user_id, "document_id": document.pk, "number": wanted.number}
        image = known_page(**asked, has_data=False)
    except Refused as refusal:
        return viewer_of(document, wanted, pages, refusal=refusal)
    return viewer_of(document, wanted, pages, image=image) if image else place


def viewer_of(
    document: Document,
    chosen: Chosen,
    pages: Sequence[TextPage],
    *,
    image: DocumentPage | None = None,
    refusal: Refused | None = None,
) -> Viewer:
    """Return a viewer of an image or a text. Raises `Document.DoesNotExist` for a text that isn't there."""
    text = next((page for page in pages if page.number == chosen.number), None)
    if not has_pages(document):
        text = text or (pages[0] if chosen is FIRST_PAGE else None)
        if text is None:
            raise Document.DoesNotExist
        text = TextPage(number=text.number, text=surrounding(text.text))
    return Viewer(
        document=document,
        chosen=chosen,
        count=max(document.page_count, image.page_count if image else 0, 1),
        is_loaded=True,
        image=image,
        marks=marks_of(image.words, chosen.quote) if image and chosen.quote else NO_MARKS,
        text=text,
        pages_read=[page.number for page in pages],
        refusal=refusal,
    )
