"""Until when earlier time zones were a person's, and which one of the browser they declined."""

from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables


# Pages wait behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["coaching_profile"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0073_client_was_prospect'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='profile',
            name='earlier_timezones',
            field=models.TextField(blank=True, db_default='', default='', editable=False, help_text='A line for each earlier one, with the moment until which it was theirs.'),
        ),
        migrations.AddField(
            model_name='profile',
            name='timezone_declined',
            field=models.CharField(blank=True, db_default='', default='', editable=False, help_text="The browser's when the person chose another one: it isn't offered again.", max_length=64),
        ),
    ]
