"""The review queue: accept what Sage suggests or say what it is, one by one or for all that are ticked."""

from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success, warning
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_noop, ngettext
from django.views.decorators.http import require_http_methods

from coaching.library.documents.reviews import MAX_AT_ONCE, BulkOutcome, accept_reviews, correct_documents
from coaching.library.pages.forms import ids_in, seen_in
from coaching.library.pages.frame import frame_of
from coaching.library.pipeline.confidence import is_sure_suggestion
from coaching.library.rows.documents import reviews_with_proposals, suggestions_of
from coaching.library.rows.folders import reference_choices
from coaching.models import Document
from coaching.people.accounts import user_id_of
from coaching.views.parts import back_to, page_in
from sessions_app.errors import Refused

REVIEWS_A_PAGE = 20
NOTHING_TICKED = gettext_noop("Select at least one document first.")
NONE_SURE = gettext_noop("These suggestions have changed since this page was loaded. Check them again.")
NO_TYPE = gettext_noop("Choose a type first.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest) -> HttpResponse:
    """Show what waits for the person; a post decides on one or some documents (`do`)."""
    user_id = user_id_of(request)
    if request.method != "POST":
        return _page(request, user_id)
    try:
        outcome = _decide(request, user_id)
    except Refused as refusal:
        return _page(request, user_id, refusal=refusal.shown())
    if outcome.changed:
        count = len(outcome.changed)
        said = ngettext("%(count)s document filed.", "%(count)s documents filed.", count)
        success(request, said % {"count": count})
    names = Document.of(user_id).in_bulk(list(outcome.refused))
    for document_id, reason in outcome.refused.items():
        warning(request, f"{names[document_id].name}: {reason.shown()}")
    return back_to("library_review")


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
    page = Paginator(rows, REVIEWS_A_PAGE).get_page(page_in(request))
    sure = [document for document in page.object_list if is_sure_suggestion(document)]
    context = {
        **frame_of(request, "review", user_id=user_id),
        "page": page,
        "sure": sure,
        "seen_at": max((document.updated_at for document in sure), default=None),
        "types": reference_choices(),
        "refusal": refusal,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "coaching/pages/library_review.html", context, status=status)
