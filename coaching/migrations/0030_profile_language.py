"""The language of a person's pages, mails and notifications."""

from django.db import migrations, models

import coaching.models.people
from sessions_app.migrations._locks import lock_tables


# Every message reads its profile, so this lock is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["coaching_profile"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0029_count_pictures'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='profile',
            name='language',
            field=models.CharField(blank=True, db_default='', default='', help_text="Of pages, mails and notifications. Empty: the browser's for pages, English for the rest.", max_length=16, validators=[coaching.models.people.validate_language]),
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
