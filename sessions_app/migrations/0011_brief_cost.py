from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

# Briefs are new in this release: there are few.
KNOWN_COSTS = """
UPDATE sessions_app_sessionbrief AS brief SET cost_micro_usd = usage.cost_micro_usd
FROM sessions_app_modelusage AS usage WHERE usage.id = brief.usage_id
"""


def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_sessionbrief"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0010_session_titles'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='sessionbrief',
            name='cost_micro_usd',
            field=models.PositiveBigIntegerField(blank=True, help_text='Of all requests that it took; unknown where one has no price.', null=True),
        ),
        migrations.RunSQL(KNOWN_COSTS, migrations.RunSQL.noop),
    ]
