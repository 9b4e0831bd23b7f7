"""Keeps each message of a conversation once, whatever branch an export shows it in.

Which branch is shown changes with time: what one import brought as the conversation may be another branch in
the next export. So what an export says of a conversation and its branches is given to the sessions that have
it, each message with the answers to it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from django.db.models import F
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import MD5, Coalesce

from coaching.legacy.importers.branches import branch_id
from coaching.legacy.importers.things import Problem
from coaching.legacy.newer import DELETED
from coaching.legacy.switching import joined_in
from coaching.legacy.tally import Tally
from coaching.transcript.old_replies import ORIGINAL_KEY
from sessions_app.import_links import sessions_named
from sessions_app.import_metadata import BRANCH_KEY
from sessions_app.models import Message, MessageRole, Session
from sessions_app.recorded import RecordedMessage, RecordedSession, message_id_of


@dataclass(slots=True)
class _Known:
    """What is stored of a conversation: its messages' client ids, each with its session's imported id.

    `hidden` are the digests of other answers, which may be several messages.
    """

    held: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Part:
    """What a session gets: messages in order, and those that it has, which another branch shows now."""

    messages: list[RecordedMessage] = field(default_factory=list)
    elsewhere: list[RecordedMessage] = field(default_factory=list)
    answers: list[RecordedMessage] = field(default_factory=list)


def by_session(user_id: int, recorded: Sequence[RecordedSession], tally: Tally) -> Sequence[RecordedSession]:
    """Return conversations and branches with the messages that their sessions have, and those that are new.

    All branches of a conversation have to be among them. Those of one that its person has deleted are left
    out, and named.
    """
    kept = _without_deleted(user_id, recorded, tally)
    roots = {each.branch_of or each.imported_id for each in kept}
    branched = {each.branch_of for each in kept if each.branch_of} | _with_stored_branches(user_id, roots)
    if not branched:
        return kept
    known = _known(user_id, branched)
    groups: dict[str, list[RecordedSession]] = defaultdict(list)
    for each in kept:
        groups[each.branch_of or each.imported_id].append(each)
    made = {root: list(_divided(root, group, known.get(root, _Known()))) for root, group in groups.items()}
    tally.skipped += sum(
        root in {each.imported_id for each in groups[root]} - {each.imported_id for each in parts}
        for root, parts in made.items()
    )
    return [each for parts in made.values() for each in parts]


def _without_deleted(
    user_id: int, recorded: Sequence[RecordedSession], tally: Tally
) -> Sequence[RecordedSession]:
    roots = {each.branch_of for each in recorded if each.branch_of}
    gone = Session.deleted_of(user_id).filter(
        metadata__has_key="imported_id",
        metadata__imported_id__in=[*roots, *(each.imported_id for each in recorded if each.branch_of)],
    )
    deleted = set(gone.values_list("metadata__imported_id", flat=True)) if roots else set()
    for each in recorded:
        if each.branch_of in deleted and each.imported_id not in deleted:
            tally.report(Problem(where=each.where, text=DELETED, is_lost=False))
    return [each for each in recorded if each.branch_of not in deleted]


def _divided(root: str, recorded: Sequence[RecordedSession], known: _Known) -> Iterator[RecordedSession]:
    """Yield what each session of a conversation gets."""
    held = known.held | {
        message_id_of(part.imported_id): known.held[message_id_of(said[0].imported_id)]
        for each in recorded
        for said in joined_in(each, known.hidden)
        for part in said
    }
    if all(_is_as_held(each, held) for each in recorded):
        yield from recorded
        return
    division = _Division(root, held)
    # What the export shows comes first, so its new messages continue the sessions that have those before.
    for each in sorted(recorded, key=lambda each: bool(each.branch_of)):
        division.take(each)
    own = {each.imported_id: each for each in recorded}
    for owner, part in division.parts.items():
        made = own.get(owner) or _branch_like(recorded[0], root, owner)
        messages, elsewhere = (part.messages, part.elsewhere) if part.messages else (part.elsewhere, [])
        began_at = min(said.created_at for said in messages)
        yield replace(
            made,
            messages=messages,
            elsewhere=elsewhere,
            answers=part.answers,
            started_at=began_at if made.branch_of else made.started_at,
        )


def _is_as_held(recorded: RecordedSession, held: Mapping[str, str]) -> bool:
    """Return whether no message is stored in another session, and the recording's own begins as it does."""
    own, said = recorded.imported_id, (*recorded.messages, *recorded.answers)
    is_begun = own not in held.values() or message_id_of(recorded.messages[0].imported_id) in held
    return is_begun and all(held.get(message_id_of(each.imported_id), own) == own for each in said)


