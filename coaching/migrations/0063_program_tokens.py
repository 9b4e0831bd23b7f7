"""Tokens of programs, and the names of those that changed files and next steps.

The table is new; its rows go with their user in the database, too, because processes of the version before
don't know it.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

KEY = """
ALTER TABLE coaching_programtoken ADD CONSTRAINT program_token_user FOREIGN KEY (user_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
"""
REMOVE_KEY = "ALTER TABLE coaching_programtoken DROP CONSTRAINT program_token_user;"


# Sign-ins and turns wait behind these locks, so they are asked for in short attempts.
def lock(apps, schema_editor):
    tables = ["auth_user", "coaching_userfileversion", "coaching_libraryeffect"]
    lock_tables(schema_editor.connection, tables, mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0062_picture_thumbnails'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.CreateModel(
            name='ProgramToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('digest', models.CharField(help_text='SHA-256 of the secret.', max_length=64, unique=True)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('capture', 'Add captures'), ('read', 'Read files, next steps, documents and summaries'), ('chat', 'Write and read conversations'), ('write', 'Change files and next steps')], max_length=8), size=None)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(blank=True, help_text='To the minute.', null=True)),
                ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='program_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['made_at', 'id'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('scopes__contained_by', ['capture', 'read', 'chat', 'write']), models.Q(('scopes', []), _negated=True)), name='program_token_scopes_known'),
                    models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('made_at'))), name='program_token_expires'),
                ],
            },
        ),
        migrations.RunSQL(KEY, REMOVE_KEY),
        migrations.AddField(
            model_name='userfileversion',
            name='program',
            field=models.CharField(blank=True, db_default='', default='', help_text='The name of the program that wrote it for its user.', max_length=60),
        ),
        migrations.AddField(
            model_name='libraryeffect',
            name='program',
            field=models.CharField(blank=True, db_default='', default='', help_text='The name of the program that made the change for its user.', max_length=60),
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
