import django.db.models.deletion
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

TABLES = ("sessions_app_safetyverdict", "sessions_app_modelusage")


# All at once: a look that holds one of them may want the other.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, TABLES, mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0015_usage_purpose_checked'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='safetyverdict',
            name='looked',
            field=models.CharField(blank=True, choices=[('none', 'Nothing'), ('concern', 'Concern'), ('immediate', 'Immediate'), ('skipped', 'Skipped over the budget'), ('given_up', 'Given up: too slow'), ('failed', 'Failed'), ('nonsense', 'No usable answer')], default='', max_length=16),
        ),
        migrations.AddField(
            model_name='safetyverdict',
            name='usage',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='safety_verdicts', to='sessions_app.modelusage'),
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
