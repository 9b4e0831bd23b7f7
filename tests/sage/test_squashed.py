"""The squashed migrations make what the replaced ones made, and older databases run those that they lack."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from sage.embedded_postgres import programs_folder
from tests.live_sage import url_of_test_database
from tests.sage.processes import finished

MOMENT = "2026-11-23 16:31+00"
"""Of the older database: it has rows of the first release that people tried."""
OLDER = ("coaching", "0031_forgotten_words", "sessions_app", "0021_one_chosen_answer")
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
def databases(db: None) -> Iterator[tuple[str, str]]:
    """The URLs of two empty databases."""
    url = url_of_test_database()
    own = connection.settings_dict["NAME"]
    urls = {f"{own}_{kind}": url.replace(f"/{own}?", f"/{own}_{kind}?") for kind in ("older", "newer")}
    with psycopg.connect(url, autocommit=True) as server:
        for name in urls:
            server.execute(f'CREATE DATABASE "{name}"')
        try:
            older, newer = urls.values()
            yield older, newer
        finally:
            for name in urls:
                server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def schema_of(url: str) -> list[str]:
    """Return what `pg_dump` tells of a database's tables, functions and triggers."""
    dumped = subprocess.run(
        [programs_folder() / "pg_dump", "--schema-only", url], check=True, capture_output=True, text=True
    )
    # A word that is chosen anew for each dump.
    return re.sub(r"^\\(un)?restrict .*$", "", dumped.stdout, flags=re.MULTILINE).splitlines()


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as reader:
        return reader.execute(query).fetchall()


def test_an_older_database_becomes_what_a_new_one_is_and_keeps_its_rows(databases: tuple[str, str]) -> None:
    older, newer = databases
    in_older, in_newer = {"DATABASE_URL": older}, {"DATABASE_URL": newer}
    assert finished("-m", "tests.replaced_migrations", *OLDER, environment=in_older) == (0, "")
    with psycopg.connect(older) as writer:
        writer.execute(FILL)
    for environment in (in_older, in_newer):
        assert finished("manage.py", "migrate", "-v0", environment=environment) == (0, "")
    assert schema_of(older) == schema_of(newer)
    assert rows(older, KEPT) == [("Name 1", True, 1, "A numbat sleeps"), ("Name 2", False, 0, None)]

    # As a database of the last version before the squashed ones: there is nothing to do.
    with psycopg.connect(older) as writer:
        assert writer.execute("DELETE FROM django_migrations WHERE name LIKE '%squashed%'").rowcount == 2
    assert finished("manage.py", "migrate", "--check", environment=in_older)[0] == 0
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
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = ANY (%s)", [list(apps)])
        for place in range(len(order) + 1):
            done, lacking = set(order[:place]), order[place:]
            expected = set(lacking)
            for key, replaced in squashed.items():
                if not done & set(replaced):
                    expected = expected - set(replaced) | {key}
            later = {key for key in graph.nodes if key[0] in apps} - set(order) - set(squashed)
            executor = MigrationExecutor(connection)
            plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
            assert {(node.app_label, node.name) for node, _ in plan} == expected | later
            if lacking:
                app, name = lacking[0]
                cursor.execute(
                    "INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", [app, name]
                )


def test_the_replaced_migrations_are_those_of_the_folders() -> None:
    for (app, name), node in MigrationLoader(None).replacements.items():
        first, _, last = name.partition("_squashed_")
        files = sorted(path.stem for path in Path(app, "migrations").glob("0*.py") if path.stem != name)
        assert first == "0001"
        assert node.replaces == [(app, file) for file in files[: files.index(last) + 1]]
