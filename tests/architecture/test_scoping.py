"""Every query names its user: people's rows are reached through `of` and `within`; exceptions are listed
here.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Manager, Model

from coaching.models import Capture, DayPlan, Profile, RecallPassage, UserFileVersion
from coaching.personal_data.ownership import owned_models
from sessions_app.models import Message, Session, ToolCallRecord, Turn
from sessions_app.owned import Owned, Unscoped
from tests.architecture.parsing import parse
from tests.personal_data.life import live
from tests.sage.processes import PROJECT

BY_KEY = "by the key of a turn that was opened through its user's session"
BY_SESSION = "by the key of a session that was reached through its user"
BY_FENCE = f"{BY_KEY}, at its fencing number"
BY_MESSAGE = "by the key of a message that was found through its turn"
BY_CALL = "by the key of a call that its user has just answered"
BY_VERSION = "by the key of a version that its user has just written"
READERS = "for sockets: their consumer checks the session's user before each frame"

UNSCOPED: Mapping[str, str] = {
    # The admin: staff with permissions.
    "coaching/admin/briefs.py:BriefAdmin.words": "an operator reads a brief",
    "coaching/admin/briefs.py:BriefedSessionAdmin.prompt": "an operator reads what would be sent",
    "coaching/library/admin/tables.py:WithoutWords.words": "an operator reads a document or what came of it",
    "coaching/library/rows/costs.py:calls_about": "an operator reads sums",
    "coaching/model_client/pace.py:pace_of": "an operator reads how fast the model is",
    "coaching/admin/transcripts.py:TranscriptAdmin.words": "an operator reads a conversation",
    "coaching/admin/start.py:_people_figures": "an operator reads sums",
    "sessions_app/figures.py:read_brief_figures": "an operator reads sums",
    "sessions_app/figures.py:read_turn_figures": "an operator reads sums",
    "sessions_app/figures.py:sessions_with_brief_behind": "an operator reads sums",
    "sessions_app/usage_report.py:usage_between": "an operator reads sums",
    # Readers of a session, whose access was checked when they attached.
    "coaching/files/safety_plans.py:read_card_plan_of_session": "the plan of a session's own user, on a card",
    "coaching/transcript/cards.py:_read_steps": "the steps of calls of a session that was reached",
    "coaching/library/documents/findings.py:wait_for_text": "a job waits for the document of its arguments",
    "coaching/library/pipeline/subjects.py:read_subject": "a job reads the document of its arguments",
    "coaching/library/rows/attached.py:read_attached": "the documents of messages that were read",
    "coaching/library/rows/attached.py:read_moved": "documents of a session that is followed",
    "coaching/library/moves.py:moving": "sessions of documents that were found through their user",
    "coaching/library/moves.py:adding": BY_SESSION,
    "coaching/jobs/tasks.py:_wait_for_silence": "a job of one session",
    "coaching/context/life_queries.py:recent_rows": "rows of sessions that were reached through their user",
    # Jobs and processes for everybody. The queue's arguments are ours, never a request's.
    "coaching/calendar/refresh.py:begin_refresh": "a job reads one calendar anew",
    "coaching/calendar/refresh.py:finish_refresh": "a job reads one calendar anew",
    "coaching/calendar/refresh.py:enqueue_due": "a job looks for calendars that are due",
    "coaching/programs/tokens.py:_caller": "a request is for whoever its token belongs to",
    "coaching/inbox/taking.py:decide": "a mail is for whoever its token belongs to",
    "coaching/inbox/state.py:begin_reading": "a job reads everybody's mailbox",
    "coaching/inbox/state.py:settle": "by the number of a mail that the job has decided",
    "coaching/inbox/state.py:_count_refusal": "a job counts what it left on the server",
    "coaching/inbox/state.py:set_aside": "whose mail it is isn't known before the server hands it over",
    "coaching/inbox/state.py:note_success": "a job removes what was refused long ago",
    "coaching/inbox/polling.py:Reading._batches": "a job reads everybody's mailbox",
    "coaching/inbox/polling.py:Reading._move_taken": "a job reads everybody's mailbox",
    "coaching/admin/start.py:_inbox_figures": "an operator reads sums",
    "coaching/letters/due.py:_due": "a job looks for people whose letter is due",
    "coaching/reminders/due.py:wanted": "a job looks for reminders that are due",
    "coaching/reminders/due.py:forget_old": "a job removes what was sent long ago",
    "coaching/reminders/due.py:_occasions": "a job looks for reminders that are due",
    "coaching/reminders/due.py:_read": "a job looks for reminders that are due",
    "coaching/reminders/due.py:_claim": "the devices of people whose reminder is due",
    "coaching/reminders/steps.py:due_steps": "a job looks for steps that are due",
    "coaching/reminders/steps.py:times_of_steps": "a job looks for steps that are due",
    "coaching/reminders/devices.py:add_device": "a browser's address, which another person used until now",
    "coaching/reminders/devices.py:read_push": "a job sends to the device that it was queued for",
    "coaching/reminders/devices.py:forget_device": "a job sends to the device that it was queued for",
    "coaching/reminders/devices.py:note_reached": "a job sends to the device that it was queued for",
    "coaching/reminders/devices.py:note_failure": "a job sends to the device that it was queued for",
    "coaching/files/organising.py:_purge": "a job deletes what users deleted weeks ago",
    "coaching/files/organising.py:purge_deleted_files": "a job deletes what users deleted weeks ago",
    "sage/backups/endings.py:end_what_ran": "a restore ends what ran, of everybody",
    "coaching/files/lost.py:bytes_of_row": "a backup or a restore finds an object lost, by its key",
    "coaching/files/lost.py:give_up": "a restore finds an object lost, by its key",
    "coaching/files/garbage.py:_read_keys_without_row": "a job looks for objects that no row names",
    "coaching/legacy/imports.py:settle_all": "a job looks for imports whose job was lost",
    "coaching/legacy/imports.py:job_steps": "a job stores or undoes a person's import",
    "coaching/jobs/summaries.py:is_answering": "a job writes a session's summary",
    "coaching/jobs/summaries.py:_read_source": "a job writes a session's summary",
    "coaching/job_queue/sessions.py:enqueue_follow_ups": "sessions whose turns ended, or whose brief is due",
    "coaching/model_client/requests.py:store_usage": "a request outside a turn is paid for by its session",
    "coaching/jobs/voice.py:_waiting": "a job turns a recording into words",
    "coaching/voice/recordings.py:erase_old_recordings": "a job erases recordings that nobody came back for",
    "coaching/jobs/titles.py:_read_beginning": "a job gives a session its title",
    "coaching/jobs/tasks.py:_try_brief_again": "a job writes a session's brief",
    "sessions_app/briefs.py:read_brief_work": "a job writes a session's brief",
    "sessions_app/briefs.py:lacks_answers": "a job writes a session's brief",
    "sessions_app/briefs.py:count_attempt": "a job writes a session's brief",
    "coaching/recall/vectors.py:people_behind": "a job looks for people with passages to encode",
    "coaching/library/documents/drawn_pages.py:expire_pages": "a job removes what was drawn long ago",
    "coaching/library/jobs/reading.py:_owner": "a job reads a document",
    "coaching/library/jobs/reading.py:_queue_again": "a job reads a document",
    "coaching/library/jobs/reading.py:_users_with_queued": "a job looks for documents that wait",
    "coaching/library/jobs/reading.py:resume_waiting": "a job looks for documents that wait",
    "coaching/library/jobs/reading.py:_calls_about": "a job looks for documents that wait",
    "coaching/library/jobs/reading.py:queue_lost_readings": "a job looks for documents that wait",
    "coaching/library/pipeline/call_records.py:begin_call": "a prefix's cache is shared by everybody's calls",
    "coaching/library/pipeline/call_records.py:calls_in_batches": "a job fetches the answers of batches",
    "coaching/library/pipeline/claims.py:free_silent": "a job looks for documents whose job was lost",
    "coaching/library/pipeline/page_texts.py:keep_page_texts": "by the key of a claimed document",
    "coaching/library/pipeline/stored_text.py:store_text": "by the key of a claimed document",
    "coaching/live/take_over.py:_read_stop_requests": "turns that this process runs",
    "sessions_app/expiry.py:_idle": "a job looks for idle sessions",
    "sessions_app/organising.py:_purge": "a job removes deleted sessions",
    "sessions_app/session_events.py:prune": "a job removes logs that nobody needs",
    "sessions_app/organising.py:purge_deleted_sessions": "a job removes deleted sessions",
    "sessions_app/leases.py:read_leases": "turns of other processes, to be taken over",
    # The running turn.
    "coaching/turns/resume.py:load_setup": BY_KEY,
    "coaching/turns/resume.py:shrink_turn": BY_KEY,
    "coaching/turns/setup.py:read_state": BY_KEY,
    "coaching/turns/kept.py:read_kept": "by turns that were withdrawn under their session's lock",
    "sessions_app/leases.py:claim_turn": BY_FENCE,
    "sessions_app/turn_locks.py:locked_turn": BY_FENCE,
    "sessions_app/turn_locks.py:_session": BY_KEY,
    "sessions_app/turn_answers.py:_rounds": BY_KEY,
    "sessions_app/turn_answers.py:_calls": BY_KEY,
    "sessions_app/turn_answers.py:_usage": BY_KEY,
    "sessions_app/turn_records.py:store_usage": BY_KEY,
    "sessions_app/selectors.py:read_open_turn_status": BY_SESSION,
    "sessions_app/selectors.py:_numbers_before": BY_SESSION,
    "sessions_app/selectors.py:_tail_rows": BY_SESSION,
    "sessions_app/selectors.py:_withdrawn_before": BY_SESSION,
    "sessions_app/briefs.py:_newest": BY_SESSION,
    "coaching/care/reading.py:_asks": "messages of sessions in which a person's own row says that Sage asked",
    "coaching/care/reading.py:_ends": "messages of sessions in which a person's own row says that it ended",
    "coaching/care/reading.py:_own_messages": BY_SESSION,
    "coaching/turns/second_looks.py:_own": BY_KEY,
    "coaching/turns/last_question.py:own_message": BY_KEY,
    "coaching/turns/last_question.py:before_own_message": BY_KEY,
    "coaching/turns/second_looks.py:note_danger": BY_MESSAGE,
    "coaching/turns/second_looks.py:read_answer": BY_CALL,
    "coaching/turns/second_looks.py:_note_answer": BY_CALL,
    "coaching/turns/second_looks.py:read_capture": BY_VERSION,
    "coaching/life/capture_verdicts.py:note_capture": "of a version that was found through its user",
    "coaching/life/capture_verdicts.py:raise_verdict": BY_VERSION,
    "coaching/life/capture_verdicts.py:drop_look": BY_VERSION,
    "coaching/life/capture_verdicts.py:claim_looks": "of everybody, for those whose process died",
    "coaching/life/capture_verdicts.py:_due_look": "of everybody, for those whose process died",
    "coaching/turns/answer_second_looks.py:claim_answer_looks": "of everybody, for those whose process died",
    "coaching/turns/answer_second_looks.py:_due_answer_look": "of everybody, for those whose process died",
    "coaching/models/safety.py:CaptureVerdict.words_stand": "newer rows of the files that it filters",
    "sessions_app/verdicts.py:store_verdict": BY_MESSAGE,
    "sessions_app/verdicts.py:read_verdicts": BY_SESSION,
    "sessions_app/verdicts.py:read_levels": READERS,
    "sessions_app/briefs.py:_corrections": BY_SESSION,
    # What a turn's readers see.
    "coaching/live/following.py:read_positions": READERS,
    "coaching/live/following.py:read_news": READERS,
    "coaching/live/following.py:Follower._events_with_text": READERS,
    "coaching/live/showing.py:_message": READERS,
    "coaching/live/showing.py:_is_in_history": READERS,
    "coaching/live/showing.py:_part_ended": READERS,
    "coaching/live/showing.py:_call": READERS,
    "coaching/live/showing.py:_answer_picked": READERS,
    "coaching/live/showing.py:_titled": READERS,
    "coaching/live/showing.py:_step_told": READERS,
    "coaching/live/showing.py:_call_of": READERS,
    "coaching/people/help_lines.py:read_session_offer": READERS,
    "coaching/transcript/rows.py:_place": READERS,
    "coaching/transcript/rows.py:_turn": READERS,
    "coaching/transcript/rows.py:_answer": READERS,
    "coaching/transcript/rows.py:_verdict": READERS,
    "coaching/transcript/rows.py:read_calls": READERS,
    "sessions_app/spending.py:read_spending_of_turns": "by turns that a page has read through their session",
    # Replies of everybody that are rewritten, each under its session's lock.
    "coaching/legacy/backfill.py:_old_replies": "of everybody, unless a user is given",
    "coaching/legacy/backfill.py:_store": "by messages that were read, under their session's lock",
    "coaching/legacy/backfill.py:_unhindered": BY_SESSION,
    # A person's whole data, found through all models.
    "coaching/personal_data/ownership.py:OwnedModel.rows_of": "filtered by the path to the user",
}
"""Every function that queries people's rows without a user, and what keeps people apart instead."""

