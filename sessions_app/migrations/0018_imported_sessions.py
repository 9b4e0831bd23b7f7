"""Sessions that an import has brought: until which message, with their own times, each once."""

import django.utils.timezone
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables


# Conversations wait behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_session"], mode="ACCESS EXCLUSIVE")


def own_time(**options):
    return models.DateTimeField(default=django.utils.timezone.now, editable=False, **options)


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0017_organised_sessions'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='session',
            name='imported_until',
            field=models.PositiveIntegerField(
                db_default=0,
                default=0,
                help_text='The last message that an import has brought; 0 for a session that began here.',
            ),
        ),
        # Nothing changes in the database.
        migrations.AlterField(model_name='session', name='started_at', field=own_time()),
        migrations.AlterField(model_name='session', name='last_active_at', field=own_time()),
        migrations.AlterField(model_name='turn', name='started_at', field=own_time()),
        migrations.AlterField(model_name='message', name='created_at', field=own_time()),
    ]
