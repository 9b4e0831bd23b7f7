"""The log of a session's facts; sessions begin with an empty one."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables


# Turns wait behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_session"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0023_danger_indexes'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='session',
            name='event_seq',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text="Counts the facts in its log, under this row's lock."),
        ),
        migrations.CreateModel(
            name='SessionEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('said', 'Message stored'), ('turn_opened', 'Turn opened'), ('part_ended', 'Turn closed or waiting'), ('call_asked', 'Question asked'), ('call_ended', 'Question ended'), ('card_given', 'Card with help lines'), ('withdrawn', 'Turns withdrawn'), ('answer_picked', 'Other answer chosen'), ('arc_entered', 'Arc entered'), ('arc_left', 'Arc left'), ('titled', 'Title given'), ('file_moved', 'Document moved'), ('ended', 'Session ended')], max_length=16)),
                ('payload', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='sessions_app.session')),
            ],
            options={
                'ordering': ['session', 'seq'],
                'constraints': [models.UniqueConstraint(fields=('session', 'seq'), name='event_seq_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['said', 'turn_opened', 'part_ended', 'call_asked', 'call_ended', 'card_given', 'withdrawn', 'answer_picked', 'arc_entered', 'arc_left', 'titled', 'file_moved', 'ended'])), name='event_kind_known')],
            },
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
