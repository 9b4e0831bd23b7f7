"""What a second look at a capture found is among the values that the code knows.

A mail waits once whoever it is for, which the next migration ensures; here goes the constraint that allowed
it once for each person.
"""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

LOOKS = ['none', 'concern', 'immediate', 'skipped', 'given_up', 'failed', 'nonsense']


# Pages wait behind the locks, so they are asked for in short attempts.
def lock(apps, schema_editor):
    tables = ["coaching_captureverdict", "coaching_inboxwaiting"]
    lock_tables(schema_editor.connection, tables, mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0066_voice'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        AddConstraintNotValid(
            model_name='captureverdict',
            constraint=models.CheckConstraint(condition=models.Q(('looked', ''), ('looked__in', LOOKS), _connector='OR'), name='capture_verdict_looked_known'),
        ),
        migrations.RemoveConstraint(model_name='inboxwaiting', name='inbox_waiting_once'),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
