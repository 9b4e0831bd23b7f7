"""Drafts: what an entry or a next step says before it is a row, and after an edit.

Each field of a draft has the name of its row's field.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, time
from typing import Any, Self

from django.utils.translation import gettext_noop

from coaching.models import ActionItem, ActionOrigin, ActionPriority, EntryType, KnowledgeEntry
from coaching.steps.repeats import read_repeats
from sessions_app.errors import Refused

MAX_TITLE = 200
MAX_CONTENT = 20_000
MAX_DESCRIPTION = 4_000
MAX_KEY_POINTS = 20
MAX_TAGS = 12
MAX_QUOTE = 2_000
TITLE_LENGTH = gettext_noop("A title can have 1 to %(most)s characters.")
CONTENT_LENGTH = gettext_noop("The text can have 1 to %(most)s characters.")
MAX_OUTCOME = 2_000
DESCRIPTION_LENGTH = gettext_noop("The details can have up to %(most)s characters.")
WRONG_REPEATS = gettext_noop("A step repeats daily, monthly, or on days of the week.")
NEEDS_DATE = gettext_noop("A time of day or a repetition needs a due date.")
FIRST_DUE, LAST_DUE = date(1970, 1, 1), date(2199, 12, 31)
WRONG_DAY = gettext_noop("A due date can be between 1970 and 2199.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What entries and next steps have in common: a title, a place, and the sentence they come from.

    With an `origin_key` their document, or their session, has at most one such row: reading it again changes
    a proposal, and leaves alone what the user has accepted or dismissed.
    """

    client_id: int
    title: str
    project_id: int | None = None
    document_id: int | None = None
    session_id: uuid.UUID | None = None
    quote: str = ""
    page: int | None = None
    origin_key: str = ""

    def values(self) -> dict[str, Any]:
        """Return the fields that a model or a user writes. Raises `Refused`."""
        title = " ".join(self.title.split())
        if not title or len(title) > MAX_TITLE:
            raise Refused(TITLE_LENGTH, most=MAX_TITLE)
        return {"title": title, "quote": self.quote[:MAX_QUOTE], "page": self.page}

    def edited(self, changes: Mapping[str, Any]) -> Self:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry(_Draft):
    """What is known, whom it is about, and where it comes from."""

    content: str
    entry_type: EntryType = EntryType.NOTE
    key_points: Sequence[str] = ()
    tags: Sequence[str] = ()

    def values(self) -> dict[str, Any]:
        """Return the fields that a model or a user writes. Raises `Refused`."""
        if not self.content.strip() or len(self.content) > MAX_CONTENT:
            raise Refused(CONTENT_LENGTH, most=MAX_CONTENT)
        return {
            **_Draft.values(self),
            "content": self.content.strip(),
            "entry_type": EntryType(self.entry_type),
            "key_points": [str(point)[:500] for point in self.key_points][:MAX_KEY_POINTS],
            "tags": list(dict.fromkeys(str(tag)[:60] for tag in self.tags))[:MAX_TAGS],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAction(_Draft):
    """What is to be done, for whom, and where it comes from.

    `due_words` are the words of the text that the date comes from; `message_number` is the message that the
    quote stands in. `month_day` is the row's. Without an `origin` it is that of whoever makes it.
    """

    description: str = ""
    due_date: date | None = None
    due_time: time | None = None
    due_words: str = ""
    repeats: str = ""
    month_day: int | None = None
    priority: ActionPriority = ActionPriority.MEDIUM
    owner: str = ""
    message_number: int | None = None
    origin: ActionOrigin | None = None

    def values(self) -> dict[str, Any]:
        """Return the fields that a model or a user writes. Raises `Refused`."""
        if len(self.description) > MAX_DESCRIPTION:
            raise Refused(DESCRIPTION_LENGTH, most=MAX_DESCRIPTION)
        repeats = read_repeats(self.repeats, due_date=self.due_date)
        if repeats is None:
            raise Refused(WRONG_REPEATS)
        if self.due_date is None and (repeats or self.due_time):
            raise Refused(NEEDS_DATE)
        check_due(self.due_date)
        return {
            **_Draft.values(self),
            "description": self.description.strip(),
            "due_date": self.due_date,
            "due_time": self.due_time,
            "due_words": self.due_words[:200],
            "repeats": repeats,
            "month_day": self.month_day,
            "priority": ActionPriority(self.priority),
            "owner": self.owner[:120],
            "message_number": self.message_number,
        }

    def edited(self, changes: Mapping[str, Any]) -> Self:
        """Return the draft with other values; another date doesn't come from the words of the text."""
        is_same_day = changes.get("due_date", self.due_date) == self.due_date
        repeats_so = changes.get("repeats", self.repeats) == self.repeats
        kept: dict[str, Any] = {
            "due_words": self.due_words if is_same_day else "",
            "month_day": self.month_day if is_same_day and repeats_so else None,
        }
        return replace(self, **{**kept, **changes})


def check_due(day: date | None) -> None:
    """Raise `Refused` for a day that is no sensible due date: repeating steps count on from it."""
    if day is not None and not FIRST_DUE <= day <= LAST_DUE:
        raise Refused(WRONG_DAY)


def draft_of(row: KnowledgeEntry | ActionItem) -> NewEntry | NewAction:
    draft = NewEntry if isinstance(row, KnowledgeEntry) else NewAction
    return draft(**{each.name: getattr(row, each.name) for each in fields(draft)})
