"""Adds what a newer export says to conversations that an older one has brought.

New messages are appended where they follow the stored ones and nobody has gone on here. Those that follow
another answer, or an edited question, are another branch. What is stored stays as it is, also where its words
were edited elsewhere since.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import MD5, Coalesce
from django.utils.translation import gettext_noop

from coaching.legacy.importers.branches import branch_id
from coaching.legacy.importers.things import Problem
from coaching.legacy.switching import Digests, digest_of, ids_in_answers
from coaching.legacy.tally import Tally
from coaching.transcript.old_replies import ORIGINAL_KEY
from sessions_app.import_additions import Addition, append_recorded
from sessions_app.import_metadata import BRANCH_KEY
from sessions_app.imports import KnownSession, known_sessions
from sessions_app.models import Message, SessionKind
from sessions_app.recorded import RecordedMessage, RecordedSession, message_id_of

Found = Sequence[tuple[KnownSession, RecordedSession]]

DELETED = gettext_noop("You deleted this conversation, so its new messages weren’t added.")
USED_HERE = gettext_noop(
    "You wrote in this conversation or chose another answer, so its new messages weren’t added."
)
CHANGED = gettext_noop(
    "Its older messages were changed in the other app, so its new ones weren’t added. To get them, undo the "
    "earlier import and import this file again."
)
EDITED = gettext_noop("Messages that were edited in the other app since the import stay as they were.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """A newer recording next to what is stored; `refusal` says why its new messages aren't taken.

    With `is_branch` they are another branch.
    """

    held: KnownSession
    recorded: RecordedSession
    new: Sequence[RecordedMessage]
    edited: int
    refusal: str = ""
    is_branch: bool = False

    def problem(self, text: str) -> Problem:
        return Problem(where=self.recorded.where, text=text, is_lost=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Newer:
    """The sessions that got messages, by this run or an earlier one, and branches that are to be stored."""

    appended: Collection[UUID]
    branches: Sequence[RecordedSession]


def store_newer(
    *, user_id: int, import_id: int | None, found: Found, tally: Tally, completed: Collection[UUID] = ()
) -> Newer:
    """Append what is new in sessions that other imports have brought; without an import only count it.

    Sessions that were `completed` don't count as skipped.
    """
    mine = [held.added[str(import_id)] for held, _ in found if str(import_id) in held.added]
    tally.continued += len(mine)
    tally.messages += sum(last - first + 1 for first, last in mine)
    others = [(held, recorded) for held, recorded in found if str(import_id) not in held.added]
    compared = _compare(user_id, others)
    wanted = [each for each in compared if each.new and not each.refusal and not each.is_branch]
    appended = {each.held.session_id for each in wanted}
    if import_id is not None and wanted:
        additions = [_addition(each) for each in wanted]
        appended = set(append_recorded(user_id=user_id, import_id=import_id, additions=additions))
    for each in compared:
        is_appended = each.held.session_id in appended
        _count(each, tally, is_appended=is_appended)
        is_known = not is_appended and each.held.session_id not in completed
        tally.skipped += is_known and not each.recorded.branch_of
    return Newer(
        appended=appended | {held.session_id for held, _ in found if str(import_id) in held.added},
        branches=_new_branches(user_id, [each for each in compared if each.is_branch], tally),
    )


def _new_branches(user_id: int, compared: Sequence[_Compared], tally: Tally) -> Sequence[RecordedSession]:
    """Return what is another branch as such, but for those whose ids are in use or were just deleted."""
    branches = {each.imported_id: each for each in map(_branch, compared)}
    known = known_sessions(user_id=user_id, imported_ids=branches.keys()) if branches else {}
    for imported_id, held in known.items():
        text = DELETED if held.is_deleted else CHANGED
        tally.report(Problem(where=branches[imported_id].where, text=text, is_lost=False))
    return [each for imported_id, each in branches.items() if imported_id not in known]


def _branch(compared: _Compared) -> RecordedSession:
    recorded, new = compared.recorded, compared.new
    root, ids = recorded.branch_of or recorded.imported_id, {each.imported_id for each in compared.new}
    return replace(
        recorded,
        imported_id=branch_id(root, new[0].imported_id),
        started_at=min(message.created_at for message in new),
        messages=new,
        answers=[answer for answer in recorded.answers if answer.answers_to in ids],
        elsewhere=(),
        origin={**recorded.origin, BRANCH_KEY: root},
    )


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
    joined = ids_in_answers(recorded, stored, hidden)
    keys = [message_id_of(message.imported_id) for message in recorded.messages]
    new = [
        message
        for message, key in zip(recorded.messages, keys, strict=True)
        if key not in stored and message.imported_id not in joined
    ]
    edited = sum(
        (key := message_id_of(said.imported_id)) in stored
        and said.imported_id not in joined
        and not _is_same(said, stored[key])
        for said in recorded.said
    )
    old = len(keys) - len(new)
    shown = [key for key in stored if key not in hidden]
    follows_end = keys[old - 1] == shown[-1] if old and shown else not shown
    may_branch = recorded.kind == SessionKind.OPEN_CONVERSATION
    refusal = ""
    if held.is_deleted:
        refusal = DELETED
    elif held.is_used_here:
        refusal = USED_HERE
    elif new != list(recorded.messages[old:]) or not (follows_end or may_branch):
        refusal = CHANGED
    is_branch = bool(new) and not refusal and not follows_end
    return _Compared(
        held=held, recorded=recorded, new=new, edited=edited, refusal=refusal, is_branch=is_branch
    )


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
    elif each.new and not each.is_branch:
        tally.report(each.problem(each.refusal or USED_HERE))


def _is_same(message: RecordedMessage, digest: str) -> bool:
    """Return whether a stored message has these words, or those of them that an earlier version read."""
    shorter = message.shorter_content
    return digest == digest_of(message.content) or (shorter is not None and digest == digest_of(shorter))
