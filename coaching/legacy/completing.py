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
from coaching.legacy.recording import MAX_NAME_CHARACTERS, MAX_TITLE_CHARACTERS
from coaching.legacy.switching import Digests, digest_of
from coaching.legacy.tally import Tally
from sessions_app.import_completions import Completion, complete_recorded
from sessions_app.import_metadata import MODEL_KEY, PROJECT_KEY, TITLE_KEY
from sessions_app.imports import KnownSession
from sessions_app.models import TitleSource
from sessions_app.recorded import RecordedMessage, RecordedSession, message_id_of

NOT_COMPLETED = gettext_noop(
    "You wrote in this conversation or chose another answer, so what an earlier import left out of it wasn’t "
    "added."
)

_SEVERAL = {
    TITLE_KEY: (" · ", MAX_TITLE_CHARACTERS),
    PROJECT_KEY: (", ", MAX_NAME_CHARACTERS),
    MODEL_KEY: (", ", MAX_NAME_CHARACTERS),
}
"""Parts of an origin that may differ between exports: their separator, and the limit in characters."""


def complete(*, user_id: int, import_id: int | None, found: Found, tally: Tally) -> Collection[UUID]:
    """Complete known sessions, without an import only count; return those that this import completed."""
    by_me = {held.session_id: held.completed.get(str(import_id), 0) for held, _ in found}
    may_lack = [pair for pair in found if any(said.shorter for said in (*pair[1].said, *pair[1].answers))]
    stored = stored_digests(user_id, [held.session_id for held, _ in may_lack])
    wanted = {}
    for held, recorded in found:
        texts = stored.get(held.session_id, {})
        missing = [said for said in (*recorded.said, *recorded.answers) if _is_shorter(said, texts)]
        origin = _lacking(held, recorded)
        if (missing or origin) and not held.is_deleted:
            wanted[held.session_id] = Completion(session_id=held.session_id, messages=missing, origin=origin)
    used = {held.session_id for held, _ in found if held.is_used_here}
    free = [each for key, each in wanted.items() if key not in used]
    done = {each.session_id: len(each.messages) for each in free}
    if import_id is not None and free:
        done = _completed(user_id, import_id, free)
    for held, recorded in found:
        lacking = wanted.get(held.session_id)
        is_left = lacking and held.session_id not in done
        if lacking and is_left and (lacking.messages or lacking.origin.keys() - {MODEL_KEY}):
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
    """Return what is told now of where a session was recorded, together with what was told before.

    Exports come in any order, so none of them has the last word.
    """
    title = recorded.origin.get(TITLE_KEY, "")
    if not title and recorded.title_source == TitleSource.MODEL:
        title = recorded.title
    told = {**recorded.origin, TITLE_KEY: "" if title == held.title else title}
    lacking = {}
    for key, (between, most) in _SEVERAL.items():
        known = held.origin.get(key, "")
        names = filter(None, [*known.split(between), *told.get(key, "").split(between)])
        if (all_names := between.join(dict.fromkeys(names))[:most]) != known:
            lacking[key] = all_names
    return lacking


def _is_shorter(said: RecordedMessage, stored: Digests) -> bool:
    shorter = said.shorter_content
    return shorter is not None and stored.get(message_id_of(said.imported_id)) == digest_of(shorter)


def not_completed(recorded: RecordedSession) -> Problem:
    """Return what a person is told of a conversation that wasn't completed."""
    return Problem(where=recorded.where, text=NOT_COMPLETED, is_lost=False)
