"""Keeps each message of a conversation once, whatever branch an export shows it in.

Which branch is shown changes with time: what one import brought as the conversation may be another branch in
the next export. So what an export says of a conversation and its branches is given to the sessions that have
it, each message with the answers to it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import F
from django.db.models.fields.json import KeyTextTransform

from coaching.legacy.importers.things import Problem
from coaching.legacy.newer import DELETED
from coaching.legacy.tally import Tally
from sessions_app.import_links import sessions_named
from sessions_app.imports import BRANCH_KEY, RecordedMessage, RecordedSession, message_id_of
from sessions_app.models import Message, Session

Known = Mapping[str, Mapping[str, str]]
"""By the imported id of a conversation: its messages' client ids, each with its session's imported id."""


@dataclass(slots=True)
class _Part:
    """What a session gets: messages that it has, which other branches show now, and its own in order."""

    shown_elsewhere: list[RecordedMessage] = field(default_factory=list)
    messages: list[RecordedMessage] = field(default_factory=list)
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
    made = {root: list(_divided(root, group, known.get(root, {}))) for root, group in groups.items()}
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


def _divided(
    root: str, recorded: Sequence[RecordedSession], held: Mapping[str, str]
) -> Iterator[RecordedSession]:
    """Yield what each session of a conversation gets.

    What follows a message of another session goes there if the export shows it now, else it is a branch.
    """
    if all(
        held.get(message_id_of(said.imported_id), each.imported_id) == each.imported_id
        for each in recorded
        for said in (*each.messages, *each.answers)
    ):
        yield from recorded
        return
    parts: dict[str, _Part] = {}
    places: dict[str, str] = {}
    for each in recorded:
        owner = each.imported_id
        for said in each.messages:
            known = held.get(message_id_of(said.imported_id))
            owner = known or (each.imported_id if each.branch_of else owner)
            places[said.imported_id] = owner
            part = parts.setdefault(owner, _Part())
            is_elsewhere = each.branch_of and owner != each.imported_id
            (part.shown_elsewhere if is_elsewhere else part.messages).append(said)
    for answer in (answer for each in recorded for answer in each.answers):
        owner = places[answer.answers_to]
        if held.get(message_id_of(answer.imported_id), owner) == owner:
            parts[owner].answers.append(answer)
    own = {each.imported_id: each for each in recorded}
    for owner, part in parts.items():
        yield replace(
            own.get(owner) or _branch_like(recorded[0], root, owner),
            messages=[*part.shown_elsewhere, *part.messages],
            answers=part.answers,
        )


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


def _known(user_id: int, roots: Collection[str]) -> Known:
    sessions = sessions_named(user_id, roots)
    rows = Message.of(user_id).filter(session__in=sessions, client_id__startswith="imported:")
    rows = rows.annotate(
        own=KeyTextTransform("imported_id", "session__metadata"),
        root=KeyTextTransform("branch_of", KeyTextTransform("origin", "session__metadata")),
    )
    known: dict[str, dict[str, str]] = defaultdict(dict)
    for client_id, own, root in rows.annotate(key=F("client_id")).values_list("key", "own", "root"):
        known[root or own][client_id] = own
    return known
