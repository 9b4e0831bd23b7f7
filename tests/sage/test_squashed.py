"""The squashed migrations make what the replaced ones made, and older databases run those that they lack.

The older database is stored as SQL. The long form makes it anew by the replaced migrations and compares
both; with SAGE_TEST_WRITE=1 it stores it.
"""

import gzip
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from coaching.files.former_databases import drop_database
from sage.postgres_programs import programs_folder
from tests.live_sage import url_of_test_database
from tests.sage.processes import finished
from tests.thoroughness import IS_LONG, sample

MOMENT = "2026-11-23 16:31+00"
"""Of the older database: it has rows of the first release that people tried."""
OLDER = ("coaching", "0031_forgotten_words", "sessions_app", "0021_one_chosen_answer")
STORED = Path(__file__).with_name("older_database.sql.gz")
FILL = f"""
INSERT INTO auth_user (id, username, password, is_superuser, is_staff, is_active, first_name, last_name,
    email, date_joined)
SELECT n, 'person-' || n, '!', false, false, true, '', '', '', '{MOMENT}' FROM generate_series(1, 2) AS n;
INSERT INTO coaching_profile (user_id, name, country, timezone, timezone_source, checkin_weekday)
SELECT n, 'Name ' || n, '', 'UTC', '', 6 FROM generate_series(1, 2) AS n;
INSERT INTO coaching_client (user_id, name, client_type, status, notes, created_at, updated_at)
VALUES (1, 'Adler', 'person', 'active', '', '{MOMENT}', '{MOMENT}'),
    (2, 'Me', 'self', 'active', '', '{MOMENT}', '{MOMENT}');
INSERT INTO coaching_standingyes (user_id, kind, created_at) VALUES (1, 'note', '{MOMENT}');
INSERT INTO sessions_app_session (id, user_id, kind, status, active_arc, title, summary, metadata, opening,
    last_message_number, started_at, last_active_at)
VALUES (gen_random_uuid(), 1, 'open_conversation', 'active', '', 'Title', '', '{{}}', '', 1, '{MOMENT}',
    '{MOMENT}');
INSERT INTO sessions_app_turn (id, session_id, status, stop_reason, failure, user_notice, model, prefix,
    shown, fence, owner, is_stop_requested, part, part_started_at, is_withdrawn, metadata, started_at,
    ended_at)
SELECT gen_random_uuid(), id, 'completed', 'end_turn', '', '', 'm', '', '', 1, 'me', false, 1, '{MOMENT}',
    false, '{{}}', '{MOMENT}', '{MOMENT}' FROM sessions_app_session;
INSERT INTO sessions_app_message (session_id, turn_id, number, role, content, metadata, created_at)
SELECT session_id, id, 1, 'user', 'A numbat sleeps', '{{}}', '{MOMENT}' FROM sessions_app_turn;
"""
TIME_OF_MIGRATION = r"\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00"
KEPT = """
SELECT profile.name, profile.has_library,
    (SELECT count(*) FROM coaching_autoapproval AS approval WHERE approval.user_id = profile.user_id),
    (SELECT min(message.content) FROM sessions_app_message AS message
        JOIN sessions_app_session AS session ON session.id = message.session_id
        JOIN coaching_recallpassage AS passage ON passage.message_id = message.id
        WHERE session.user_id = profile.user_id AND passage.lexemes @@ to_tsquery('english', 'numbat'))
FROM coaching_profile AS profile ORDER BY profile.user_id
"""


@pytest.fixture
def older(db: None) -> Iterator[str]:
    """The URL of an empty database."""
    url = url_of_test_database()
    own = connection.settings_dict["NAME"]
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{own}_older"')
        try:
            yield url.replace(f"/{own}?", f"/{own}_older?")
        finally:
            drop_database(server, f"{own}_older")


def dump_of(url: str, *options: str) -> str:
    """Return what `pg_dump` tells of a database."""
    dumped = subprocess.run(
        [programs_folder() / "pg_dump", "--no-owner", *options, url],
        check=True,
        capture_output=True,
        text=True,
    )
    # A word that is chosen anew for each dump.
    return re.sub(r"^\\(un)?restrict .*$", "", dumped.stdout, flags=re.MULTILINE)


