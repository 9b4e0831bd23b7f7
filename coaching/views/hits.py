"""What a search finds, as the rows of pages: a conversation is one row, with the best place in it."""

import uuid
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from coaching.models import RecallSource, UserFile
from coaching.people.attempts import AttemptLimit, TooOften
from coaching.recall.excerpts import MarkedText, excerpt, marked, words_of
from coaching.recall.hits import NearbyMessage, Passage
from coaching.recall.passages import read_passages
from coaching.recall.search import MAX_LIMIT, Bounds, search
from coaching.transcript.found_words import found_words, said_words
from coaching.transcript.names import name_of, shown_name

SEARCHES_IN_A_MINUTE = 30
ROWS = 30
ENOUGH_ROWS = 8
MAX_SEARCHES = 3
"""How often one search is repeated without the conversations that filled its hits."""
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
    """A place that was found; of a conversation the best one, with the number of others.

    Without `has_all` there may be further ones.
    """

    address: str
    title: str
    speaker: str
    moment: datetime
    parts: Sequence[MarkedText]
    before: Neighbour | None
    after: Neighbour | None
    session_id: uuid.UUID | None = None
    more: int = 0
    has_all: bool = True

    @property
    def has_match(self) -> bool:
        return any(part.is_match for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Rows, the best first; `is_newest` where the question had no words to look for."""

    rows: Sequence[HitRow]
    is_newest: bool = False


def found_rows(
    user_id: int, query: str, *, bounds: Bounds, now: datetime, limit: int = ROWS, most: int = MAX_SEARCHES
) -> Found:
    """Return what a question finds, a conversation as one row.

    Where its hits are full of few conversations, the search is repeated without them, `most` times in all.
    """
    groups: dict[Hashable, list[HitRow]] = {}
    full: set[uuid.UUID] = set()
    is_newest = False
    for _ in range(most):
        passages = _search(user_id, query, bounds=replace(bounds, other_than=full), now=now)
        is_newest = is_newest or any(not passage.hit.score for passage in passages)
        found = _grouped(passages, rows_of(user_id, query, passages))
        groups |= {key: rows for key, rows in found.items() if key not in groups}
        if len(passages) < MAX_LIMIT:
            break
        sessions = {row.session_id for rows in found.values() for row in rows if row.session_id}
        full |= sessions
        if len(groups) >= ENOUGH_ROWS or not sessions:
            break
    return Found(rows=[_best(rows, full) for rows in groups.values()][:limit], is_newest=is_newest)


def rows_in_conversation(user_id: int, query: str, *, bounds: Bounds, now: datetime) -> Found:
    """Return all places of one conversation, `bounds.session_id`, in their order."""
    passages = sorted(
        _search(user_id, query, bounds=bounds, now=now), key=lambda passage: passage.hit.number or 10**9
    )
    rows = rows_of(user_id, query, passages)
    return Found(rows=[row for row in rows if row.has_match] or rows)


def found_in_files(user_id: int, query: str, *, now: datetime) -> tuple[Sequence[HitRow], TooOften | None]:
    """Return what the words find in files, or the refusal where somebody searches too often."""
    try:
        searches.count(user_id)
    except TooOften as refused:
        return [], refused
    found = found_rows(user_id, query, bounds=Bounds(sources=(RecallSource.FILE,)), now=now)
    # Without a word to look for, a search gives the newest.
    return ([] if found.is_newest else found.rows), None


def rows_of(user_id: int, query: str, passages: Sequence[Passage]) -> Sequence[HitRow]:
    """Return a row for each passage, with the words of the question marked."""
    words, files = words_of(query), _files_of(user_id, passages)
    return [_row(passage, words, files) for passage in passages]


def _search(user_id: int, query: str, *, bounds: Bounds, now: datetime) -> Sequence[Passage]:
    hits = search(query, user_id=user_id, now=now, limit=MAX_LIMIT, bounds=bounds)
    return read_passages(hits, user_id=user_id)


def _grouped(passages: Sequence[Passage], rows: Sequence[HitRow]) -> dict[Hashable, list[HitRow]]:
    """Return the rows of each conversation, in the order of their ranks; any other row is alone."""
    groups: dict[Hashable, list[HitRow]] = {}
    for passage, row in zip(passages, rows, strict=True):
        key: Hashable = row.session_id or (passage.hit.source, passage.hit.file_id)
        groups.setdefault(key, []).append(row)
    return groups


def _best(rows: Sequence[HitRow], full: Collection[uuid.UUID]) -> HitRow:
    """Return the first row that has a word of the question, with the number of the others that have one.

    A message next to such a one is found, too; it counts only where no message has any.
    """
    first, *others = [row for row in rows if row.has_match] or rows
    return replace(first, more=len(others), has_all=first.session_id not in full)


def _files_of(user_id: int, found: Sequence[Passage]) -> Mapping[str, UserFile]:
    """Return the files among the hits, by path."""
    paths = [passage.title for passage in found if passage.hit.source == RecallSource.FILE]
    if not paths:
        return {}
    return {file.path: file for file in UserFile.of(user_id).filter(path__in=paths)}


def _row(passage: Passage, words: frozenset[str], files: Mapping[str, UserFile]) -> HitRow:
    file = files.get(passage.title) if passage.hit.source == RecallSource.FILE else None
    text = found_words(passage, words, frontmatter=file.frontmatter if file else {})
    return HitRow(
        address=_address(passage),
        title=name_of(file) if file else _title(passage),
        speaker=_said_in(passage),
        moment=passage.hit.moment,
        parts=marked(excerpt(text, words, characters=EXCERPT_CHARACTERS), words),
        before=_neighbour(passage.before, words),
        after=_neighbour(passage.after, words),
        session_id=passage.hit.session_id,
    )


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
    said = said_words(neighbour.text, is_by_user=neighbour.is_by_user)
    text = excerpt(said, words, characters=NEIGHBOUR_CHARACTERS)
    return Neighbour(speaker=_speaker(neighbour.is_by_user), text=text)
