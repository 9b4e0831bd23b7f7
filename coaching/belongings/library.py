"""A person's library in their archive: documents as uploaded, knowledge and action items to read."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from django.utils.formats import date_format
from django.utils.translation import gettext

from coaching.belongings.rows import in_batches
from coaching.downloads.zip_stream import Entry
from coaching.files.errors import StorageFailed
from coaching.files.objects import read_pieces
from coaching.models import ActionItem, ActionState, Document, EntryState, KnowledgeEntry

FOLDER = "library"
NOT_FILED = "not filed"


def read_library_entries(*, user_id: int, now: datetime) -> Iterator[Entry]:
    """Yield the library's files: documents in their folders, and two pages for each client. Sync ORM code."""
    missing: list[str] = []
    stored = Document.of(user_id).exclude(storage_key=None).select_related("client", "project")
    for document in in_batches(stored):
        path = _path_of(document)
        pieces = _bytes_of(document, path, missing)
        yield Entry(path=path, changed_at=document.created_at, pieces=pieces, is_stored=True)
    yield from _knowledge(user_id, now)
    yield from _actions(user_id, now)
    if missing:
        lines = "".join(f"- {path}\n" for path in missing)
        title = gettext("Documents that are missing here")
        why = gettext(
            "They couldn’t be read while this archive was being made. Download it again later, or ask the "
            "person who runs this Sage."
        )
        yield Entry(path=f"{FOLDER}/missing.md", changed_at=now, pieces=[f"# {title}\n\n{why}\n\n{lines}"])


def _path_of(document: Document) -> str:
    parts = [document.client.name]
    if document.project:
        parts.append(document.project.name)
    parts += [document.folder if document.state == "filed" else NOT_FILED, document.name]
    return "/".join([FOLDER, *(part.replace("/", "-") for part in parts)])


def _bytes_of(document: Document, path: str, missing: list[str]) -> Iterator[bytes]:
    try:
        yield from read_pieces(document.storage_key or "")
    except StorageFailed:
        missing.append(path)


def _knowledge(user_id: int, now: datetime) -> Iterator[Entry]:
    rows = KnowledgeEntry.of(user_id).exclude(state=EntryState.DISMISSED).select_related("client", "document")
    by_client = groupby(rows.order_by("client", "created_at", "id"), key=attrgetter("client"))
    for client, entries in by_client:
        title = gettext("What Sage knows about %(name)s") % {"name": _line(client.name)}
        pieces = [f"# {title}\n"]
        for entry in entries:
            facts = [entry.get_entry_type_display()]
            facts += [gettext("suggested")] if entry.state == EntryState.PROPOSED else []
            facts += [_source(entry.document, entry.page)] if entry.document else []
            head = f"\n## {_line(entry.title)}\n\n*{', '.join(facts)}*\n"
            head += f"\n> {_line(entry.quote)}\n" if entry.quote else ""
            points = "".join(f"- {_line(str(point))}\n" for point in entry.key_points)
            pieces += [head, f"\n{entry.content.strip()}\n", f"\n{points}" if points else ""]
        yield Entry(path=_page_of(client.name, "knowledge.md"), changed_at=now, pieces=pieces)


def _actions(user_id: int, now: datetime) -> Iterator[Entry]:
    rows = ActionItem.of(user_id).exclude(state=ActionState.DISMISSED).select_related("client", "document")
    by_client = groupby(rows.order_by("client", "due_date", "created_at", "id"), key=attrgetter("client"))
    for client, items in by_client:
        title = gettext("Action items of %(name)s") % {"name": _line(client.name)}
        pieces = [f"# {title}\n\n", *map(_action_line, items)]
        yield Entry(path=_page_of(client.name, "action-items.md"), changed_at=now, pieces=pieces)


def _action_line(item: ActionItem) -> str:
    due = date_format(item.due_date, "DATE_FORMAT") if item.due_date else ""
    facts = [gettext("due %(day)s") % {"day": due}] if due else []
    facts += [gettext("suggested")] if item.state == ActionState.PROPOSED else []
    facts += [_line(item.owner)] if item.owner else []
    facts += [_source(item.document, item.page)] if item.document else []
    line = f"- [{'x' if item.state == ActionState.DONE else ' '}] {_line(item.title)}"
    more = [
        f"  {_line(text)}\n" for text in (item.description, f"“{item.quote}”" if item.quote else "") if text
    ]
    in_brackets = f" ({', '.join(facts)})" if facts else ""
    return f"{line}{in_brackets}\n{''.join(more)}"


def _source(document: Document, page: int | None) -> str:
    name = _line(document.name)
    if page is None:
        return gettext("from %(name)s") % {"name": name}
    return gettext("from %(name)s, page %(page)s") % {"name": name, "page": page}


def _page_of(client: str, name: str) -> str:
    return f"{FOLDER}/{client.replace('/', '-')}/{name}"


def _line(text: str) -> str:
    return " ".join(text.split())
