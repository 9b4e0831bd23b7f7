"""The palette, a dialog on every page (⌘K or Ctrl K): conversations, next steps, and what a search finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from http import HTTPStatus
from operator import and_

from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from coaching.library.rows.proposals import next_steps_of, steps_of_home
from coaching.models import ActionItem, ActionState, RecallSource
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.attempts import AttemptLimit, TooOften
from coaching.recall.question import clean_question
from coaching.recall.search import Bounds
from coaching.views.hits import HitRow, first_rows
from coaching.views.parts import wants_part, with_wait
from sessions_app.models import Session, listed
from sessions_app.selectors import recent_sessions

CONVERSATIONS = 6
STEPS = 5
PLACES = 6
MAX_WORDS = 8
"""Of a question, how many are looked for in titles."""

lookups = AttemptLimit(attempts=60, seconds=60)
"""One for each pause in typing, so there are more than searches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the palette offers for its words, or without any: what the person did last, and what is due."""

    sessions: Sequence[Session] = ()
    steps: Sequence[ActionItem] = ()
    rows: Sequence[HitRow] = ()

    @property
    def count(self) -> int:
        return len(self.sessions) + len(self.steps) + len(self.rows)


@login_required
@require_safe
def palette(request: HttpRequest) -> HttpResponse:
    """Show what there is for `q`, or refuse it with 429 where somebody asks too often.

    Without JavaScript it is the search.
    """
    query = clean_question(request.GET.get("q", "")).strip()
    if not wants_part(request):
        return redirect(f"{reverse('search')}?{urlencode({'q': query})}")
    refusal: TooOften | None = None
    choices = Choices()
    try:
        lookups.count(user_id_of(request))
        choices = choices_for(user_id_of(request), query)
    except TooOften as refused:
        refusal = refused
    context = {
        "query": query,
        "choices": choices,
        "refusal": refusal,
        "zone": load_profile(request).zone,
    }
    status = HTTPStatus.TOO_MANY_REQUESTS if refusal else HTTPStatus.OK
    page = render(request, "coaching/components/palette_found.html", context, status=status)
    if refusal:
        page["HX-Retarget"] = "#palette-found"
    return with_wait(page, refusal)


def choices_for(user_id: int, query: str) -> Choices:
    """Return what there is for a person's words."""
    if not query:
        return Choices(
            sessions=recent_sessions(user_id=user_id, limit=CONVERSATIONS),
            steps=steps_of_home(user_id=user_id, limit=STEPS),
        )
    titled = _titled(query)
    sessions = Session.of(user_id).filter(listed(), titled).defer("opening", "summary", "metadata")
    steps = list(next_steps_of(user_id=user_id, state=ActionState.OPEN).filter(titled)[:STEPS])
    named = list(sessions.order_by("-last_active_at")[:CONVERSATIONS])
    bounds = Bounds(sources=tuple(RecallSource), other_than=[session.id for session in named])
    found = first_rows(user_id, query, bounds=bounds, now=timezone.now())
    linked = {reverse("library_action", args=[item.pk]) for item in steps}
    rows = [row for row in found.scored if row.address not in linked][:PLACES]
    return Choices(sessions=named, steps=steps, rows=rows)


def _titled(query: str) -> Q:
    return reduce(and_, (Q(title__icontains=word) for word in query.split()[:MAX_WORDS]))
