"""Knowledge entries: made as proposals or accepted, edited, accepted and dismissed, each with an audit row.

Another user's entry, client, project or document looks missing.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_noop

from coaching.library.auto_approval import has_standing_yes
from coaching.library.effects import change, record_created
from coaching.library.places import check_room, place_of
from coaching.models import EffectKind, EntryState, EntryType, KnowledgeEntry, LibraryEffect, MadeBy
from sessions_app.errors import Refused

MAX_TITLE = 200
MAX_CONTENT = 20_000
MAX_KEY_POINTS = 20
MAX_TAGS = 12
FULL = gettext_noop("You can have up to %(most)s knowledge entries. Delete some that you no longer need.")
NOT_PROPOSED = gettext_noop("This is no longer a suggestion.")
TITLE_LENGTH = gettext_noop("A title can have 1 to %(most)s characters.")
CONTENT_LENGTH = gettext_noop("The text can have 1 to %(most)s characters.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """What is known, whom it is about, and where it comes from.

    With an `origin_key` its document has at most one such entry: reading it again changes a proposal, and
    leaves alone what the user has accepted or dismissed.
    """

    client_id: int
    title: str
    content: str
    entry_type: EntryType = EntryType.NOTE
    project_id: int | None = None
    key_points: Sequence[str] = ()
    tags: Sequence[str] = ()
    document_id: int | None = None
    session_id: uuid.UUID | None = None
    origin_key: str = ""

    def values(self) -> dict[str, Any]:
        """Return the fields that a model or a user writes. Raises `Refused`."""
        title = " ".join(self.title.split())
        if not title or len(title) > MAX_TITLE:
            raise Refused(TITLE_LENGTH, most=MAX_TITLE)
        if not self.content.strip() or len(self.content) > MAX_CONTENT:
            raise Refused(CONTENT_LENGTH, most=MAX_CONTENT)
        return {
            "title": title,
            "content": self.content.strip(),
            "entry_type": EntryType(self.entry_type),
            "key_points": [str(point)[:500] for point in self.key_points][:MAX_KEY_POINTS],
            "tags": list(dict.fromkeys(str(tag)[:60] for tag in self.tags))[:MAX_TAGS],
        }


@transaction.atomic
def create_entry(
    *, user_id: int, new: NewEntry, made_by: MadeBy, is_proposed: bool = False, tool_use_id: str = ""
) -> KnowledgeEntry:
    """Add an entry, as a proposal unless the user accepts its type without being asked. Raises `Refused`."""
    values = new.values()
    place = place_of(
        user_id=user_id, client_id=new.client_id, project_id=new.project_id, document_id=new.document_id
    )
    check_room(KnowledgeEntry, user_id=user_id, full=FULL)
    entries = KnowledgeEntry.of(user_id)
    if new.document_id and new.origin_key:
        present = entries.filter(document_id=new.document_id, origin_key=new.origin_key).first()
        if present is not None:
            return _reconciled(present, values, made_by=made_by, tool_use_id=tool_use_id)
    is_accepted = not is_proposed or has_standing_yes(user_id=user_id, kind=values["entry_type"])
    entry = entries.create(
        **values,
        **place,
        session_id=new.session_id,
        origin_key=new.origin_key,
        made_by=made_by,
        state=EntryState.ACCEPTED if is_accepted else EntryState.PROPOSED,
    )
    record_created(entry, made_by=made_by, tool_use_id=tool_use_id)
    return entry


def _reconciled(
    entry: KnowledgeEntry, values: Mapping[str, Any], *, made_by: MadeBy, tool_use_id: str
) -> KnowledgeEntry:
    if entry.state == EntryState.PROPOSED:
        kind = EffectKind.KNOWLEDGE_CHANGED
        change(entry, kind=kind, made_by=made_by, values=values, tool_use_id=tool_use_id)
    return entry


@transaction.atomic
def edit_entry(
    *,
    user_id: int,
    entry_id: int,
    title: str,
    content: str,
    entry_type: EntryType,
    key_points: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> LibraryEffect | None:
    """Change what an entry says. Raises `Refused` and `KnowledgeEntry.DoesNotExist`."""
    entry = _locked(user_id, entry_id)
    new = NewEntry(
        client_id=entry.client_id,
        title=title,
        content=content,
        entry_type=entry_type,
        key_points=key_points,
        tags=tags,
    )
    return _change(entry, **new.values())


@transaction.atomic
def accept_entry(*, user_id: int, entry_id: int) -> LibraryEffect | None:
    """Accept a proposal. Raises `Refused` and `KnowledgeEntry.DoesNotExist`."""
    entry = _locked(user_id, entry_id)
    if entry.state == EntryState.DISMISSED:
        raise Refused(NOT_PROPOSED)
    return _change(entry, state=EntryState.ACCEPTED)


@transaction.atomic
def dismiss_entry(*, user_id: int, entry_id: int) -> LibraryEffect | None:
    """Dismiss a proposal or an entry: it isn't shown, found or proposed again."""
    return _change(_locked(user_id, entry_id), state=EntryState.DISMISSED)


@transaction.atomic
def accept_entries_of_document(*, user_id: int, document_id: int) -> int:
    """Accept all proposals from a document; return how many there were."""
    proposed = KnowledgeEntry.of(user_id).filter(document_id=document_id, state=EntryState.PROPOSED)
    effects = [_change(entry, state=EntryState.ACCEPTED) for entry in proposed.select_for_update()]
    return len(effects)


@transaction.atomic
def delete_entry(*, user_id: int, entry_id: int) -> None:
    """Delete an entry with its audit rows."""
    _locked(user_id, entry_id).delete()


def _locked(user_id: int, entry_id: int) -> KnowledgeEntry:
    return KnowledgeEntry.of(user_id).select_for_update().get(id=entry_id)


def _change(entry: KnowledgeEntry, **values: Any) -> LibraryEffect | None:
    return change(entry, kind=EffectKind.KNOWLEDGE_CHANGED, made_by=MadeBy.USER, values=values)