UNSCOPED_NAMES = {"unscoped", "_default_manager", "_base_manager"}
SHORTCUTS = {"get_object_or_404", "get_list_or_404", "aget_object_or_404", "aget_list_or_404"}
GENERIC = "django.views.generic"


def texts() -> Iterator[tuple[str, str]]:
    for package in ("sage", "coaching", "sessions_app"):
        for path in sorted((PROJECT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(PROJECT)), path.read_text()


def sources_with(words: Iterable[str]) -> Iterator[tuple[str, ast.Module]]:
    """Yield the trees of those modules whose text contains one of the words: parsing all takes seconds."""
    contains = re.compile("|".join(map(re.escape, words))).search
    yield from ((path, parse(text)) for path, text in texts() if contains(text))


def functions_with(tree: ast.AST, names: set[str], inside: str = "") -> Iterator[str]:
    """Yield the qualified names of functions and classes that read one of these attributes."""
    for node in ast.iter_child_nodes(tree):
        place = inside
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            place = f"{inside}.{node.name}".lstrip(".")
        if isinstance(node, ast.Attribute) and node.attr in names:
            yield inside
        if isinstance(node, ast.Constant) and node.value in names:  # getattr(model, "unscoped")
            yield inside
        yield from functions_with(node, names, place)


def owned_of_ours() -> dict[type[Owned], str]:
    found = {}
    for owned in owned_models():
        if owned.model._meta.app_label in {"coaching", "sessions_app"}:
            assert issubclass(owned.model, Owned), f"{owned.label} belongs to people: derive it from Owned"
            found[owned.model] = owned.path
    return found


def test_every_model_of_people_is_reached_through_its_user_alone() -> None:
    for model, path in owned_of_ours().items():
        assert model.owner_path == path, model
        (manager,) = model._meta.managers
        assert isinstance(manager, Unscoped), model
        with pytest.raises(AttributeError, match=r"of\(user_id\)"):
            _ = model.objects


@pytest.mark.slow
def test_every_query_without_a_user_is_named_here() -> None:
    found = {
        f"{path}:{function}"
        for path, tree in sources_with(UNSCOPED_NAMES)
        if path != "sessions_app/owned.py"
        for function in functions_with(tree, UNSCOPED_NAMES)
    }
    assert found == UNSCOPED.keys()


@pytest.mark.slow
def test_nothing_goes_around_the_models() -> None:
    """Shortcuts and generic views would use a model's default manager, which is unscoped."""
    for path, tree in sources_with({*SHORTCUTS, GENERIC}):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert not SHORTCUTS & {name.name for name in node.names}, path
                assert not (node.module or "").startswith(GENERIC), path


def statements(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


RANKED_IN_SQL = {
    "coaching/recall/ranking.py": "the statement that ranks passages",
    "coaching/recall/meaning.py": "the part of it that goes by meaning",
    "coaching/recall/search.py": "the part of it that keeps to bounds",
    "coaching/recall/vectors.py": "the extension's type",
    "coaching/recall/passages.py": "texts are cut by the function that cut them for the index",
    "coaching/library/rows/headlines.py": "counts and headlines of a library, in one row of JSON",
    "coaching/recall/terms.py": "words are stemmed by the function that stemmed the index",
}
"""Modules with statements that the ORM can't write, each of which names the user."""


@pytest.mark.slow
def test_no_statement_names_a_table() -> None:
    tables = "|".join(model._meta.db_table for model in apps.get_models(include_auto_created=True))
    names_one = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO)\s+\"?(?:{tables})\b")
    found = [
        (path, text)
        for path, tree in sources_with(("FROM", "JOIN", "UPDATE", "INTO"))
        for text in statements(tree)
        if names_one.search(text)
    ]
    assert {path for path, _ in found} == RANKED_IN_SQL.keys()
    assert [path for path, text in found if "user_id = %(user)s" not in text] == []


