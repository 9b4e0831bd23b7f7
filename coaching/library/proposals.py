"""Proposes knowledge entries and next steps: each is stored as a proposal, or accepted at once.

Both live by the same rules (`kinds`), and each change has an audit row. What a person does with them is in
`decisions`. Another user's row, client, project or document looks missing.
"""

from collections.abc import Mapping
from typing import Any, overload

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_noop

from coaching.library.drafts import NewAction, NewEntry, draft_of
from coaching.library.effects import change, is_deleted, record_created
from coaching.library.kinds import ACTION, ENTRY, Kind, Row
from coaching.library.places import check_room, lock_additions, locked_place
from coaching.models import ActionItem, ActionOrigin, KnowledgeEntry, MadeBy
from coaching.people.profile_changes import offer_library
from sessions_app.errors import Refused

Draft = NewEntry | NewAction
MAX_SUGGESTIONS = 100
"""Of programs, of each kind, that wait for the user's yes."""
TOO_MANY_SUGGESTIONS = gettext_noop(
    "%(most)s suggestions of programs wait already. Accept or dismiss some of them first."
)


@overload
def propose(
    *,
    user_id: int,
    new: NewEntry,
    made_by: MadeBy,
    is_accepted: bool = False,
    tool_use_id: str = "",
    program: str = "",
) -> KnowledgeEntry: ...
@overload
def propose(
    *,
    user_id: int,
    new: NewAction,
    made_by: MadeBy,
    is_accepted: bool = False,
    tool_use_id: str = "",
    program: str = "",
) -> ActionItem: ...
@transaction.atomic
def propose(
    *,
    user_id: int,
    new: Draft,
    made_by: MadeBy,
    is_accepted: bool = False,
    tool_use_id: str = "",
    program: str = "",
) -> Row:
    """Add what a draft says as a proposal, or accepted if the user wants it (`is_accepted`).

    Proposals of an auto-approved kind are accepted, too. A yes to what already waits, of the same client and
    title, accepts that row instead of adding another one; but a `program`, by its name, accepts nothing, and
    what it only suggests always waits. Raises `Refused`, and `DoesNotExist` for a row of a program that the
    user has deleted since it was added with the same `origin_key`.
    """
    kind = ENTRY if isinstance(new, NewEntry) else ACTION
    values = new.values()
    place = locked_place(
        user_id=user_id, client_id=new.client_id, project_id=new.project_id, document_id=new.document_id
    )
    lock_additions(user_id)
    by: dict[str, Any] = {"made_by": made_by, "tool_use_id": tool_use_id, "program": program}
    how: dict[str, Any] = {"kind": kind.changed, **by}
    if present := present_row(user_id=user_id, new=new):
        if present.state == kind.proposed:
            change(present, values=values, **how)
        return present
    if program and is_accepted and is_deleted(user_id=user_id, key=new.origin_key):
        raise kind.model.DoesNotExist
    is_yes = is_accepted and not program
    if is_yes and (waiting := _waiting(kind, user_id, values, place, made_by=made_by)):
        change(waiting, values=_as_accepted(kind, waiting, values, place), **how)
        return waiting
    check_room(kind.model, user_id=user_id, full=kind.full)
    if program and not is_accepted:
        _check_suggestions(kind, user_id)
    is_accepted = is_accepted or (not program and kind.is_auto_approved(user_id, values))
    values = {**values, **place, **_origin(new, made_by)}
    row = _create(kind, user_id, new, values, is_accepted=is_accepted)
    record_created(row, **by)
    if kind is ENTRY and not new.document_id:
        offer_library(user_id)
    return row


def _create(kind: Kind, user_id: int, new: Draft, values: Mapping[str, Any], *, is_accepted: bool) -> Row:
    state = kind.accepted if is_accepted else kind.proposed
    rows = kind.model.of(user_id)
    return rows.create(**values, session_id=new.session_id, origin_key=new.origin_key, state=state)


def present_row(*, user_id: int, new: Draft) -> Row | None:
    """Return the row that an earlier reading of the draft's document or sentence has made, locked.

    Without either it is what a program suggested before.
    """
    if not new.origin_key:
        return None
    kind = ENTRY if isinstance(new, NewEntry) else ACTION
    source: dict[str, Any] = {"document_id": new.document_id}
    if not new.document_id:
        source["session_id"] = new.session_id
    rows = kind.model.of(user_id).select_for_update().filter(origin_key=new.origin_key, **source)
    return rows.first()


def _check_suggestions(kind: Kind, user_id: int) -> None:
    """Raise `Refused` where as many suggestions of programs wait as may."""
    made = {"origin": ActionOrigin.PROGRAM} if kind is ACTION else {"made_by": MadeBy.PROGRAM}
    if kind.model.of(user_id).filter(state=kind.proposed, **made).count() >= MAX_SUGGESTIONS:
        raise Refused(TOO_MANY_SUGGESTIONS, most=MAX_SUGGESTIONS)


_ORIGINS: Mapping[MadeBy, ActionOrigin] = {
    MadeBy.PIPELINE: ActionOrigin.DOCUMENT,
    MadeBy.CHAT: ActionOrigin.CONVERSATION,
    MadeBy.USER: ActionOrigin.PERSON,
    MadeBy.PROGRAM: ActionOrigin.PROGRAM,
}


def _origin(new: Draft, made_by: MadeBy) -> Mapping[str, Any]:
    if isinstance(new, NewAction):
        return {"origin": new.origin or _ORIGINS[made_by]}
    return {"made_by": made_by}


def _waiting(
    kind: Kind, user_id: int, values: Mapping[str, Any], place: Mapping[str, Any], *, made_by: MadeBy
) -> Row | None:
    """Return the proposal that a yes is about, locked: of this client and title, and no other document.

    What the user wrote by themselves isn't about one that says something else. Nor is a yes in a
    conversation about one from a document that the model never gets, which nobody could have asked about.
    """
    same = Q(client_id=place["client_id"], title__iexact=values["title"], state=kind.proposed)
    if place["document_id"]:
        same &= Q(document_id=place["document_id"]) | Q(document_id=None)
    if made_by == MadeBy.USER and values[kind.text]:
        same &= Q(**{kind.text: values[kind.text]})
    rows = kind.model.of(user_id).filter(same).exclude(document__is_withheld=True)
    return rows.select_for_update(of=("self",)).order_by("id").first()


def _as_accepted(
    kind: Kind, waiting: Row, values: Mapping[str, Any], place: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the values of a proposal that was accepted as `values` say; what they leave out stays."""
    given = {name: value for name, value in values.items() if value or name in kind.as_given}
    if values["quote"]:
        given["page"] = values["page"]
    edited = draft_of(waiting).edited(given).values()
    moved = {name: place[name] for name in ("project_id", "document_id") if place[name]}
    return {**edited, **moved, "state": kind.accepted}
