"""Speed, size and the rate of inserts with many messages in the table.

The messages are those of LoCoMo, again and again. Rows of messages and passages are copied, so that a million
take minutes; the rate of inserts is measured apart, with all triggers. All people write side by side, so one
person's rows lie scattered, as they do in a table that has grown.
"""

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from tests.bench.recall.quality import encode_everything
from tests.bench.recall.seed import load_conversations
from tests.bench.recall.ways import Ask, lines_of_a_command, tool_calls

PEOPLE = 2_000
LARGE: Mapping[int, int] = {20_000: 3, 10_000: 8, 4_000: 15}
"""How many people have how many messages; the others share the rest."""
BARS_MS = {20_000: 100.0, 10_000: 50.0, 4_000: 50.0, 0: 50.0}
QUESTIONS = 150
INSERTS = 5_000

# One session for each person; their messages come in the order of a shuffled list of people.
_COPY = """
CREATE TEMP TABLE template AS
SELECT row_number() OVER (ORDER BY message.id) - 1 AS place, message.content, message.role,
    passage.lexemes, passage.length, vector.model, vector.vector
FROM sessions_app_message AS message
JOIN coaching_recallpassage AS passage ON passage.message_id = message.id
LEFT JOIN coaching_recallvector AS vector ON vector.passage_id = passage.id;
CREATE INDEX ON template (place);
CREATE TEMP TABLE planned AS
SELECT person, row_number() OVER (PARTITION BY person ORDER BY number, random()) AS number,
    row_number() OVER (ORDER BY random()) AS place
FROM unnest(%(people)s::int[], %(counts)s::int[]) AS person(person, count),
    generate_series(1, count) AS number;
INSERT INTO sessions_app_session (
    id, user_id, kind, status, active_arc, title, summary, metadata, opening, last_message_number, started_at,
    last_active_at
)
SELECT gen_random_uuid(), person, 'open_conversation', 'active', '', '', '', '{}', '', 0, now(), now()
FROM unnest(%(people)s::int[]) AS person;
INSERT INTO sessions_app_turn (
    id, session_id, status, stop_reason, failure, user_notice, model, prefix, shown, fence, owner,
    is_stop_requested, part, part_started_at, is_withdrawn, metadata, started_at, ended_at
)
SELECT gen_random_uuid(), session.id, 'completed', '', '', '', '', '', '', 1, '', false, 1, now(), false,
    '{}', now(), now()
FROM sessions_app_session AS session WHERE session.user_id = ANY(%(people)s);
ALTER TABLE sessions_app_message DROP CONSTRAINT IF EXISTS message_one_answer_per_turn;
DROP INDEX IF EXISTS message_one_answer_per_turn;
ALTER TABLE sessions_app_message DISABLE TRIGGER USER;
INSERT INTO sessions_app_message (session_id, turn_id, number, role, content, metadata, created_at)
SELECT session.id, turn.id, planned.number, template.role, template.content, '{}', now()
FROM planned JOIN sessions_app_session AS session ON session.user_id = planned.person
JOIN sessions_app_turn AS turn ON turn.session_id = session.id
JOIN template ON template.place = planned.place %% (SELECT count(*) FROM template)
ORDER BY planned.place;
ALTER TABLE sessions_app_message ENABLE TRIGGER USER;
INSERT INTO coaching_recallpassage (
    user_id, source, session_id, message_id, number, part, piece, is_by_user, length, moment, lexemes
)
SELECT session.user_id, 'message', session.id, message.id, message.number, 0, 0, message.role = 'user',
    template.length, message.created_at, template.lexemes
FROM sessions_app_message AS message
JOIN sessions_app_session AS session ON session.id = message.session_id AND session.user_id = ANY(%(people)s)
JOIN planned ON planned.person = session.user_id AND planned.number = message.number
JOIN template ON template.place = planned.place %% (SELECT count(*) FROM template)
ORDER BY message.id;
INSERT INTO coaching_recallvector (user_id, passage_id, model, vector)
SELECT passage.user_id, passage.id, template.model, template.vector
FROM coaching_recallpassage AS passage
JOIN planned ON planned.person = passage.user_id AND planned.number = passage.number
JOIN template ON template.place = planned.place %% (SELECT count(*) FROM template)
WHERE template.vector IS NOT NULL
ORDER BY passage.number / 256, passage.user_id, passage.id
"""
_SIZES = """
SELECT (SELECT count(*) FROM coaching_recallpassage), pg_size_pretty(sum(pg_relation_size(relid))),
    pg_size_pretty(sum(pg_indexes_size(relid))),
    pg_size_pretty(pg_total_relation_size('sessions_app_message')),
    (SELECT pg_size_pretty(sum(pg_total_relation_size(relid)))
        FROM pg_partition_tree('coaching_recallvector'))
FROM pg_partition_tree('coaching_recallpassage') WHERE isleaf
"""


