"""Folders for sessions. A session names its folder together with its user, so that it is never another's.

A folder's row goes with its user in the database, too: processes of the version before don't know the table.
"""

import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

KEYS = """
ALTER TABLE sessions_app_sessionfolder ADD CONSTRAINT session_folder_user FOREIGN KEY (user_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE sessions_app_session ADD CONSTRAINT session_in_own_folder FOREIGN KEY (folder_id, user_id)
    REFERENCES sessions_app_sessionfolder (id, user_id) DEFERRABLE INITIALLY DEFERRED;
"""
REMOVE_KEYS = """
ALTER TABLE sessions_app_session DROP CONSTRAINT session_in_own_folder;
ALTER TABLE sessions_app_sessionfolder DROP CONSTRAINT session_folder_user;
"""


# Turns and sign-ins wait behind these locks, so they are asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_session", "auth_user"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0030_letter_usage_checked'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.CreateModel(
            name='SessionFolder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='session_folders', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': [django.db.models.functions.text.Lower('name'), 'id'],
                'constraints': [
                    models.UniqueConstraint(models.F('user'), django.db.models.functions.text.Lower('name'), name='session_folder_name_once'),
                    models.UniqueConstraint(fields=('id', 'user'), name='session_folder_of_user'),
                ],
            },
        ),
        migrations.AddField(
            model_name='session',
            name='folder',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='sessions', to='sessions_app.sessionfolder'),
        ),
        migrations.RunSQL(KEYS, REMOVE_KEYS),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
