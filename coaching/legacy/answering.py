"""Brings other answers to messages that earlier imports stored without them.

In conversations that went on here nothing changes, so their answers are named. What an import brings to its
own conversations is stored with them.
"""

from collections.abc import Collection, Iterator
from uuid import UUID

from django.utils.translation import gettext_noop

from coaching.legacy.completing import not_completed
from coaching.legacy.importers.things import Problem
from coaching.legacy.newer import EDITED, Found, stored_digests
from coaching.legacy.switching import answered_in, is_stored, switched
from coaching.legacy.tally import Tally
from sessions_app.import_answers import add_answers
from sessions_app.recorded import RecordedMessage, RecordedSession, message_id_of

ANSWERS_LEFT = gettext_noop("Other answers to its messages weren’t added, since those are in another branch.")


def store_answers(
    *, user_id: int, import_id: int | None, found: Found, tally: Tally, appended: Collection[UUID] = ()
) -> Collection[UUID]:
    """Store other answers in known sessions, without an import only count; return those that got some.

    Sessions that were `appended` to have all of their messages.
    """
    by_me = {held.session_id: held.answered.get(str(import_id), 0) for held, _ in found}
    may_lack = [pair for pair in found if pair[1].answers and not pair[0].is_deleted]
    stored = stored_digests(user_id, [held.session_id for held, _ in may_lack])
    wanted, refused = {}, []
    for held, recorded in may_lack:
        keys = set(stored[held.session_id])
        if held.session_id in appended:
            keys |= {message_id_of(message.imported_id) for message in recorded.messages}
        if not all(
            is_stored(answer, stored[held.session_id].values())
            for answer in recorded.answers
            if message_id_of(answer.imported_id) in stored[held.session_id]
        ):
            tally.report(Problem(where=recorded.where, text=EDITED, is_lost=False))
        if missing := list(_missing(recorded, keys)):
            if held.is_used_here:
                refused.append(recorded)
            else:
                wanted[held.session_id] = missing
    done = {key: len(missing) for key, missing in wanted.items()}
    if import_id is not None and wanted:
        done = dict(add_answers(user_id=user_id, import_id=import_id, answers=wanted))
    for recorded in refused:
        tally.report(not_completed(recorded))
    for held, recorded in may_lack:
        if done.get(held.session_id, 0) < len(wanted.get(held.session_id, ())):
            tally.report(Problem(where=recorded.where, text=ANSWERS_LEFT, is_lost=False))
    tally.answers += sum(by_me.values()) + sum(done.values())
    return {key for counts in (by_me, done) for key, count in counts.items() if count}


def _missing(recorded: RecordedSession, stored: Collection[str]) -> Iterator[RecordedMessage]:
    """Yield the answers that aren't stored, to messages that have one."""
    answered = {asked.imported_id for asked, _ in answered_in(recorded)}
    for answer in recorded.answers:
        is_asked = answer.answers_to in answered and message_id_of(answer.answers_to) in stored
        if is_asked and message_id_of(answer.imported_id) not in stored:
            yield answer
    yield from switched(recorded, stored)
