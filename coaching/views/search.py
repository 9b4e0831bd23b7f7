"""Search over everything that the person and Sage said and wrote. The words are stored and logged nowhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_safe

from coaching.files.frontmatter import strip_frontmatter
from coaching.models import RecallSource, UserFile
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.attempts import AttemptLimit, TooOften
from coaching.recall.excerpts import MarkedText, excerpt, marked, without_marks, words_of
from coaching.recall.hits import NearbyMessage, Passage
from coaching.recall.passages import read_passages
from coaching.recall.question import MAX_CHARACTERS
from coaching.recall.search import Bounds, search
from coaching.transcript.names import name_of, shown_name
from coaching.transcript.remembered import as_found
from coaching.views.parts import with_wait

SEARCHES_IN_A_MINUTE = 30
HITS = 30
EXCERPT_CHARACTERS = 240
NEIGHBOUR_CHARACTERS = 110
SHOWN_AFTER = 12
"""How many later messages stand below a hit on the page that it links to."""

LIBRARY_SOURCES = (
    RecallSource.DOCUMENT,
    RecallSource.WITHHELD_DOCUMENT,
    RecallSource.KNOWLEDGE,
    RecallSource.WITHHELD_KNOWLEDGE,
    RecallSource.STEP,
    RecallSource.WITHHELD_STEP,
)
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
_SOURCE_NAMES = {
    RecallSource.TOOL: gettext_noop("Saved by Sage"),
    RecallSource.SUMMARY: gettext_noop("Summary"),
    RecallSource.BRIEF: gettext_noop("What Sage remembers"),
    RecallSource.FILE: gettext_noop("File"),
    RecallSource.DOCUMENT: gettext_noop("Document"),
    RecallSource.WITHHELD_DOCUMENT: gettext_noop("Document, never sent to the AI model"),
    RecallSource.KNOWLEDGE: gettext_noop("Knowledge"),
    RecallSource.WITHHELD_KNOWLEDGE: gettext_noop("Knowledge, never sent to the AI model"),
    RecallSource.STEP: gettext_noop("Next step"),
    RecallSource.WITHHELD_STEP: gettext_noop("Next step, never sent to the AI model"),
}

searches = AttemptLimit(attempts=SEARCHES_IN_A_MINUTE, seconds=60)
"""Of all pages that search in texts, together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """The message before or after a hit."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRow:
    address: str
    title: str
    speaker: str
    moment: datetime
    parts: Sequence[MarkedText]
    before: Neighbour | None
    after: Neighbour | None


@login_required
@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """Show the search, and what it finds for `q`; refused with 429 where somebody searches too often."""
    query = request.GET.get("q", "")[:MAX_CHARACTERS]
    place, since = request.GET.get("in", ""), request.GET.get("since", "")
    refusal: TooOften | None = None
    found: Sequence[Passage] = ()
    if query.strip():
        try:
            searches.count(user_id_of(request))
            found = _found(user_id_of(request), query, place=place, since=since)
        except TooOften as refused:
            refusal = refused
    words, names = words_of(query), _names_of(user_id_of(request), found)
    context = {
        "here": "search",
        "zone": load_profile(request).zone,
        "query": query,
        "is_asked": bool(query.strip()),
        "rows": [_row(passage, words, names) for passage in found],
        "is_newest": not any(passage.hit.score for passage in found),
        "refusal": refusal,
        "places": [(value, gettext(name), value == place) for value, (name, _) in PLACES.items()],
        "times": [(value, gettext(name), value == since) for value, (name, _) in TIMES.items()],
    }
    status = HTTPStatus.TOO_MANY_REQUESTS if refusal else HTTPStatus.OK
    return with_wait(render(request, "coaching/pages/search.html", context, status=status), refusal)


def found_in_files(user_id: int, query: str) -> tuple[Sequence[HitRow], TooOften | None]:
    """Return what the words find in files, or the refusal where somebody searches too often."""
    try:
        searches.count(user_id)
    except TooOften as refused:
        return [], refused
    words = words_of(query)
    # Without a word to look for, a search gives the newest.
    found = [one for one in _found(user_id, query, place="files", since="") if one.hit.score]
    names = _names_of(user_id, found)
    return [_row(passage, words, names) for passage in found], None


def _found(user_id: int, query: str, *, place: str, since: str) -> Sequence[Passage]:
    now = timezone.now()
    _, sources = PLACES.get(place, PLACES[""])
    _, back = TIMES.get(since, TIMES[""])
    bounds = Bounds(sources=sources, since=now - back if back else None)
    hits = search(query, user_id=user_id, now=now, limit=HITS, bounds=bounds)
    return read_passages(hits, user_id=user_id)


def _names_of(user_id: int, found: Sequence[Passage]) -> Mapping[str, str]:
    """Return the names that the user gave to files among the hits, by path."""
    paths = [passage.title for passage in found if passage.hit.source == RecallSource.FILE]
    if not paths:
        return {}
    named = UserFile.of(user_id).filter(path__in=paths).exclude(title="")
    return {file.path: name_of(file) for file in named}


def _row(passage: Passage, words: frozenset[str], names: Mapping[str, str]) -> HitRow:
    text = _text_of(passage, words)
    return HitRow(
        address=_address(passage),
        title=names.get(passage.title) or _title(passage),
        speaker=_said_in(passage),
        moment=passage.hit.moment,
        parts=marked(excerpt(text, words, characters=EXCERPT_CHARACTERS), words),
        before=_neighbour(passage.before, words),
        after=_neighbour(passage.after, words),
    )


def _text_of(passage: Passage, words: frozenset[str]) -> str:
    """Return a hit's text to read: a file's without frontmatter, unless only that has the words."""
    if passage.hit.source == RecallSource.BRIEF:
        return as_found(passage.text)
    if passage.hit.source != RecallSource.FILE:
        return without_marks(passage.text) if passage.is_by_user is False else passage.text
    body = without_marks(strip_frontmatter(passage.text))
    return body if any(part.is_match for part in marked(body, words)) else passage.text


def _title(passage: Passage) -> str:
    if passage.hit.source == RecallSource.FILE:
        return shown_name(passage.title)
    return passage.title or gettext("Conversation")


def _said_in(passage: Passage) -> str:
    hit = passage.hit
    known = _SOURCE_NAMES.get(RecallSource(hit.source))
    name = gettext(known) if known else _speaker(passage.is_by_user)
    if hit.source not in LIBRARY_SOURCES or not hit.part:
        return name
    return gettext("%(name)s, page %(number)s") % {"name": name, "number": hit.part}


def _address(passage: Passage) -> str:
    """Return where a hit stands: its page, or its message on the page of the conversation that shows it."""
    hit = passage.hit
    if hit.source in (RecallSource.DOCUMENT, RecallSource.WITHHELD_DOCUMENT):
        address = reverse("library_document", args=[hit.file_id])
        return f"{address}?page={hit.part}#viewer" if hit.part else address
    if hit.source in (RecallSource.STEP, RecallSource.WITHHELD_STEP):
        return reverse("library_action", args=[hit.file_id])
    if hit.source in LIBRARY_SOURCES:
        return reverse("library_entry", args=[hit.file_id])
    if hit.file_id:
        return reverse("file", args=[passage.title])
    if hit.source == RecallSource.BRIEF:
        return reverse("brief", args=[hit.session_id])
    address = reverse("session", args=[hit.session_id])
    if not hit.number:
        return f"{address}#ending"
    before = f"?before={hit.number + SHOWN_AFTER}" if passage.later >= SHOWN_AFTER else ""
    return f"{address}{before}#{passage.anchor}"


def _speaker(is_by_user: bool | None) -> str:
    return gettext("You") if is_by_user else "Sage"


def _neighbour(neighbour: NearbyMessage | None, words: frozenset[str]) -> Neighbour | None:
    if neighbour is None:
        return None
    said = neighbour.text if neighbour.is_by_user else without_marks(neighbour.text)
    text = excerpt(said, words, characters=NEIGHBOUR_CHARACTERS)
    return Neighbour(speaker=_speaker(neighbour.is_by_user), text=text)
