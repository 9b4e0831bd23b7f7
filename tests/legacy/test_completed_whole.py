"""What an earlier version imported is whole once it is imported again, and an undo takes back just that.

Earlier versions stored no other answers and branches, no files and no texts of attachments.
"""

import asyncio
import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.jobs.briefs import StaleBriefError, write_briefs
from coaching.jobs.summaries import REQUEST, write_summary
from coaching.legacy.completing import NOT_COMPLETED
from coaching.legacy.documents import NOT_LINKED
from coaching.legacy.imports import Export
from coaching.legacy.newer import USED_HERE
from coaching.legacy.reading import check_steps
from coaching.legacy.running import import_steps
from coaching.legacy.storing import Target
from coaching.legacy.tally import Tally
from coaching.legacy.undoing import COMPLETED_SINCE, WENT_ON
from coaching.legacy.watching import RowWatch
from coaching.library.documents.filing import delete_document
from coaching.model_client.connection import ModelConnection
from coaching.models import Document, Import
from coaching.practice import PracticeServer
from coaching.practice.script import Hold, Reply
from sessions_app.alternatives import choose_answer
from sessions_app.briefs import WrittenBrief, read_brief_work, store_brief
from sessions_app.database import in_database
from sessions_app.models import Message, Session, SessionBrief, Turn
from sessions_app.services import open_turn
from tests.jobs.conftest import empty_queue
from tests.jobs.test_briefs import BRIEF_ASKED
from tests.legacy.real_exports import EXPORTS, chatgpt_2023, chatgpt_2024, claude_2023
from tests.legacy.test_import_command import rows_of, run_import
from tests.legacy.test_newer_export import problems_of
from tests.legacy.test_undo import undo
from tests.legacy.test_whole_exports import written
from tests.legacy.whole import missing_of
from tests.stored_turns import new_turn

pytestmark = pytest.mark.django_db(transaction=True)

LEASE_BEFORE = "What does my lease say?\n\nA text that was pasted.\n\n(Attached: lease.txt)"


@pytest.fixture(autouse=True)
def _empty_queue() -> None:
    empty_queue()


def make_as_before(user: User) -> None:
    """Take away what the version of cfaedee didn't store."""
    for document in Document.of(user.pk):
        delete_document(user_id=user.pk, document_id=document.pk)
    Session.of(user.pk).exclude(archived_at=None).delete()
    Turn.of(user.pk).filter(is_withdrawn=True).delete()
    Turn.of(user.pk).update(message_number=None)
    for message in Message.of(user.pk):
        message.metadata = {"imported_id": message.metadata["imported_id"]}
        if "The rent is due on Monday." in message.content:
            message.content = LEASE_BEFORE
        if message.content.startswith("(An image)\n\nA warm boiler."):
            message.content = "(An image)"
        message.save()
    for session in Session.of(user.pk):
        count = session.messages.count()
        session.metadata = {key: session.metadata[key] for key in ("imported_id", "import")}
        session.last_message_number = session.imported_until = count
        session.save()
    empty_queue()


