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
from coaching.recall.hits import Hit, NearbyMessage, Passage
from coaching.recall.passages import read_passages
from coaching.recall.search import MAX_LIMIT, Bounds, search
from coaching.transcript.found_words import found_words, said_words
from coaching.transcript.names import name_of, shown_name

SEARCHES_IN_A_MINUTE = 30
ROWS = 30
ENOUGH_ROWS = 8
MAX_SEARCHES = 3
"""How often a question is searched for, from the second time without conversations that filled the hits."""
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

    Without `has_all` there may be further ones. A file has no speaker, and its moment is when it was saved.
    """

    address: str
    title: str
    speaker: str
    moment: datetime
    parts: Sequence[MarkedText]
    before: Neighbour | None
    after: Neighbour | None
    score: float
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

    @property
    def scored(self) -> Sequence[HitRow]:
        """The rows that have a score: none of the newest, and none that only rank after all others."""
        return [row for row in self.rows if row.score]


def found_rows(user_id: int, query: str, *, bounds: Bounds, now: datetime) -> Found:
    """Return what a question finds, a conversation as one row.

    Where its hits are full of few conversations, the search is repeated without them, `MAX_SEARCHES` times in
    all; each time counts as a search of the person.
    """
    groups: dict[Hashable, list[HitRow]] = {}
    full: set[uuid.UUID] = set()
    is_newest = False
    for number in range(MAX_SEARCHES):
        others = replace(bounds, other_than=full)
        hits = search(query, user_id=user_id, now=now, limit=MAX_LIMIT, bounds=others)
        if number == 0:
            is_newest = _are_newest(hits)
        found = _grouped(user_id, query, hits)
        groups |= {key: rows for key, rows in found.items() if key not in groups}
        if len(hits) < MAX_LIMIT:
            break
        sessions = {row.session_id for rows in found.values() for row in rows if row.session_id}
        full |= sessions
        if len(groups) >= ENOUGH_ROWS or not sessions or not _may_repeat(user_id):
            break
    return Found(rows=[_best(rows, full) for rows in groups.values()][:ROWS], is_newest=is_newest)


def first_rows(user_id: int, query: str, *, bounds: Bounds, now: datetime) -> Found:
    """Return what one search finds at once, a conversation as one row."""
    hits = search(query, user_id=user_id, now=now, limit=ROWS, bounds=bounds)
    groups = _grouped(user_id, query, hits)
    return Found(rows=[_best(rows, ()) for rows in groups.values()], is_newest=_are_newest(hits))


def rows_in_conversation(user_id: int, query: str, *, bounds: Bounds, now: datetime) -> Found:
    """Return the places in one conversation, `bounds.session_id`, in their order, at most `MAX_LIMIT`.

    Where some have a word of the question, the others are left out: most of them are only next to one.
    """
    hits = search(query, user_id=user_id, now=now, limit=MAX_LIMIT, bounds=bounds)
    passages = sorted(read_passages(hits, user_id=user_id), key=lambda passage: passage.hit.number or 10**9)
    rows = rows_of(user_id, query, passages)
    return Found(rows=[row for row in rows if row.has_match] or rows)


def found_in_files(user_id: int, query: str, *, now: datetime) -> tuple[Sequence[HitRow], TooOften | None]:
    """Return what the words find in files, or the refusal where somebody searches too often."""
    try:
        searches.count(user_id)
    except TooOften as refused:
        return [], refused
    found = found_rows(user_id, query, bounds=Bounds(sources=(RecallSource.FILE,)), now=now)
    return found.scored, None


def rows_of(user_id: int, query: str, passages: Sequence[Passage]) -> Sequence[HitRow]:
    """Return a row for each passage, with the words of the question marked."""
    words, files = words_of(query), _files_of(user_id, passages)
    return [_row(passage, words, files) for passage in passages]


def _are_newest(hits: Sequence[Hit]) -> bool:
    """Say whether a question had no words to look for. Among hits for words, some may have a score of 0."""
    return bool(hits) and not any(hit.score for hit in hits)


def _may_repeat(user_id: int) -> bool:
    try:
        searches.count(user_id)
    except TooOften:
        return False
    return True


def _grouped(user_id: int, query: str, hits: Sequence[Hit]) -> dict[Hashable, list[HitRow]]:
    """Return the rows of each conversation, in the order of their ranks; any other row is alone."""
    passages = read_passages(hits, user_id=user_id)
    groups: dict[Hashable, list[HitRow]] = {}
    for passage, row in zip(passages, rows_of(user_id, query, passages), strict=True):
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
        score=passage.hit.score,
        session_id=passage.hit.session_id,
    )


def _title(passage: Passage) -> str:
    if passage.hit.source == RecallSource.FILE:
        return shown_name(passage.title)
    return passage.title or gettext("Conversation")


def _said_in(passage: Passage) -> str:
    hit = passage.hit
    if hit.source == RecallSource.FILE:
        return ""
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