def run(path: Path, *, messages: int) -> bool:
    """Fill the tables, print the figures, and return whether the bars are met."""
    questions = [asked.text for asked in load_conversations(path)]
    encode_everything()
    groups = _fill(messages)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute(_SIZES)
        rows, table, indexes, said, vectors = cursor.fetchone()
    sys.stdout.write(
        f"{rows:,} passages: table {table}, indexes {indexes}; messages {said}; vectors {vectors}\n"
    )
    met = []
    for name, way in (("--stdin", lines_of_a_command), ("the tool", tool_calls)):
        with way() as ask:
            sys.stdout.write(f"{name}:\n")
            met += [_time(size, people, questions, ask) for size, people in groups.items()]
    _time_inserts()
    return all(met)


def _fill(messages: int) -> Mapping[int, Sequence[int]]:
    """Store the messages; return people by how many they have, 0 for those who share the rest."""
    made = User.objects.bulk_create(User(username=f"person-{number}") for number in range(PEOPLE))
    people = [user.pk for user in made]
    groups: dict[int, Sequence[int]] = {}
    counts: list[int] = []
    share = messages / 1_000_000
    for size, count in LARGE.items():
        groups[size] = people[len(counts) : len(counts) + count]
        counts += [round(size * share) if share < 1 else size] * count
    groups[0] = people[len(counts) :]
    rest = max(0, messages - sum(counts)) // len(groups[0])
    counts += [rest] * len(groups[0])
    begun = perf_counter()
    with connection.cursor() as cursor:
        for statement in _COPY.split(";\n"):
            cursor.execute(statement, {"people": people, "counts": counts})
    sys.stdout.write(f"{sum(counts):,} messages of {PEOPLE:,} people in {perf_counter() - begun:.0f} s\n")
    return groups


def _time(size: int, people: Sequence[int], questions: Sequence[str], ask: Ask) -> bool:
    chance = random.Random(size)
    for user_id in people[:10]:
        ask(user_id, "hello")
    times = []
    for question in chance.sample(questions, QUESTIONS):
        user_id = chance.choice(people)
        begun = perf_counter()
        ask(user_id, question)
        times.append((perf_counter() - begun) * 1_000)
    cut = quantiles(times, n=100)
    who = f"  {size:,} messages" if size else "  the others"
    sys.stdout.write(f"{who}: p50 {cut[49]:.1f} ms, p95 {cut[94]:.1f} ms, p99 {cut[98]:.1f} ms\n")
    return cut[94] < BARS_MS[size]


_INSERT = """
INSERT INTO sessions_app_message (session_id, turn_id, number, role, content, metadata, created_at)
SELECT %(session)s, %(turn)s, 1000000 + template.place, 'user', template.content, '{}', %(now)s
FROM template ORDER BY template.place LIMIT %(limit)s
"""


def _time_inserts() -> None:
    """Insert messages with the triggers and without, and print what a message costs each way."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT turn.session_id, turn.id FROM sessions_app_turn AS turn "
            "WHERE turn.status = 'completed' ORDER BY turn.id LIMIT 1"
        )
        session, turn = cursor.fetchone()
        values = {"session": session, "turn": turn, "now": timezone.now(), "limit": INSERTS}
        for name, switch in (("without", "DISABLE"), ("with", "ENABLE")):
            cursor.execute(f"ALTER TABLE sessions_app_message {switch} TRIGGER USER")
            begun = perf_counter()
            cursor.execute(_INSERT, values)
            took = perf_counter() - begun
            cursor.execute("DELETE FROM sessions_app_message WHERE number >= 1000000")
            sys.stdout.write(f"{name} the index: {took / INSERTS * 1_000_000:.0f} µs a message\n")
