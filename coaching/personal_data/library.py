"""A person's library in their archive: documents as uploaded, knowledge and next steps to read."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from itertools import groupby
from operator import attrgetter
from zoneinfo import ZoneInfo

from django.utils.formats import date_format, time_format
from django.utils.translation import gettext, gettext_noop

from coaching.clock.days import local_day
from coaching.downloads.zip_stream import Entry
from coaching.files.errors import StorageFailed
from coaching.files.objects import read_pieces
from coaching.library.references.words import shown_folder
from coaching.models import (
    ActionItem,
    ActionState,
    Document,
    DocumentState,
    EntryState,
    KnowledgeEntry,
    StepChange,
)
from coaching.personal_data.rows import in_batches
from coaching.steps.words import repeats_in_words

FOLDER = "library"
NOT_FILED = gettext_noop("not filed")


def read_library_entries(*, user_id: int, zone: ZoneInfo, now: datetime) -> Iterator[Entry]:
    """Yield the library's files: documents in their folders, and two pages for each client. Sync ORM code.

    Days are those of the zone.
    """
    missing, lost = list[str](), list[str]()
    stored = Document.of(user_id).exclude(storage_key=None).select_related("client", "project")
    for document in in_batches(stored):
        path = _path_of(document)
        pieces = stored_bytes(document.storage_key or "", path, missing if document.sha256 else lost)
        yield Entry(path=path, changed_at=document.created_at, pieces=pieces, is_stored=True)
    yield from _knowledge(user_id, now)
    yield from _steps(user_id, zone, now)
    if missing or lost:
        page = missing_lines(gettext("Documents that are missing here"), missing, lost)
        yield Entry(path=f"{FOLDER}/missing.md", changed_at=now, pieces=page)


def _path_of(document: Document) -> str:
    parts = [document.client.shown_name]
    if document.project:
        parts.append(document.project.name)
    is_filed = document.state == DocumentState.FILED
    parts += [shown_folder(document.folder) if is_filed else gettext(NOT_FILED), document.name]
    return "/".join([FOLDER, *(part.replace("/", "-") for part in parts)])


def stored_bytes(key: str, path: str, missing: list[str]) -> Iterator[bytes]:
    """Yield an object's bytes; if it can't be read, its path in the archive is added to `missing`."""
    try:
        yield from read_pieces(key)
    except StorageFailed:
        missing.append(path)


def missing_lines(title: str, unread: Sequence[str], lost: Sequence[str]) -> Iterator[str]:
    """Yield a page that lists what couldn't be read, and what was lost."""
    yield f"# {title}\n"
    unread_why = gettext(
        "They couldn’t be read while this archive was being made. Download it again later, or ask the "
        "person who runs this server."
    )
    lost_why = gettext("These files were lost. If you have them, upload them again.")
    for why, paths in ((unread_why, unread), (lost_why, lost)):
        if paths:
            yield f"\n{why}\n\n" + "".join(f"- {path}\n" for path in paths)


def _knowledge(user_id: int, now: datetime) -> Iterator[Entry]:
    rows = KnowledgeEntry.of(user_id).exclude(state=EntryState.DISMISSED).select_related("client", "document")
    by_client = groupby(rows.order_by("client", "created_at", "id"), key=attrgetter("client"))
    for client, entries in by_client:
        title = gettext("What Sage knows about %(name)s") % {"name": _line(client.shown_name)}
        pieces = [f"# {title}\n"]
        for entry in entries:
            facts = [entry.get_entry_type_display()]
            facts += [gettext("suggested")] if entry.state == EntryState.PROPOSED else []
            facts += [_source(entry.document, entry.page)] if entry.document else []
            head = f"\n## {_line(entry.title)}\n\n*{', '.join(facts)}*\n"
            head += f"\n> {_line(entry.quote)}\n" if entry.quote else ""
            points = "".join(f"- {_line(str(point))}\n" for point in entry.key_points)
            pieces += [head, f"\n{entry.content.strip()}\n", f"\n{points}" if points else ""]
        yield Entry(path=_page_of(client.shown_name, "knowledge.md"), changed_at=now, pieces=pieces)


def _steps(user_id: int, zone: ZoneInfo, now: datetime) -> Iterator[Entry]:
    rows = ActionItem.of(user_id).exclude(state=ActionState.DISMISSED).select_related("client", "document")
    rows = rows.prefetch_related("changes")
    by_client = groupby(rows.order_by("client", "due_date", "created_at", "id"), key=attrgetter("client"))
    for client, steps in by_client:
        title = gettext("Next steps of %(name)s") % {"name": _line(client.shown_name)}
        pieces = [f"# {title}\n\n", *(_step(step, zone) for step in steps)]
        yield Entry(path=_page_of(client.shown_name, "next-steps.md"), changed_at=now, pieces=pieces)


def _step(step: ActionItem, zone: ZoneInfo) -> str:
    """Return a step as an item of a list, with its source, how it went, and its history below it."""
    facts = [gettext("due %(day)s") % {"day": _due(step.due_date, step.due_time)}] if step.due_date else []
    facts += [repeats_in_words(step.repeats)] if step.repeats else []
    facts += [gettext("suggested")] if step.state == ActionState.PROPOSED else []
    facts += [gettext("dropped")] if step.state == ActionState.DROPPED else []
    facts += [_line(step.owner)] if step.owner else []
    facts += [_source(step.document, step.page)] if step.document else []
    in_brackets = f" ({', '.join(facts)})" if facts else ""
    texts = [_line(step.description), _quoted(_line(step.quote)) if step.quote else ""]
    texts += [gettext("How it went: %(words)s") % {"words": _line(step.outcome)}] if step.outcome else []
    texts += [f"- {_change(change, zone)}" for change in reversed(list(step.changes.all()))]
    more = "".join(f"  {text}\n" for text in texts if text)
    return f"- [{'x' if step.state == ActionState.DONE else ' '}] {_line(step.title)}{in_brackets}\n{more}"


def _due(due_date: date, due_time: time | None) -> str:
    day = date_format(due_date, "DATE_FORMAT")
    return f"{day}, {time_format(due_time, 'TIME_FORMAT')}" if due_time else day


def _change(change: StepChange, zone: ZoneInfo) -> str:
    """Return what became of a step, on which day, and what the person said of it."""
    day = date_format(local_day(change.at, zone), "DATE_FORMAT")
    line = f"{day}: {change.get_kind_display()}"
    if change.due_date:
        was_due = gettext("it was due on %(day)s") % {"day": date_format(change.due_date, "DATE_FORMAT")}
        line = f"{line} ({was_due})"
    said = list(dict.fromkeys(_line(words) for words in (change.quote, change.outcome) if words))
    return " ".join([line, *map(_quoted, said)])


def _quoted(words: str) -> str:
    return gettext("“%(name)s”") % {"name": words}


def _source(document: Document, page: int | None) -> str:
    name = _line(document.name)
    if page is None:
        return gettext("from %(name)s") % {"name": name}
    return gettext("from %(name)s, page %(page)s") % {"name": name, "page": page}


def _page_of(client: str, name: str) -> str:
    return f"{FOLDER}/{client.replace('/', '-')}/{name}"


def _line(text: str) -> str:
    return " ".join(text.split())
