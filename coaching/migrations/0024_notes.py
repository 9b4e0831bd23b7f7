"""Notes, and paths that are unique among the files that aren't deleted. Built while the site writes files."""

from django.db import migrations, models

from sessions_app.migrations._locks import in_short_attempts

TYPES = ['domain', 'overview', 'life-plan', 'check-in', 'daily-log', 'day-plan', 'weekly-plan', 'sage-context', 'sage-patterns', 'capture', 'reflection-prompt', 'note']
OLD_TYPES = TYPES[:-1]
PRESENT = models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('user', 'path'), name='file_path_once_among_present')
KNOWN = models.CheckConstraint(condition=models.Q(('file_type__in', TYPES)), name='file_type_known')
BUILD = [
    "DROP INDEX CONCURRENTLY IF EXISTS file_path_once_among_present",
    "CREATE UNIQUE INDEX CONCURRENTLY file_path_once_among_present ON coaching_userfile (user_id, path)"
    " WHERE deleted_at IS NULL",
]


# Each takes a strong lock for a moment; the types are checked after that, while others write.
def change(apps, schema_editor):
    for statement in (
        "ALTER TABLE coaching_userfile DROP CONSTRAINT IF EXISTS file_path_once_per_user",
        "ALTER TABLE coaching_userfile DROP CONSTRAINT IF EXISTS file_type_known, ADD CONSTRAINT file_type_known"
        f" CHECK (file_type IN ({', '.join(repr(name) for name in TYPES)})) NOT VALID",
    ):
        in_short_attempts(schema_editor.connection, lambda cursor, sql=statement: cursor.execute(sql))
    schema_editor.execute("ALTER TABLE coaching_userfile VALIDATE CONSTRAINT file_type_known")


# Needs that no note and no deleted file is left.
def change_back(apps, schema_editor):
    for statement in (
        "ALTER TABLE coaching_userfile DROP CONSTRAINT IF EXISTS file_type_known, ADD CONSTRAINT file_type_known"
        f" CHECK (file_type IN ({', '.join(repr(name) for name in OLD_TYPES)}))",
        "ALTER TABLE coaching_userfile ADD CONSTRAINT file_path_once_per_user UNIQUE (user_id, path)",
    ):
        in_short_attempts(schema_editor.connection, lambda cursor, sql=statement: cursor.execute(sql))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('coaching', '0023_deleted_files'),
    ]

    operations = [
        migrations.AlterField(
            model_name='userfile',
            name='file_type',
            field=models.CharField(choices=[('domain', 'Life domain'), ('overview', 'Life map overview'), ('life-plan', 'Life plan'), ('check-in', 'Weekly check-in'), ('daily-log', 'Daily log'), ('day-plan', 'Day plan'), ('weekly-plan', 'Weekly plan'), ('sage-context', 'What Sage knows'), ('sage-patterns', 'Patterns Sage sees'), ('capture', 'Capture'), ('reflection-prompt', 'Reflection prompt'), ('note', 'Note')], max_length=32),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddConstraint(model_name='userfile', constraint=PRESENT),
                migrations.RemoveConstraint(model_name='userfile', name='file_path_once_per_user'),
                migrations.RemoveConstraint(model_name='userfile', name='file_type_known'),
                migrations.AddConstraint(model_name='userfile', constraint=KNOWN),
            ],
            database_operations=[
                migrations.RunSQL(BUILD, "DROP INDEX IF EXISTS file_path_once_among_present"),
                migrations.RunPython(change, change_back),
            ],
        ),
    ]
