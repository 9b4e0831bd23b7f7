from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables


def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_sessionbrief"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0011_brief_cost")]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            "sessionbrief",
            "corrected_text",
            models.TextField(
                blank=True, default="", db_default="", help_text="The text as corrected after it was stored."
            ),
        ),
        migrations.AddField("sessionbrief", "corrected_at", models.DateTimeField(null=True, blank=True)),
    ]