class _Division:
    """Gives messages to the sessions that have them, and new ones to the session of the message before.

    Only one branch continues a session. What else is new is a branch by its first message, and so is an
    answer to a message that no other answers in its session.
    """

    def __init__(self, root: str, held: Mapping[str, str]) -> None:
        self.parts: dict[str, _Part] = {}
        self._root, self._held, self._taken = root, held, frozenset(held.values())

    def take(self, recorded: RecordedSession) -> None:
        places: dict[str, str] = {}
        owner = recorded.imported_id
        can_continue = not recorded.branch_of and owner not in self._taken
        runs = [(held, list(said)) for held, said in groupby(recorded.messages, self._session_of)]
        for number, (held, said) in enumerate(runs, start=1):
            if held:
                owner, part = held, self._part(held)
                is_followed = number < len(runs) and not runs[number][0]
                can_continue = not recorded.branch_of or (is_followed and not part.messages)
                (part.messages if can_continue else part.elsewhere).extend(said)
            else:
                owner = owner if can_continue else self._new_id(said[0])
                self._part(owner).messages += said
            places |= {each.imported_id: owner for each in said}
        answered = {
            asked.imported_id
            for asked, answer in pairwise(recorded.messages)
            if answer.role == MessageRole.ASSISTANT
            and places[asked.imported_id] == places[answer.imported_id]
        }
        for answer in recorded.answers:
            self._take_answer(answer, places[answer.answers_to], is_other=answer.answers_to in answered)

    def _take_answer(self, answer: RecordedMessage, owner: str, *, is_other: bool) -> None:
        held = self._session_of(answer)
        if held == owner or (is_other and not held):
            self._part(owner).answers.append(answer)
        elif not held:
            self._part(self._new_id(answer)).messages.append(replace(answer, answers_to=""))

    def _session_of(self, said: RecordedMessage) -> str:
        """Return the session that has a message, empty if it is new."""
        return self._held.get(message_id_of(said.imported_id), "")

    def _part(self, owner: str) -> _Part:
        return self.parts.setdefault(owner, _Part())

    def _new_id(self, first: RecordedMessage) -> str:
        """Return the id of a branch; other messages of it may be stored under the usual one."""
        made = branch_id(self._root, first.imported_id)
        return branch_id(self._root, f"{first.imported_id}+") if made in self._taken else made


def _branch_like(recorded: RecordedSession, root: str, imported_id: str) -> RecordedSession:
    """Return what is said of a session that the export doesn't have as a branch of its own."""
    origin = {key: value for key, value in recorded.origin.items() if key != BRANCH_KEY}
    if imported_id != root:
        origin[BRANCH_KEY] = root
    return replace(recorded, imported_id=imported_id, origin=origin)


def _with_stored_branches(user_id: int, roots: Collection[str]) -> set[str]:
    place = f"metadata__origin__{BRANCH_KEY}"
    branches = Session.of(user_id).filter(metadata__has_key="imported_id", **{f"{place}__in": list(roots)})
    return set(branches.values_list(place, flat=True))


def _known(user_id: int, roots: Collection[str]) -> Mapping[str, _Known]:
    """Return what is stored of conversations, by their imported ids."""
    sessions = sessions_named(user_id, roots)
    rows = Message.of(user_id).filter(session__in=sessions, client_id__startswith="imported:")
    rows = rows.annotate(
        own=KeyTextTransform("imported_id", "session__metadata"),
        root=KeyTextTransform("branch_of", KeyTextTransform("origin", "session__metadata")),
    )
    rows = rows.annotate(digest=MD5(Coalesce(KeyTextTransform(ORIGINAL_KEY, "metadata"), "content")))
    known: dict[str, _Known] = defaultdict(_Known)
    for client_id, own, root, is_hidden, digest in rows.annotate(key=F("client_id")).values_list(
        "key", "own", "root", "turn__is_withdrawn", "digest"
    ):
        known[root or own].held[client_id] = own
        if is_hidden:
            known[root or own].hidden[client_id] = digest
    return known
