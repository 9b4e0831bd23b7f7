"""Recordings until they are words, and who may hear them. The table is new; its rows go with their user in the
database, too, because processes of the version before don't know it.
"""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

KEY = """
ALTER TABLE coaching_recording ADD CONSTRAINT recording_user FOREIGN KEY (user_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
"""
REMOVE_KEY = "ALTER TABLE coaching_recording DROP CONSTRAINT recording_user;"


# Sign-ins and pages wait behind these locks, so they are asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["auth_user", "coaching_profile"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0064_program_suggestions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='profile',
            name='heard_by',
            field=models.CharField(blank=True, db_default='', default='', editable=False, help_text='The server that may hear recordings; empty until the person has agreed to one.', max_length=300),
        ),
        migrations.CreateModel(
            name='Recording',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('client_id', models.CharField(help_text='Chosen by the page: a recording is taken once.', max_length=100)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=16)),
                ('seconds', models.PositiveIntegerField(help_text='How long it is.')),
                ('storage_key', models.CharField(blank=True, default='', max_length=255)),
                ('sha256', models.CharField(max_length=64)),
                ('size', models.PositiveIntegerField(help_text='Bytes.')),
                ('text', models.TextField(blank=True, default='')),
                ('reason', models.CharField(blank=True, default='', max_length=500)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='recordings', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['made_at', 'id'],
                'indexes': [models.Index(fields=['made_at'], name='recording_made')],
                'constraints': [
                    models.UniqueConstraint(fields=('user', 'client_id'), name='recording_once'),
                    models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'done', 'failed'])), name='recording_state_known'),
                    models.CheckConstraint(condition=models.Q(('state', 'waiting'), ('storage_key', ''), _connector='OR'), name='recording_erased_at_end'),
                ],
            },
        ),
        migrations.RunSQL(KEY, REMOVE_KEY),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