def whole_rows(user: User) -> dict[str, Any]:
    """Return what an import makes, with documents and the messages that they belong to."""
    names = dict(Document.of(user.pk).values_list("pk", "name"))
    linked = Message.of(user.pk).filter(metadata__has_key="documents").order_by("metadata__imported_id")
    origins = Session.of(user.pk).order_by("metadata__imported_id").values_list("metadata", flat=True)
    return rows_of(user) | {
        "origins": [(each["imported_id"], each.get("origin")) for each in origins],
        "documents": sorted(names.values()),
        "linked": [
            (row.metadata["imported_id"], sorted(names[each] for each in row.metadata["documents"]))
            for row in linked
        ],
        "shared": sorted(
            Turn.of(user.pk).exclude(message_number=None).values_list("is_withdrawn", flat=True)
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTS)
def test_importing_again_makes_whole_what_an_earlier_version_imported(
    name: str, tmp_path: Path, user: User, other_user: User
) -> None:
    path = written(tmp_path, EXPORTS[name]())
    run_import(path, user)
    make_as_before(user)
    before = whole_rows(user)
    predicted = run_import(path, user, "--dry-run")
    assert whole_rows(user) == before
    counts = run_import(path, user)
    assert counts == predicted
    assert (counts["sessions"], counts["messages"] > 0) == (0, counts["branches"] > 0)
    assert missing_of(path.read_bytes(), user) == []
    run_import(path, other_user)
    assert whole_rows(user) == whole_rows(other_user)
    row = Import.of(user.pk).latest("pk")
    assert undo(user, row).kept == []
    assert whole_rows(user) == before


def go_on(user: User, session: Session) -> None:
    open_turn(new_turn(session, owner="test"), text="On here.", client_id=None)


def test_what_was_continued_here_is_not_touched_and_its_files_are_in_the_library(
    tmp_path: Path, user: User
) -> None:
    for members, sentence in ((chatgpt_2023(), NOT_COMPLETED), (chatgpt_2024(), NOT_LINKED)):
        path = written(tmp_path, members)
        run_import(path, user)
        make_as_before(user)
        go_on(user, Session.of(user.pk).latest("last_active_at"))
        messages = list(Message.of(user.pk).order_by("pk").values_list("pk", "number", "content", "metadata"))
        run_import(path, user)
        after = Message.of(user.pk).filter(session__archived_at=None).order_by("pk")
        assert list(after.values_list("pk", "number", "content", "metadata")) == messages
        assert sentence in problems_of(user)
        Session.of(user.pk).all().delete()
    assert {each.name for each in Document.of(user.pk)} >= {"boiler photo.png", "lease.pdf"}


def test_an_import_that_an_earlier_version_began_brings_the_answers_that_it_lacks(
    tmp_path: Path, user: User
) -> None:
    path = written(tmp_path, chatgpt_2023())
    run_import(path, user)
    make_as_before(user)
    row = Import.of(user.pk).get()
    target = Target(user_id=user.pk, row=row, timezone=ZoneInfo("UTC"), now=timezone.now())
    with path.open("rb") as file:
        export = Export(file=file, name="a", size=path.stat().st_size)
        checked = next(filter(None, check_steps(file, RowWatch(None), wanted=None)))
        list(import_steps(target, export.file, checked, Tally(), RowWatch(None)))
    assert Turn.of(user.pk).filter(is_withdrawn=True, session__archived_at=None).count() == 1


def choose_other_answer(user: User) -> Session:
    """Choose the answer of `a4`, where its question is the last one."""
    session = Session.of(user.pk).get(metadata__imported_id="c-2023")
    other = Turn.within(session).get(messages__metadata__imported_id="a4")
    assert other.is_withdrawn
    choose_answer(user_id=user.pk, session_id=session.pk, turn_id=str(other.pk))
    return session


def test_choosing_another_answer_is_a_change_of_its_persons_own(tmp_path: Path, user: User) -> None:
    members = dict(chatgpt_2023())
    (told,) = json.loads(members["conversations.json"])
    newer = written(tmp_path, members).rename(tmp_path / "newer.zip")
    for key in ("a5", "a6", "b3", "b4", "b5"):
        del told["mapping"][key]
    told |= {"current_node": "a3"}
    older = written(tmp_path, members | {"conversations.json": json.dumps([told]).encode()})
    # As an answer of the import itself: a newer export and an undo leave it alone, and say why.
    run_import(older, user)
    session = choose_other_answer(user)
    run_import(newer, user)
    assert USED_HERE in problems_of(user)
    assert (
        Message.within(session).get(turn__is_withdrawn=False, role="assistant").content.startswith("They sl")
    )
    assert undo(user, Import.of(user.pk).earliest("pk")).kept == [
        {"session": str(session.pk), "text": WENT_ON}
    ]
    # As an answer that a later import brought.
    Session.of(user.pk).all().delete()
    run_import(older, user)
    make_as_before(user)
    run_import(older, user)
    session = choose_other_answer(user)
    later = undo(user, Import.of(user.pk).latest("pk"))
    assert {"session": str(session.pk), "text": COMPLETED_SINCE} in later.kept
    assert "They sleep" in Message.within(session).get(turn__is_withdrawn=False, role="assistant").content


def read_and_write(user: User, *, words: str) -> WrittenBrief:
    """Return a brief as a job writes it from what it has read."""
    work = read_brief_work(Session.of(user.pk).get().pk)
    assert work is not None
    assert work.messages[0].content.startswith("What does my lease say?")
    return WrittenBrief(
        messages=work.messages,
        input_version=1,
        left_open=(),
        model="test",
        usage_id=None,
        cost_micro_usd=0,
        finish=lambda _: f"- {words}",
    )


def test_a_brief_that_was_read_before_a_completion_or_an_undo_is_not_stored(
    tmp_path: Path, user: User
) -> None:
    path = written(tmp_path, claude_2023())
    run_import(path, user)
    make_as_before(user)
    for change in (
        lambda: run_import(path, user),
        lambda: undo(user, Import.of(user.pk).filter(counts__completed=1).get()),
    ):
        work = read_brief_work(Session.of(user.pk).get().pk)
        brief = read_and_write(user, words="Of other words.")
        change()
        assert work is not None
        assert store_brief(work, brief) is None
        assert not SessionBrief.of(user.pk).exists()
    # The job that reads it again has the words as they are now.
    work = read_brief_work(Session.of(user.pk).get().pk)
    assert work is not None
    assert work.messages[0].content == LEASE_BEFORE
    assert store_brief(work, read_and_write(user, words="A lease.")) is not None


async def test_what_is_being_written_about_a_conversation_that_is_completed_or_undone_is_written_anew(
    tmp_path: Path, user: User, practice: PracticeServer
) -> None:
    path = written(tmp_path, claude_2023())

    def begin() -> Session:
        run_import(path, user)
        make_as_before(user)
        Session.of(user.pk).update(status="completed", ended_at=timezone.now())
        return Session.of(user.pk).get()

    def undo_completion() -> None:
        undo(user, Import.of(user.pk).filter(counts__completed=1).get())

    def forget() -> None:
        SessionBrief.of(user.pk).delete()
        Session.of(user.pk).update(brief_covers=0, summary="", summary_covers=0)

    session = await in_database(begin)
    connection = ModelConnection()
    client = await connection.client()
    for words, change in (("Monday", lambda: run_import(path, user)), ("weekly", undo_completion)):
        practice.script(
            [Reply.of("- Too ", Hold(f"brief {words}"), "early [1]"), f"- {words} [1]"], key=BRIEF_ASKED
        )
        practice.script([Reply.of("Too ", Hold(f"summary {words}"), "early."), f"{words}."], key=REQUEST)
        brief = asyncio.create_task(write_briefs(session.id, client=client))
        summary = asyncio.create_task(write_summary(session.id, client=client))
        await practice.reached(f"brief {words}")
        await practice.reached(f"summary {words}")
        await in_database(change)
        practice.release(f"brief {words}")
        practice.release(f"summary {words}")
        with pytest.raises(StaleBriefError):
            await brief
        assert await summary
        assert await write_briefs(session.id, client=client) == 1
        await in_database(session.refresh_from_db)
        assert session.summary == f"{words}."
        newest = await in_database(SessionBrief.of(user.pk).filter(is_withdrawn=False).get)
        assert newest.text == f"- {words} [1]"
        await in_database(forget)
    await connection.close()
