"""Action items: made as proposals or open, edited, accepted, dismissed and done, each with an audit row.

Another user's item, client, project or document looks missing.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.library.auto_approval import ACTION_ITEM, has_standing_yes
from coaching.library.effects import change, record_created
from coaching.library.places import check_room, place_of
from coaching.models import (
    ActionItem,
    ActionPriority,
    ActionState,
    EffectKind,
    LibraryEffect,
    MadeBy,
)
from sessions_app.errors import Refused

MAX_TITLE = 200
MAX_DESCRIPTION = 4_000
FULL = gettext_noop("You can have up to %(most)s action items. Delete some that you no longer need.")
NOT_OPEN = gettext_noop("This action item was dismissed. If it still needs to be done, add it again.")
TITLE_LENGTH = gettext_noop("A title can have 1 to %(most)s characters.")
DESCRIPTION_LENGTH = gettext_noop("The details can have up to %(most)s characters.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAction:
    """What is to be done, for whom, and where it comes from.

    `due_words` are the words of the text that the date comes from, and `quote` is its sentence. With an
    `origin_key` its document has at most one such item: reading it again changes a proposal, and leaves alone
    what the user has accepted or dismissed.
    """

    client_id: int
    title: str
    description: str = ""
    due_date: date | None = None
    due_words: str = ""
    priority: ActionPriority = ActionPriority.MEDIUM
    owner: str = ""
    quote: str = ""
    page: int | None = None
    project_id: int | None = None
    document_id: int | None = None
    session_id: uuid.UUID | None = None
    origin_key: str = ""

    def values(self) -> dict[str, Any]:
        """Return the fields that a model or a user writes. Raises `Refused`."""
        title = " ".join(self.title.split())
        if not title or len(title) > MAX_TITLE:
            raise Refused(TITLE_LENGTH, most=MAX_TITLE)
        if len(self.description) > MAX_DESCRIPTION:
            raise Refused(DESCRIPTION_LENGTH, most=MAX_DESCRIPTION)
        return {
            "title": title,
            "description": self.description.strip(),
            "due_date": self.due_date,
            "due_words": self.due_words[:200],
            "priority": ActionPriority(self.priority),
            "owner": self.owner[:120],
            "quote": self.quote[:2_000],
            "page": self.page,
        }


@transaction.atomic
def create_action(
    *, user_id: int, new: NewAction, made_by: MadeBy, is_proposed: bool = False, tool_use_id: str = ""
) -> ActionItem:
    """Add an action item, as a proposal unless the user has a standing yes for them. Raises `Refused`."""
    values = new.values()
    place = place_of(
        user_id=user_id, client_id=new.client_id, project_id=new.project_id, document_id=new.document_id
    )
    check_room(ActionItem, user_id=user_id, full=FULL)
    if new.document_id and new.origin_key:
        present = (
            ActionItem.of(user_id).filter(document_id=new.document_id, origin_key=new.origin_key).first()
        )
        if present is not None:
            return _reconciled(present, values, made_by=made_by, tool_use_id=tool_use_id)
    is_accepted = not is_proposed or has_standing_yes(user_id=user_id, kind=ACTION_ITEM)
    if not is_proposed and (proposed := _proposed(user_id, values["title"], place)):
        kept = {name: value for name, value in values.items() if value or name in ("due_date", "priority")}
        kept |= {"state": ActionState.OPEN}
        kept |= {"project_id": place["project_id"]} if place["project_id"] else {}
        kind = EffectKind.ACTION_CHANGED
        change(proposed, kind=kind, made_by=made_by, values=kept, tool_use_id=tool_use_id)
        return proposed
    item = ActionItem.of(user_id).create(
        **values,
        **place,
        session_id=new.session_id,
        origin_key=new.origin_key,
        made_by=made_by,
        state=ActionState.OPEN if is_accepted else ActionState.PROPOSED,
    )
    record_created(item, made_by=made_by, tool_use_id=tool_use_id)
    return item


def _proposed(user_id: int, title: str, place: Mapping[str, Any]) -> ActionItem | None:
    """Return the proposal of this title for this client: a yes to it in a conversation accepts it."""
    same = ActionItem.of(user_id).filter(
        client_id=place["client_id"], title__iexact=title, state=ActionState.PROPOSED
    )
    return same.exclude(origin_key="").select_for_update().order_by("id").first()


def _reconciled(
    item: ActionItem, values: Mapping[str, Any], *, made_by: MadeBy, tool_use_id: str
) -> ActionItem:
    if item.state == ActionState.PROPOSED:
        kind = EffectKind.ACTION_CHANGED
        change(item, kind=kind, made_by=made_by, values=values, tool_use_id=tool_use_id)
    return item


@transaction.atomic
def edit_action(
    *,
    user_id: int,
    action_id: int,
    title: str,
    description: str,
    due_date: date | None,
    priority: ActionPriority,
    owner: str = "",
) -> LibraryEffect | None:
    """Change what is to be done. Raises `Refused` and `ActionItem.DoesNotExist`."""
    item = _locked(user_id, action_id)
    new = NewAction(
        client_id=item.client_id,
        title=title,
        description=description,
        due_date=due_date,
        due_words=item.due_words if due_date == item.due_date else "",
        priority=priority,
        owner=owner,
        quote=item.quote,
        page=item.page,
    )
    return _change(item, **new.values())


@transaction.atomic
def accept_action(*, user_id: int, action_id: int) -> LibraryEffect | None:
    """Accept a proposal. Raises `Refused` and `ActionItem.DoesNotExist`."""
    item = _locked(user_id, action_id)
    if item.state == ActionState.DISMISSED:
        raise Refused(NOT_OPEN)
    return _change(item, state=ActionState.OPEN) if item.state == ActionState.PROPOSED else None


@transaction.atomic
def dismiss_action(*, user_id: int, action_id: int) -> LibraryEffect | None:
    """Dismiss a proposal or an item: it isn't shown or proposed again."""
    return _change(_locked(user_id, action_id), state=ActionState.DISMISSED, done_at=None)


@transaction.atomic
def set_action_done(*, user_id: int, action_id: int, is_done: bool) -> LibraryEffect | None:
    """Mark an item as done, or as open again. Raises `Refused` and `ActionItem.DoesNotExist`."""
    item = _locked(user_id, action_id)
    if item.state == ActionState.DISMISSED:
        raise Refused(NOT_OPEN)
    if is_done == (item.state == ActionState.DONE):
        return None
    if is_done:
        return _change(item, state=ActionState.DONE, done_at=timezone.now())
    return _change(item, state=ActionState.OPEN, done_at=None)


@transaction.atomic
def accept_actions_of_document(*, user_id: int, document_id: int) -> int:
    """Accept all proposals from a document; return how many there were."""
    proposed = ActionItem.of(user_id).filter(document_id=document_id, state=ActionState.PROPOSED)
    return len([_change(item, state=ActionState.OPEN) for item in proposed.select_for_update()])


@transaction.atomic
def delete_action(*, user_id: int, action_id: int) -> None:
    """Delete an item with its audit rows."""
    _locked(user_id, action_id).delete()


def _locked(user_id: int, action_id: int) -> ActionItem:
    return ActionItem.of(user_id).select_for_update().get(id=action_id)


def _change(item: ActionItem, **values: Any) -> LibraryEffect | None:
    return change(item, kind=EffectKind.ACTION_CHANGED, made_by=MadeBy.USER, values=values)
