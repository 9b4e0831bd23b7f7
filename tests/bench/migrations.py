"""What a release's migrations of the conversations cost while the site runs: time, and how long turns wait.

  python -m tests.bench.migrations [--from 0007] [--messages 100000] [--writers 2]

Brings its own PostgreSQL, fills it as of the migration `--from`, and runs the later ones one by one while
writers store turns as fast as they can. Prints each migration's seconds, and the slowest turn meanwhile.
"""

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import django
import psycopg
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import variable_names
from tests.replaced_migrations import run_replaced

APP = "sessions_app"
PER_SESSION = 100
FILL = """
INSERT INTO auth_user (id, username, password, is_superuser, is_staff, is_active, first_name, last_name,
    email, date_joined)
SELECT n, 'person-' || n, '!', false, false, true, '', '', '', now() FROM generate_series(1, 100) AS n;
INSERT INTO sessions_app_session (id, user_id, kind, status, active_arc, title, summary, metadata, opening,
    last_message_number, started_at, last_active_at)
SELECT gen_random_uuid(), 1 + n % 100, 'open_conversation', 'active', '', 'Title', '', '{{}}',
    repeat('x', 2000), {per_session}, now(), now() - n * interval '1 hour'
FROM generate_series(1, {sessions}) AS n;
INSERT INTO sessions_app_turn (id, session_id, status, stop_reason, failure, user_notice, model, prefix,
    shown, fence, owner, is_stop_requested, part, part_started_at, is_withdrawn, metadata, started_at,
    ended_at)
SELECT gen_random_uuid(), id, 'completed', 'end_turn', '', '', 'm', '', '', 1, 'me', false, 1, now(), false,
    jsonb_build_object('n', n), last_active_at + n * interval '1 minute', now()
FROM sessions_app_session, generate_series(1, {per_session} / 2) AS n;
INSERT INTO sessions_app_message (session_id, turn_id, number, role, content, metadata, created_at)
SELECT session_id, id, 2 * (metadata->>'n')::int - 1 + side,
    CASE side WHEN 0 THEN 'user' ELSE 'assistant' END, repeat('words of a message ', 20), '{{}}', started_at
FROM sessions_app_turn, generate_series(0, 1) AS side;
INSERT INTO sessions_app_modelusage (user_id, session_id, turn_id, round_number, purpose, model, input_tokens,
    output_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens, cache_read_tokens, cost_micro_usd,
    duration_ms, created_at)
SELECT user_id, session.id, turn.id, 1, 'turn', 'm', 1, 1, 0, 0, 0, 1, 1, turn.started_at
FROM sessions_app_turn AS turn JOIN sessions_app_session AS session ON session.id = turn.session_id;
ANALYZE;
"""
TURN = """
WITH session AS (
    UPDATE sessions_app_session SET last_message_number = last_message_number + 2, last_active_at = now()
    WHERE id = (SELECT id FROM sessions_app_session WHERE user_id = %(user)s LIMIT 1)
    RETURNING id, user_id, last_message_number AS last
), turn AS (
    INSERT INTO sessions_app_turn (id, session_id, status, stop_reason, failure, user_notice, model, prefix,
        shown, fence, owner, is_stop_requested, part, part_started_at, is_withdrawn, metadata, started_at,
        ended_at)
    SELECT gen_random_uuid(), id, 'completed', '', '', '', 'm', '', '', 1, 'me', false, 1, now(), false, '{}',
        now(), now()
    FROM session RETURNING id
), messages AS (
    INSERT INTO sessions_app_message (session_id, turn_id, number, role, content, metadata, created_at)
    SELECT session.id, turn.id, last - 1 + side, CASE side WHEN 0 THEN 'user' ELSE 'assistant' END, 'words',
        '{}', now()
    FROM session, turn, generate_series(0, 1) AS side
)
INSERT INTO sessions_app_modelusage (user_id, session_id, turn_id, purpose, model, input_tokens,
    output_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens, cache_read_tokens, duration_ms,
    created_at)
SELECT user_id, session.id, turn.id, 'turn', 'm', 1, 1, 0, 0, 0, 1, now() FROM session, turn
"""


class Writer(threading.Thread):
    """Stores turns of one person on a connection of its own; `waits` are their seconds."""

    def __init__(self, url: str, user: int, ending: threading.Event) -> None:
        super().__init__(daemon=True)
        self.waits: list[float] = []
        self._url, self._user, self._ending = url, user, ending

    def run(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as own:
            while not self._ending.is_set():
                began = time.perf_counter()
                own.execute(TURN, {"user": self._user})
                self.waits.append(time.perf_counter() - began)


def main(arguments: Sequence[str]) -> None:
    """Fill a database, migrate it while others write, and print the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.migrations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--from", dest="start", default="0007")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--writers", type=int, default=2)
    chosen = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="sage-migrations-"))
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ |= {"SAGE_DATA_DIR": str(folder / "data"), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    server = EmbeddedPostgres.of(folder)
    server.join()
    try:
        os.environ["DATABASE_URL"] = server.url
        django.setup()
        run_replaced([_first_named(chosen.start)])
        with psycopg.connect(server.url, autocommit=True) as own:
            own.execute(FILL.format(per_session=PER_SESSION, sessions=chosen.messages // PER_SESSION))
        _measure(server.url, chosen.writers)
    finally:
        connection.close()
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)


def _first_named(start: str) -> tuple[str, str]:
    """Return the key of a migration of the conversations by the start of its name."""
    nodes = MigrationLoader(None, replace_migrations=False).graph.nodes
    return min((app, name) for app, name in nodes if app == APP and name.startswith(start))


def _measure(url: str, writers: int) -> None:
    plan = MigrationExecutor(connection).loader.graph.leaf_nodes(APP)
    names = [
        migration.name
        for migration, _ in MigrationExecutor(connection).migration_plan(plan)
        if migration.app_label == APP
    ]
    for name in [None, *names]:
        ending = threading.Event()
        busy = [Writer(url, number, ending) for number in range(1, writers + 1)]
        for writer in busy:
            writer.start()
        time.sleep(2)
        began = time.perf_counter()
        before = [len(writer.waits) for writer in busy]
        if name is None:
            time.sleep(3)
        else:
            call_command("migrate", APP, name, verbosity=0)
        seconds = time.perf_counter() - began
        ending.set()
        for writer in busy:
            writer.join()
        meanwhile = [writer.waits[known:] for writer, known in zip(busy, before, strict=True)]
        waits = sorted(wait for some in meanwhile for wait in some)
        p95 = waits[int(len(waits) * 0.95)] * 1000
        sys.stdout.write(
            f"{name or 'no migration':24} {seconds:5.1f} s, {len(waits):5} turns meanwhile,"
            f" p95 {p95:.0f} ms, slowest {waits[-1] * 1000:.0f} ms\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
