"""Adds what a newer export says to conversations that an older one has brought.

New messages are appended where they follow the stored ones and nobody has gone on here. What is stored stays
as it is, also where its words were edited elsewhere since.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import MD5, Coalesce
from django.utils.translation import gettext_noop

from coaching.legacy.importers.things import Problem
from coaching.legacy.tally import Tally
from coaching.transcript.old_replies import ORIGINAL_KEY
from sessions_app.import_additions import Addition, append_recorded
from sessions_app.imports import KnownSession, RecordedMessage, RecordedSession, message_id_of
from sessions_app.models import Message, MessageRole

Found = Sequence[tuple[KnownSession, RecordedSession]]
Digests = Mapping[str, str]
"""The digest of a stored message's words, by its client id, in the order of the conversation."""

DELETED = gettext_noop("You deleted this conversation, so its new messages weren’t added.")
USED_HERE = gettext_noop(
    "You wrote in this conversation or chose another answer, so its new messages weren’t added."
)
CHANGED = gettext_noop(
    "Its last messages were edited or deleted in the other app, so its new ones weren’t added. To get "
    "them, undo the earlier import and import this file again."
)
EDITED = gettext_noop("Messages that were edited in the other app since the import stay as they were.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """A newer recording next to what is stored; `refusal` says why its new messages can't be appended."""

    held: KnownSession
    recorded: RecordedSession
    new: Sequence[RecordedMessage]
    edited: int
    refusal: str = ""

    def problem(self, text: str) -> Problem:
        return Problem(where=self.recorded.where, text=text, is_lost=False)


def store_newer(
    *, user_id: int, import_id: int | None, found: Found, tally: Tally, completed: Collection[UUID] = ()
) -> Collection[UUID]:
    """Append what is new in sessions that other imports have brought; without an import only count it.

    Return the sessions that got messages. Those that were `completed` don't count as skipped.
    """
    mine = [held.added[str(import_id)] for held, _ in found if str(import_id) in held.added]
    tally.continued += len(mine)
    tally.messages += sum(last - first + 1 for first, last in mine)
    others = [(held, recorded) for held, recorded in found if str(import_id) not in held.added]
    compared = _compare(user_id, others)
    wanted = [each for each in compared if each.new and not each.refusal]
    appended = {each.held.session_id for each in wanted}
    if import_id is not None and wanted:
        additions = [_addition(each) for each in wanted]
        appended = set(append_recorded(user_id=user_id, import_id=import_id, additions=additions))
    for each in compared:
        is_appended = each.held.session_id in appended
        _count(each, tally, is_appended=is_appended)
        is_known = not is_appended and each.held.session_id not in completed
        tally.skipped += is_known and not each.recorded.branch_of
    return appended | {held.session_id for held, _ in found if str(import_id) in held.added}


def _compare(user_id: int, found: Found) -> Sequence[_Compared]:
    ids = [held.session_id for held, _ in found]
    stored, hidden = stored_digests(user_id, ids), _hidden(user_id, ids)
    return [
        _compared(held, recorded, stored[held.session_id], hidden[held.session_id])
        for held, recorded in found
    ]


def _hidden(user_id: int, session_ids: Sequence[UUID]) -> Mapping[UUID, AbstractSet[str]]:
    """Return the client ids of other answers, which aren't shown."""
    rows = Message.of(user_id).filter(session__in=session_ids, turn__is_withdrawn=True)
    hidden: dict[UUID, set[str]] = defaultdict(set)
    for session_id, key in rows.values_list("session_id", "client_id"):
        hidden[session_id].add(key or "")
    return hidden


def stored_digests(user_id: int, session_ids: Sequence[UUID]) -> Mapping[UUID, Digests]:
    """Return what is stored, without a text leaving the database."""
    words = Coalesce(KeyTextTransform(ORIGINAL_KEY, "metadata"), "content")
    rows = Message.of(user_id).filter(session__in=session_ids, client_id__startswith="imported:")
    stored: dict[UUID, dict[str, str]] = defaultdict(dict)
    for session_id, key, digest in (
        rows.order_by("session", "number")
        .annotate(digest=MD5(words))
        .values_list("session_id", "client_id", "digest")
    ):
        stored[session_id][key or ""] = digest
    return stored


def _compared(
    held: KnownSession, recorded: RecordedSession, stored: Digests, hidden: AbstractSet[str]
) -> _Compared:
    """Compare a recording with what is stored; `hidden` are those of it that aren't shown."""
    keys = [message_id_of(message.imported_id) for message in recorded.messages]
    as_answers = {message_id_of(answer.imported_id) for answer in switched(recorded, stored).values()}
    new = [
        message
        for message, key in zip(recorded.messages, keys, strict=True)
        if key not in stored and key not in as_answers
    ]
    edited = sum(
        key in stored and not _is_same(message, stored[key])
        for key, message in zip(keys, recorded.messages, strict=True)
    )
    follows = new == list(recorded.messages[len(keys) - len(new) :])
    shown = [key for key in stored if key not in hidden]
    is_switched = bool(as_answers) or not hidden.isdisjoint(keys)
    has_end = not is_switched and (not shown or shown[-1] in keys)
    refusal = ""
    if held.is_deleted:
        refusal = DELETED
    elif held.is_used_here:
        refusal = USED_HERE
    elif not (follows and has_end):
        refusal = CHANGED
    return _Compared(held=held, recorded=recorded, new=new, edited=edited, refusal=refusal)


def switched(recorded: RecordedSession, stored: Collection[str]) -> Mapping[str, RecordedMessage]:
    """Return the answers that are shown now in place of stored ones, by the ids of their messages.

    Those stay, and the new ones become other answers.
    """
    replaced = {each.answers_to for each in recorded.answers if message_id_of(each.imported_id) in stored}
    return {
        asked.imported_id: answer
        for asked, answer in pairwise(recorded.messages)
        if asked.imported_id in replaced
        and answer.role == MessageRole.ASSISTANT
        and message_id_of(asked.imported_id) in stored
        and message_id_of(answer.imported_id) not in stored
    }


def _addition(compared: _Compared) -> Addition:
    held, recorded = compared.held, compared.recorded
    return Addition(
        session_id=held.session_id, after=held.until, status=recorded.status, messages=compared.new
    )


def _count(each: _Compared, tally: Tally, *, is_appended: bool) -> None:
    if each.edited:
        tally.report(each.problem(EDITED))
    if is_appended:
        tally.continued += 1
        tally.messages += len(each.new)
    elif each.new:
        tally.report(each.problem(each.refusal or USED_HERE))


def _is_same(message: RecordedMessage, digest: str) -> bool:
    """Return whether a stored message has these words, or those of them that an earlier version read."""
    shorter = message.shorter_content
    return digest == digest_of(message.content) or (shorter is not None and digest == digest_of(shorter))


def digest_of(words: str) -> str:
    """Return a digest as PostgreSQL's `md5` computes it."""
    return hashlib.md5(words.encode(), usedforsecurity=False).hexdigest()
