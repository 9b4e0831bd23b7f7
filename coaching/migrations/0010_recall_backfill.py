"""Index what was there before, in batches while the site runs: each is a transaction of its own.

A batch holds its rows against changes until it has committed. A change before is in what it reads, and one after
is seen by the triggers of 0009, which also index the turns that run now, when they end. Where a lock isn't free
at once, the batch is given up and tried again. Run again after an interruption, it skips what it has indexed.
"""

from django.db import migrations
from django.db.backends.utils import CursorWrapper

from sessions_app.migrations._locks import in_short_attempts

MESSAGES, SESSIONS, FILES = 500, 100, 25
"""Rows of a batch: it takes some tenths of a second."""

LAST_MESSAGE = "SELECT max(id) FROM (SELECT id FROM sessions_app_message WHERE id > %s ORDER BY id LIMIT %s) AS batch"
HOLD_TURNS = """
SELECT id FROM sessions_app_turn WHERE status <> 'running' AND id IN (
    SELECT turn_id FROM sessions_app_message WHERE id > %s AND id <= %s
) ORDER BY id FOR SHARE
"""
HOLD_MESSAGES = """
SELECT id FROM sessions_app_message WHERE id > %s AND id <= %s AND turn_id = ANY (%s::uuid[]) ORDER BY id FOR SHARE
"""
HOLD_SESSIONS = "SELECT id FROM sessions_app_session WHERE id > %s AND summary <> '' ORDER BY id LIMIT %s FOR SHARE"
INDEX_SESSIONS = """
SELECT coaching_recall_add_text(
    'summary', session.user_id, session.id, NULL, session.summary, coalesce(session.ended_at, session.last_active_at)
) FROM sessions_app_session AS session WHERE session.id = ANY (%s::uuid[])
"""
HOLD_FILES = "SELECT id FROM coaching_userfile WHERE id > %s ORDER BY id LIMIT %s FOR SHARE"
INDEX_FILES = """
SELECT coaching_recall_add_text('file', file.user_id, NULL, file.id, version.content, version.created_at)
FROM coaching_userfile AS file
JOIN coaching_userfileversion AS version ON version.file_id = file.id AND version.number = file.version_number
WHERE file.id = ANY (%s::bigint[])
"""
FIRST_SESSION = "00000000-0000-0000-0000-000000000000"


def index_messages(cursor: CursorWrapper, after: int) -> int | None:
    """Index a batch of messages; return the id of its last, or None after the last batch."""
    cursor.execute(LAST_MESSAGE, [after, MESSAGES])
    (last,) = cursor.fetchone()
    if last is not None:
        cursor.execute(HOLD_TURNS, [after, last])
        cursor.execute(HOLD_MESSAGES, [after, last, [row[0] for row in cursor.fetchall()]])
        cursor.execute("SELECT coaching_recall_add_messages(%s::bigint[])", [[row[0] for row in cursor.fetchall()]])
    return last


def index_sessions(cursor: CursorWrapper, after: str) -> str | None:
    """Index a batch of sessions' summaries; return the id of the last, or None after the last batch."""
    return _index(cursor, HOLD_SESSIONS, INDEX_SESSIONS, after, SESSIONS)


def index_files(cursor: CursorWrapper, after: int) -> int | None:
    """Index a batch of files' newest versions; return the id of the last, or None after the last batch."""
    return _index(cursor, HOLD_FILES, INDEX_FILES, after, FILES)


def _index(cursor, hold, index, after, size):
    cursor.execute(hold, [after, size])
    ids = [row[0] for row in cursor.fetchall()]
    cursor.execute(index, [ids])
    return ids[-1] if ids else None


def index_all(apps, schema_editor):
    """Index everything."""
    connection = schema_editor.connection
    for index, last in ((index_messages, 0), (index_sessions, FIRST_SESSION), (index_files, 0)):
        while last is not None:
            last = in_short_attempts(connection, lambda cursor, index=index, last=last: index(cursor, last))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE coaching_recallpassage")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("coaching", "0009_recall_triggers")]

    operations = [migrations.RunPython(index_all, migrations.RunPython.noop)]
