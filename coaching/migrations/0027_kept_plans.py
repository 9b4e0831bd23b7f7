"""What home showed of a day's plan whose file was deleted, so that undoing that brings it all back."""

from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables


# Who writes a file waits behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["coaching_userfile"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0026_document_headlines'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='userfile',
            name='kept_plan',
            field=models.JSONField(blank=True, help_text="What a deleted plan's day had: `intention` and `priorities`.", null=True),
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
