"""Imports, and which of them made a rating. Files may have times of their own."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables


# Who rates waits behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["coaching_pulserating"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0018_document_claims'),
        ('sessions_app', '0019_imported_once'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='userfile',
            name='created_at',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.AlterField(
            model_name='userfile',
            name='updated_at',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.AlterField(
            model_name='userfileversion',
            name='created_at',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('finished', 'Finished'), ('failed', 'Failed'), ('undoing', 'Being undone'), ('undone', 'Undone')], default='running', max_length=16)),
                ('file_name', models.CharField(max_length=255)),
                ('file_format', models.CharField(blank=True, choices=[('sage', 'Sage'), ('chatgpt', 'ChatGPT'), ('claude', 'Claude')], default='', max_length=16)),
                ('size', models.PositiveBigIntegerField(default=0, help_text='Bytes.')),
                ('sha256', models.CharField(blank=True, default='', max_length=64)),
                ('storage_key', models.CharField(blank=True, default='', max_length=255)),
                ('counts', models.JSONField(blank=True, default=dict)),
                ('problems', models.JSONField(blank=True, default=list)),
                ('problem_count', models.PositiveIntegerField(default=0)),
                ('profile', models.JSONField(blank=True, default=dict)),
                ('done', models.PositiveIntegerField(default=0, help_text='Conversations so far.')),
                ('total', models.PositiveIntegerField(default=0, help_text='Conversations in the file.')),
                ('brief_tokens', models.PositiveBigIntegerField(default=0, help_text='What writing the briefs of its conversations would read.')),
                ('failure', models.CharField(blank=True, default='', help_text='A sentence for the person.', max_length=300)),
                ('kept', models.JSONField(blank=True, default=list)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.AddField(
            model_name='pulserating',
            name='made_by_import',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='ratings', to='coaching.import'),
        ),
        migrations.AddConstraint(
            model_name='pulserating',
            constraint=models.UniqueConstraint(condition=models.Q(('made_by_import__isnull', False)), fields=('user', 'domain', 'rated_at'), name='pulse_imported_once'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('waiting', 'running', 'undoing'))), fields=('user',), name='import_one_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'running', 'finished', 'failed', 'undoing', 'undone'])), name='import_state_known'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(('file_format', ''), ('file_format__in', ['sage', 'chatgpt', 'claude']), _connector='OR'), name='import_format_known'),
        ),
    ]