def schema_of(url: str) -> list[str]:
    """Return a database's tables, functions and triggers."""
    lines = dump_of(url, "--schema-only").splitlines()
    if IS_LONG:
        return lines
    # A list that was dumped and read again has other casts and parentheses.
    return [
        re.sub(r"[()]|::text(\[\])?|::character varying", "", line) if "ARRAY[" in line else line
        for line in lines
    ]


def stored_sql() -> str:
    return gzip.decompress(STORED.read_bytes()).decode()


def make_older(url: str) -> None:
    """Fill an empty database with what one of the first release has: tables, and rows of people."""
    if IS_LONG:
        told = finished("-m", "tests.replaced_migrations", *OLDER, environment={"DATABASE_URL": url})
        assert told == (0, "")
        made = re.sub(TIME_OF_MIGRATION, MOMENT, dump_of(url, "--inserts"))
        if os.environ.get("SAGE_TEST_WRITE"):
            STORED.write_bytes(gzip.compress(made.encode(), mtime=0))
        assert made == stored_sql(), "write it anew with SAGE_TEST_WRITE=1"
    else:
        with psycopg.connect(url) as writer:
            writer.execute(stored_sql())
    with psycopg.connect(url) as writer:
        writer.execute(FILL)


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as reader:
        return reader.execute(query).fetchall()


def test_an_older_database_becomes_what_a_new_one_is_and_keeps_its_rows(older: str) -> None:
    in_older = {"DATABASE_URL": older}
    make_older(older)
    assert finished("manage.py", "migrate", "-v0", environment=in_older) == (0, "")
    assert schema_of(older) == schema_of(url_of_test_database())
    assert rows(older, KEPT) == [("Name 1", True, 1, "A numbat sleeps"), ("Name 2", False, 0, None)]

    # As a database of the last version before the squashed ones: there is nothing to do.
    with psycopg.connect(older) as writer:
        assert writer.execute("DELETE FROM django_migrations WHERE name LIKE '%squashed%'").rowcount == 2
    code, output = finished("manage.py", "migrate", environment=in_older)
    assert code == 0
    assert "No migrations to apply." in output


@pytest.mark.django_db
def test_wherever_an_older_database_stands_it_runs_exactly_the_migrations_that_it_lacks() -> None:
    squashed = {key: node.replaces for key, node in MigrationLoader(connection).replacements.items()}
    apps = {app for app, _ in squashed}
    assert apps == {"coaching", "sessions_app"}
    graph = MigrationLoader(connection, replace_migrations=False).graph
    order: list[tuple[str, str]] = []
    for replaced in squashed.values():
        order += [key for key in graph.forwards_plan(replaced[-1]) if key[0] in apps and key not in order]
    assert sorted(order) == sorted(key for replaced in squashed.values() for key in replaced)
    tried = {0, 1, len(order), *sample(range(len(order)), of_each=10)}
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = ANY (%s)", [list(apps)])
        for place in range(len(order) + 1):
            done, lacking = order[:place], set(order[place:])
            if done:
                cursor.execute(
                    "INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", done[-1]
                )
            if place not in tried:
                continue
            expected = set(lacking)
            for key, replaced in squashed.items():
                if not set(done) & set(replaced):
                    expected = expected - set(replaced) | {key}
            later = {key for key in graph.nodes if key[0] in apps} - set(order) - set(squashed)
            executor = MigrationExecutor(connection)
            plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
            assert {(node.app_label, node.name) for node, _ in plan} == expected | later


def test_the_replaced_migrations_are_those_of_the_folders() -> None:
    for (app, name), node in MigrationLoader(None).replacements.items():
        first, _, last = name.partition("_squashed_")
        files = sorted(path.stem for path in Path(app, "migrations").glob("0*.py") if path.stem != name)
        assert first == "0001"
        assert node.replaces == [(app, file) for file in files[: files.index(last) + 1]]
