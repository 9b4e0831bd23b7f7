"""Search over everything that the person and Sage said and wrote. The words are stored and logged nowhere."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_safe

from coaching.models import RecallSource
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.attempts import TooOften
from coaching.recall.question import MAX_CHARACTERS
from coaching.recall.search import Bounds
from coaching.views.hits import LIBRARY_SOURCES, Found, found_rows, rows_in_conversation, searches
from coaching.views.parts import or_404, with_wait
from sessions_app.models import Session

PLACES: Mapping[str, tuple[str, Sequence[RecallSource]]] = {
    "": (gettext_noop("Everywhere"), tuple(RecallSource)),
    "conversations": (
        gettext_noop("Conversations"),
        (RecallSource.MESSAGE, RecallSource.TOOL, RecallSource.SUMMARY, RecallSource.BRIEF),
    ),
    "files": (gettext_noop("Files"), (RecallSource.FILE,)),
    "library": (gettext_noop("Library"), LIBRARY_SOURCES),
}
TIMES: Mapping[str, tuple[str, timedelta | None]] = {
    "": (gettext_noop("Any time"), None),
    "week": (gettext_noop("Last week"), timedelta(days=7)),
    "month": (gettext_noop("Last month"), timedelta(days=31)),
    "year": (gettext_noop("Last year"), timedelta(days=366)),
}


@login_required
@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """Show the search, and what it finds for `q`; refused with 429 where somebody searches too often.

    With `conversation` it shows all places in one conversation.
    """
    user_id = user_id_of(request)
    query = request.GET.get("q", "")[:MAX_CHARACTERS]
    place, since = request.GET.get("in", ""), request.GET.get("since", "")
    conversation = _conversation_in(request, user_id)
    refusal: TooOften | None = None
    found = Found(rows=())
    if query.strip():
        try:
            searches.count(user_id)
            found = found_on_page(user_id, query, place=place, since=since, inside=conversation)
        except TooOften as refused:
            refusal = refused
    context = {
        "here": "search",
        "zone": load_profile(request).zone,
        "query": query,
        "is_asked": bool(query.strip()),
        "found": found,
        "conversation": conversation,
        "everywhere": urlencode({"q": query, "in": place, "since": since}),
        "refusal": refusal,
        "places": [(value, gettext(name), value == place) for value, (name, _) in PLACES.items()],
        "times": [(value, gettext(name), value == since) for value, (name, _) in TIMES.items()],
    }
    status = HTTPStatus.TOO_MANY_REQUESTS if refusal else HTTPStatus.OK
    return with_wait(render(request, "coaching/pages/search.html", context, status=status), refusal)


def found_on_page(
    user_id: int, query: str, *, place: str = "", since: str = "", inside: Session | None = None
) -> Found:
    """Return what a question finds in a place and a time, or in one conversation."""
    now = timezone.now()
    _, sources = PLACES.get(place, PLACES[""])
    _, back = TIMES.get(since, TIMES[""])
    bounds = Bounds(
        sources=sources, since=now - back if back else None, session_id=inside.id if inside else None
    )
    if inside:
        return rows_in_conversation(user_id, query, bounds=bounds, now=now)
    return found_rows(user_id, query, bounds=bounds, now=now)


def _conversation_in(request: HttpRequest, user_id: int) -> Session | None:
    """Return the conversation in `?conversation`; None if it is missing or invalid. Raises `Http404`."""
    try:
        session_id = uuid.UUID(request.GET.get("conversation", ""))
    except ValueError:
        return None
    with or_404():
        return Session.of(user_id).get(id=session_id)