CURSORS = {
    "sessions_app/queries.py": "runs prepared querysets, and writes a turn's start in one statement",
    "sessions_app/database.py": "advisory locks, time limits and snapshots",
    "sage/backups/copying.py": "lists the objects that a snapshot names, of everybody",
    "sage/restored_secret.py": "reads the database's comment",
    "coaching/files/former_databases.py": "drops databases that a restore has replaced",
}


OPENERS = {"cursor", "make_cursor", "raw", "RawSQL"}


def test_no_line_is_excused_for_a_private_name() -> None:
    assert [path for path, text in texts() if "SLF001" in text] == []


def test_few_modules_open_cursors() -> None:
    found = {
        path
        for path, tree in sources_with(OPENERS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in OPENERS
    }
    assert found == CURSORS.keys()


@pytest.mark.django_db
def test_each_model_gives_a_user_their_own_rows(user: User, other_user: User) -> None:
    live(user, "adaswords")
    live(other_user, "graceswords")
    for model, path in owned_of_ours().items():
        everybody = list(model.unscoped.all())
        # What the database derives from other rows comes in addition.
        assert len(everybody) == 2 or model is RecallPassage, model
        found = {person: list(model.of(person.pk)) for person in (user, other_user)}
        assert all(found.values()), model
        assert all(_owner_of(row, path) == person for person, rows in found.items() for row in rows)
        assert sum(map(len, found.values())) == len(everybody)


def _owner_of(row: Model, path: str) -> object:
    for step in path.split("__"):
        row = getattr(row, step)
    return row


@pytest.mark.django_db
def test_what_is_created_through_a_user_is_theirs(user: User, other_user: User) -> None:
    mine = Session.of(user.pk).create(user_id=other_user.pk)
    assert mine.user_id == user.pk
    profile, is_new = Profile.of(user.pk).select_for_update().get_or_create()
    assert (profile.user_id, is_new) == (user.pk, True)
    plan, _ = DayPlan.of(user.pk).update_or_create(date="2026-11-20", defaults={"intention": "rest"})
    assert plan.user_id == user.pk
    assert not Session.of(other_user.pk).exists()


@pytest.mark.django_db
def test_what_is_within_a_row_is_all_that_belongs_to_it(user: User, other_user: User) -> None:
    rows = live(user, "adaswords")
    others = live(other_user, "graceswords")
    turn, session = rows["sessions_app.Turn"], rows["sessions_app.Session"]
    assert isinstance(turn, Turn)
    assert isinstance(session, Session)
    mine = [*ToolCallRecord.of(user.pk)]
    assert [*ToolCallRecord.within(session)] == [*ToolCallRecord.within(turn)] == mine
    assert [*Message.within(session)] == [*Message.of(user.pk)]
    theirs = others["sessions_app.Turn"]
    assert isinstance(theirs, Turn)
    assert ToolCallRecord.within(turn, theirs).count() == 2
    assert not ToolCallRecord.within().exists()
    with pytest.raises(TypeError, match="doesn't belong"):
        UserFileVersion.within(session)


@pytest.mark.django_db
def test_a_capture_keeps_its_own_queries(user: User) -> None:
    live(user, "adaswords")
    Capture.of(user.pk).update(folded_on=None, put_away_at=None)
    assert Capture.of(user.pk).waiting().count() == 1


def test_owned_models_are_those_of_the_walk() -> None:
    walked = set(owned_of_ours())
    assert {model for model in apps.get_models() if issubclass(model, Owned)} == walked
    assert all(isinstance(model._default_manager, Manager) for model in walked)
