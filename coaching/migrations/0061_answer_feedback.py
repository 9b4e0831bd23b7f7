"""Feedback on answers.

A row goes with its turn in the database, too: processes of the version before don't know the table.
"""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

KEY = """
ALTER TABLE coaching_answerfeedback ADD CONSTRAINT answer_feedback_turn FOREIGN KEY (turn_id)
    REFERENCES sessions_app_turn (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
"""
REMOVE_KEY = "ALTER TABLE coaching_answerfeedback DROP CONSTRAINT answer_feedback_turn;"


# Turns wait behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_turn"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0060_photos'),
        ('sessions_app', '0030_letter_usage_checked'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.CreateModel(
            name='AnswerFeedback',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rating', models.CharField(choices=[('up', 'Helpful'), ('down', 'Not helpful')], max_length=4)),
                ('note', models.CharField(blank=True, default='', max_length=1000)),
                ('is_shared', models.BooleanField(default=False, help_text='Operators may see rating and note.')),
                ('is_answer_shared', models.BooleanField(default=False, help_text='They may see the answer, too.')),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('turn', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='sessions_app.turn')),
            ],
            options={
                'verbose_name_plural': 'answer feedback',
                'ordering': ['-updated_at'],
                'indexes': [models.Index(condition=models.Q(('is_shared', True)), fields=['-updated_at'], name='answer_feedback_shared')],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('rating__in', ['up', 'down'])), name='answer_feedback_rating_known'),
                    models.CheckConstraint(condition=models.Q(('is_shared', True), ('is_answer_shared', False), _connector='OR'), name='answer_feedback_shared_whole'),
                ],
            },
        ),
        migrations.RunSQL(KEY, REMOVE_KEY),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
