"""What a conversation is shown of the library: headlines, and the client that it is about.

All of it is bounded, whatever the library holds. What is never sent to the model isn't here.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day, with_weekday
from coaching.context.entries import Entry, Section
from coaching.context.fences import fence_value
from coaching.library.rows.headlines import READ_CHARACTERS
from coaching.models import UNFINISHED_STATES, ClientType, Document
from sessions_app.queries import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDocument:
    """A document of a message. `head` is the beginning of its text, which has `characters` in all.

    `reading_note` says what of the document isn't in its text.
    `has_image`: it is a picture that the model may be shown.
    """

    id: int
    name: str
    state: str
    reason: str
    file_type: str
    summary: str
    page_count: int
    reading_note: str
    is_withheld: bool
    characters: int
    head: str
    has_image: bool = False

    @property
    def is_ready(self) -> bool:
        return self.state not in UNFINISHED_STATES


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryFacts:
    """What a conversation is shown of the library; `scope` is the client or project that it is about.

    `withheld` are the ids of all documents that are never sent to the model.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    scope: Mapping[str, Any] | None = None
    newest: Sequence[Mapping[str, Any]] = ()
    attached: Mapping[int, SeenDocument] = field(default_factory=dict)
    withheld: frozenset[int] = frozenset()


NOTHING = LibraryFacts()


def is_about_other(facts: LibraryFacts) -> bool:
    """Whether the conversation was opened from a client who is somebody else."""
    return facts.scope is not None and facts.scope["client_type"] != ClientType.SELF


def library_of(rows: Rows) -> LibraryFacts:
    """Parse the row of `library_query`."""
    if not rows:
        return NOTHING
    values = json.loads(rows[0][0])
    return LibraryFacts(
        counts={name: values[name] for name in ("documents", "in_review", "actions", "clients")},
        scope=values["scope"],
        newest=values["newest"] or (),
        attached={row["id"]: _seen(row) for row in values["attached"] or ()},
        withheld=frozenset(values["withheld"] or ()),
    )


def with_attached(facts: LibraryFacts, documents: Iterable[Document]) -> LibraryFacts:
    """Return the facts with documents that are attached just now."""
    return replace(facts, attached={**facts.attached, **{each.pk: _seen_now(each) for each in documents}})


def library_headlines(facts: LibraryFacts, zone: ZoneInfo) -> Section | None:
    """Show how much there is, and the newest documents; None without any."""
    if facts.scope is not None or not facts.newest:
        return None
    counts = facts.counts
    said = [_counted(counts["documents"], "document")]
    said += [f"{counts['in_review']} to review"] if counts["in_review"] else []
    said += [_counted(counts["actions"], "open next step")] if counts["actions"] else []
    said += [_counted(counts["clients"], "client")] if counts["clients"] > 1 else []
    lines = [", ".join(said), *_document_lines(facts.newest, zone)]
    return _section("library_headlines", {}, lines)


OF_CLIENT = (
    "This conversation is about the client below, not about the person you talk with. Steps and entries are "
    "for this id. Begin with what they said and meant to do about the client, with its day; their own open "
    "things wait, unless they bring them."
)
OF_SELF = "This conversation is about the person's own things below. Steps and entries are for this id."


def scope_section(facts: LibraryFacts) -> Section | None:
    """Tell what the client or project means for the conversation that was opened from it.

    It speaks for Sage, so it holds nothing that anybody wrote: names and notes are in `client`.
    """
    scope = facts.scope
    if scope is None:
        return None
    attributes = {"client": scope["client_id"], "project": scope["project_id"] if scope["project"] else ""}
    return _section("scope", attributes, [OF_CLIENT if is_about_other(facts) else OF_SELF])


def client_section(facts: LibraryFacts, zone: ZoneInfo) -> Section | None:
    """Show the client or project that the conversation was opened from."""
    scope = facts.scope
    if scope is None:
        return None
    attributes = {
        "id": scope["client_id"],
        "name": scope["client"],
        "type": scope["client_type"],
        "status": scope["client_status"],
    }
    lines = [f"Notes: {fence_value(scope['notes'], 500)}"] if scope["notes"] else []
    if scope["project"]:
        lines.append(f"Project {scope['project_id']}: {fence_value(scope['project'], 120)}")
        lines += [f"Its notes: {fence_value(scope['project_notes'], 500)}"] if scope["project_notes"] else []
    lines.append(_counted(facts.counts["documents"], "document"))
    lines += _document_lines(facts.newest, zone)
    return _section("client", attributes, lines)


def _document_lines(rows: Sequence[Mapping[str, Any]], zone: ZoneInfo) -> Sequence[str]:
    return [_document_line(row, zone) for row in rows]


def _document_line(row: Mapping[str, Any], zone: ZoneInfo) -> str:
    day = local_day(datetime.fromisoformat(row["created_at"]), zone)
    of = "" if row["client_type"] == ClientType.SELF else f", of {fence_value(row['client'], 60)}"
    what = row["file_type"] or ("being read" if row["state"] in UNFINISHED_STATES else "not filed yet")
    about = f"document {row['id']}, {fence_value(what, 64)}{of}, {with_weekday(day)}"
    return f"- {fence_value(row['name'], 80)} ({about})"


def _section(name: str, attributes: Mapping[str, object], lines: Sequence[str]) -> Section:
    return Section(
        name=name, attributes=attributes, entries=(Entry(tag="", attributes={}, text="\n".join(lines)),)
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _seen(row: Mapping[str, Any]) -> SeenDocument:
    return SeenDocument(
        id=row["id"],
        name=row["name"],
        state=row["state"],
        reason=row["reason"],
        file_type=row["file_type"],
        summary="" if row["is_withheld"] else row["summary"],
        page_count=row["page_count"],
        reading_note="" if row["is_withheld"] else row["reading_note"],
        is_withheld=row["is_withheld"],
        characters=0 if row["is_withheld"] else row["characters"] or 0,
        head="" if row["is_withheld"] else row["head"] or "",
        has_image=row["has_image"] and not row["is_withheld"],
    )


def _seen_now(document: Document) -> SeenDocument:
    text = getattr(document, "text", None)
    content = text.text if text is not None else ""
    return _seen(
        {
            "id": document.pk,
            "name": document.name,
            "state": document.state,
            "reason": document.reason,
            "file_type": document.file_type,
            "summary": document.summary,
            "page_count": document.page_count,
            "reading_note": document.reading_note,
            "is_withheld": document.is_withheld,
            "characters": len(content),
            "head": content[:READ_CHARACTERS],
            "has_image": hasattr(document, "image"),
        }
    )
