"""Let a session have several texts of one source: the summaries of its arcs.

The new index is built partition by partition while the site writes, and replaces the old one at the end. Run
again after an interruption, it starts anew.
"""

from django.db import migrations, models
from django.db.models import Q

from sessions_app.migrations._locks import in_short_attempts

OLD, NEW = "recall_session_text_once", "recall_session_part_once"
COLUMNS = {
    OLD: "user_id, session_id, source, piece",
    NEW: "user_id, session_id, source, part, piece",
}
WHERE = "WHERE message_id IS NULL AND session_id IS NOT NULL"
PARTITIONS = "SELECT relid::text FROM pg_partition_tree('coaching_recallpassage') WHERE isleaf ORDER BY 1"


def replace(connection, old, new):
    with connection.cursor() as cursor:
        cursor.execute(PARTITIONS)
        indexes = {f"{partition}_{new}"[-63:]: partition for (partition,) in cursor.fetchall()}
        cursor.execute(f"DROP INDEX IF EXISTS {new}")
        for index, partition in indexes.items():
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")
            cursor.execute(
                f"CREATE UNIQUE INDEX CONCURRENTLY {index} ON {partition} ({COLUMNS[new]}) {WHERE}"
            )

    def attach(cursor):
        cursor.execute("LOCK TABLE coaching_recallpassage IN ACCESS EXCLUSIVE MODE")
        cursor.execute(f"CREATE UNIQUE INDEX {new} ON ONLY coaching_recallpassage ({COLUMNS[new]}) {WHERE}")
        for index in indexes:
            cursor.execute(f"ALTER INDEX {new} ATTACH PARTITION {index}")
        cursor.execute(f"DROP INDEX {old}")

    in_short_attempts(connection, attach)


def forwards(apps, schema_editor):
    replace(schema_editor.connection, OLD, NEW)


def backwards(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("DELETE FROM coaching_recallpassage WHERE message_id IS NULL AND part > 0")
    replace(schema_editor.connection, NEW, OLD)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("coaching", "0011_recall_briefs")]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(forwards, backwards)],
            [
                migrations.RemoveConstraint("recallpassage", OLD),
                migrations.AddConstraint(
                    "recallpassage",
                    models.UniqueConstraint(
                        fields=["user", "session_id", "source", "part", "piece"],
                        condition=Q(message_id__isnull=True, session_id__isnull=False),
                        name=NEW,
                    ),
                ),
            ],
        ),
    ]
