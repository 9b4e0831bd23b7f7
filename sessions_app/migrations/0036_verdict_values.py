"""What a second look found, and what Sage raised, are among the values that the code knows."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

LOOKS = ['none', 'concern', 'immediate', 'skipped', 'given_up', 'failed', 'nonsense']
LEVELS = ['none', 'concern', 'immediate']


# Turns wait behind the lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_safetyverdict"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0035_turn_withdrawn'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        # The next migration checks the rows, without keeping anybody waiting.
        AddConstraintNotValid(
            model_name='safetyverdict',
            constraint=models.CheckConstraint(condition=models.Q(('looked', ''), ('looked__in', LOOKS), _connector='OR'), name='verdict_looked_known'),
        ),
        AddConstraintNotValid(
            model_name='safetyverdict',
            constraint=models.CheckConstraint(condition=models.Q(('noticed', ''), ('noticed__in', LEVELS), _connector='OR'), name='verdict_noticed_known'),
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
