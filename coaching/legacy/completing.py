"""Completes what earlier versions imported without a part of its text, such as that of attachments.

Only messages that are still stored as those versions read them, in conversations that didn't go on here. What
is known of where these were recorded is completed, too, and kept up to date.
"""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_noop

from coaching.context.budget import count_tokens
from coaching.legacy.costs import change_brief_tokens
from coaching.legacy.importers.things import Problem
from coaching.legacy.newer import Found, stored_digests
from coaching.legacy.recording import MAX_NAME_CHARACTERS
from coaching.legacy.switching import Digests, digest_of
from coaching.legacy.tally import Tally
from sessions_app.import_completions import Completion, complete_recorded
from sessions_app.imports import (
    BRANCH_KEY,
    MODEL_KEY,
    KnownSession,
    RecordedMessage,
    RecordedSession,
    message_id_of,
)

NOT_COMPLETED = gettext_noop(
    "You wrote in this conversation or chose another answer, so what an earlier import left out of it wasn’t "
    "added."
)


def complete(*, user_id: int, import_id: int | None, found: Found, tally: Tally) -> Collection[UUID]:
    """Complete known sessions, without an import only count; return those that this import completed."""
    by_me = {held.session_id: held.completed.get(str(import_id), 0) for held, _ in found}
    may_lack = [pair for pair in found if any(said.shorter for said in pair[1].messages)]
    stored = stored_digests(user_id, [held.session_id for held, _ in may_lack])
    wanted = {}
    for held, recorded in found:
        texts = stored.get(held.session_id, {})
        missing = [said for said in recorded.messages if _is_shorter(said, texts)]
        origin = _lacking(held, recorded)
        if (missing or origin) and not held.is_deleted:
            wanted[held.session_id] = Completion(session_id=held.session_id, messages=missing, origin=origin)
    used = {held.session_id for held, _ in found if held.is_used_here}
    free = [each for key, each in wanted.items() if key not in used]
    done = {each.session_id: len(each.messages) for each in free}
    if import_id is not None and free:
        done = _completed(user_id, import_id, free)
    for held, recorded in found:
        if held.session_id in wanted and held.session_id not in done:
            tally.report(not_completed(recorded))
    tally.completed += sum(by_me.values()) + sum(done.values())
    return {key for counts in (by_me, done) for key, count in counts.items() if count}


@transaction.atomic
def _completed(user_id: int, import_id: int, wanted: Sequence[Completion]) -> dict[UUID, int]:
    changed = complete_recorded(
        user_id=user_id, import_id=import_id, completions=wanted, measure=count_tokens
    )
    # What this import made is in its tally.
    change_brief_tokens(user_id, [each for each in changed if each.made_by != import_id])
    return {each.session_id: each.count for each in changed}


def _lacking(held: KnownSession, recorded: RecordedSession) -> Mapping[str, str]:
    """Return what is known now of where a session was recorded and wasn't, and its models with new ones."""
    lacking = {key: value for key, value in recorded.origin.items() if key not in {*held.origin, BRANCH_KEY}}
    known = held.origin.get(MODEL_KEY, "")
    models = (
        each for origin in (held.origin, recorded.origin) for each in origin.get(MODEL_KEY, "").split(", ")
    )
    if (both := ", ".join(filter(None, dict.fromkeys(models)))[:MAX_NAME_CHARACTERS]) != known:
        lacking[MODEL_KEY] = both
    return lacking


def _is_shorter(said: RecordedMessage, stored: Digests) -> bool:
    shorter = said.shorter_content
    return shorter is not None and stored.get(message_id_of(said.imported_id)) == digest_of(shorter)


def not_completed(recorded: RecordedSession) -> Problem:
    """Return what a person is told of a conversation that wasn't completed."""
    return Problem(where=recorded.where, text=NOT_COMPLETED, is_lost=False)
