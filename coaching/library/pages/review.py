"""The review queue: accept what Sage suggests or say what it is, one by one or for all that are ticked."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.contrib.messages import get_messages, success, warning
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext_noop, ngettext
from django.views.decorators.http import require_http_methods

from coaching.library.documents.reviews import MAX_AT_ONCE, BulkOutcome, accept_reviews, correct_documents
from coaching.library.pages.forms import ids_in, seen_in
from coaching.library.pages.frame import frame_of, type_choices
from coaching.library.pages.text_pages import FIRST_PAGE
from coaching.library.pages.viewer import Viewer, has_viewer
from coaching.library.pipeline.confidence import is_sure_suggestion
from coaching.library.rows.documents import reviews_of, reviews_with_proposals, suggestions_of, with_texts
from coaching.models import Document
from coaching.people.accounts import user_id_of
from coaching.views.parts import back_to, page_in
from sessions_app.errors import Refused

REVIEWS_A_PAGE = 20
NOTHING_TICKED = gettext_noop("Select at least one document first.")
NONE_SURE = gettext_noop("These suggestions have changed since this page was loaded. Check them again.")
BESIDE = "beside"
"""Tag of a message that is shown beside the document that the URL names."""
NO_TYPE = gettext_noop("Choose a type first.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest) -> HttpResponse:
    """Show what waits for the person; a post decides on one or some documents (`do`)."""
    user_id = user_id_of(request)
    if request.method != "POST":
        return _page(request, user_id)
    following = _following(user_id, request.POST)
    try:
        outcome = _decide(request, user_id)
    except Refused as refusal:
        return _page(request, user_id, refusal=refusal.shown())
    if outcome.changed:
        count = len(outcome.changed)
        said = ngettext("%(count)s document filed.", "%(count)s documents filed.", count)
        success(request, said % {"count": count})
    beside = _refused_alone(user_id, request.POST, outcome)
    names = Document.of(user_id).in_bulk(list(outcome.refused))
    for document_id, reason in outcome.refused.items():
        tags = BESIDE if document_id == beside else ""
        warning(request, f"{names[document_id].name}: {reason.shown()}", extra_tags=tags)
    shown = beside or following
    if shown is None:
        return back_to("library_review")
    return back_to("library_review", f"?{urlencode({'document': shown})}#review-{shown}")


def _refused_alone(user_id: int, form: QueryDict, outcome: BulkOutcome) -> int | None:
    """Return the document that a form decides on if it was refused and still waits for a decision."""
    decided = _decided_alone(form)
    waits = reviews_of(user_id=user_id).filter(id__in=decided & outcome.refused.keys())
    return waits.values_list("id", flat=True).first()


def _decided_alone(form: QueryDict) -> set[int]:
    """Return the document that a form decides on; empty if it is about several."""
    return set(ids_in([form.get("accept") or form.get("correct") or ""]))


def _following(user_id: int, form: QueryDict) -> int | None:
    """Return the document after the one that a form decides on; None if there is none, or after several."""
    decided = _decided_alone(form)
    ids = list(reviews_of(user_id=user_id).values_list("id", flat=True)) if decided else []
    place = next((place for place, document_id in enumerate(ids) if document_id in decided), None)
    if place is None:
        return None
    return next(iter([*ids[place + 1 :], *ids[:place]]), None)


def _decide(request: HttpRequest, user_id: int) -> BulkOutcome:
    form = request.POST
    if one := form.get("accept"):
        return accept_reviews(user_id=user_id, document_ids=ids_in([one]))
    if one := form.get("correct"):
        return correct_documents(
            user_id=user_id,
            document_ids=ids_in([one]),
            file_type=form.get(f"file_type-{one}", ""),
            folder=form.get(f"folder-{one}", ""),
        )
    if form.get("do") == "accept-all":
        shown = suggestions_of(user_id=user_id).filter(id__in=ids_in(form.getlist("shown"))[:MAX_AT_ONCE])
        sure = [document.pk for document in shown if is_sure_suggestion(document)]
        if not sure:
            raise Refused(NONE_SURE)
        return accept_reviews(user_id=user_id, document_ids=sure, seen_at=seen_in(form))
    ticked = ids_in(form.getlist("document"))
    if not ticked:
        raise Refused(NOTHING_TICKED)
    if form.get("do") == "correct":
        if not form.get("file_type"):
            raise Refused(NO_TYPE)
        return correct_documents(
            user_id=user_id,
            document_ids=ticked,
            file_type=form["file_type"],
            folder=form.get("folder", ""),
        )
    return accept_reviews(user_id=user_id, document_ids=ticked)


def _page(request: HttpRequest, user_id: int, *, refusal: str = "") -> HttpResponse:
    rows = reviews_with_proposals(user_id=user_id)
    page = Paginator(rows, REVIEWS_A_PAGE).get_page(_page_of(request, user_id))
    viewer = _viewer(request, list(page.object_list), user_id=user_id)
    sure = [document for document in page.object_list if is_sure_suggestion(document)]
    said = list(get_messages(request))
    named = next((document.pk for document in page.object_list if document.pk in _named(request)), None)
    beside = [message for message in said if named and message.extra_tags == BESIDE]
    context = {
        **frame_of(request, "review", user_id=user_id),
        "messages": [message for message in said if message not in beside],
        "beside": beside,
        "named": named,
        "page": page,
        "sure": sure,
        "seen_at": max((document.updated_at for document in sure), default=None),
        "types": type_choices(),
        "refusal": refusal,
        "viewer": viewer,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "coaching/pages/library_review.html", context, status=status)


def _page_of(request: HttpRequest, user_id: int) -> int:
    """Return which page of the list has the document that a URL names, otherwise the one that it names."""
    named = _named(request)
    if not named:
        return page_in(request)
    ids = list(reviews_of(user_id=user_id).values_list("id", flat=True))
    return ids.index(named[0]) // REVIEWS_A_PAGE + 1 if named[0] in ids else 1


def _named(request: HttpRequest) -> Sequence[int]:
    """Return the document that a URL names, if it names one."""
    return ids_in([request.GET.get("document", "")])


def _viewer(request: HttpRequest, documents: Sequence[Any], *, user_id: int) -> Viewer | None:
    """Note which documents have an original to show; return its place for the named one, or the first."""
    texts = with_texts(documents, user_id=user_id)
    for document in documents:
        document.has_viewer = has_viewer(document, has_text=document.pk in texts)
    shown = [document for document in documents if document.has_viewer]
    named = _named(request)
    chosen = next((document for document in shown if document.pk in named), next(iter(shown), None))
    if chosen is None:
        return None
    return Viewer(document=chosen, chosen=FIRST_PAGE, count=max(chosen.page_count, 1))
