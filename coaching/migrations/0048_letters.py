"""Letters about a month: their type of file, who wants them, and what became of each."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import in_short_attempts

OLD_TYPES = ['domain', 'overview', 'life-plan', 'check-in', 'daily-log', 'day-plan', 'weekly-plan', 'sage-context', 'sage-patterns', 'capture', 'reflection-prompt', 'note', 'safety-plan']
TYPES = [*OLD_TYPES, 'letter']
KNOWN = models.CheckConstraint(condition=models.Q(('file_type__in', TYPES)), name='file_type_known')


# Adding the constraint locks the table briefly; the rows are checked afterwards, while others write.
def know(schema_editor, types):
    names = ", ".join(repr(name) for name in types)
    statement = (
        "ALTER TABLE coaching_userfile DROP CONSTRAINT IF EXISTS file_type_known, ADD CONSTRAINT file_type_known"
        f" CHECK (file_type IN ({names})) NOT VALID"
    )
    in_short_attempts(schema_editor.connection, lambda cursor: cursor.execute(statement))
    schema_editor.execute("ALTER TABLE coaching_userfile VALIDATE CONSTRAINT file_type_known")


def change(apps, schema_editor):
    know(schema_editor, TYPES)


# Needs that no letter is left.
def change_back(apps, schema_editor):
    know(schema_editor, OLD_TYPES)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('coaching', '0047_recall_steps'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='profile',
            name='wants_letters',
            field=models.BooleanField(blank=True, help_text='A letter a month; unknown until the person has been asked.', null=True),
        ),
        migrations.AlterField(
            model_name='userfile',
            name='file_type',
            field=models.CharField(choices=[('domain', 'Life domain'), ('overview', 'Life map overview'), ('life-plan', 'Life plan'), ('check-in', 'Weekly check-in'), ('daily-log', 'Daily log'), ('day-plan', 'Day plan'), ('weekly-plan', 'Weekly plan'), ('sage-context', 'What Sage knows'), ('sage-patterns', 'Patterns Sage sees'), ('capture', 'Capture'), ('reflection-prompt', 'Reflection prompt'), ('note', 'Note'), ('safety-plan', 'Safety plan'), ('letter', 'Letter of the month')], max_length=32),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(model_name='userfile', name='file_type_known'),
                migrations.AddConstraint(model_name='userfile', constraint=KNOWN),
            ],
            database_operations=[migrations.RunPython(change, change_back)],
        ),
        migrations.CreateModel(
            name='Letter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('month', models.DateField()),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often a model was asked for it.')),
                ('tried_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('file', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='coaching.userfile')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='letters', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-month'],
                'constraints': [
                    models.UniqueConstraint(fields=('user', 'month'), name='letter_once_a_month'),
                    models.CheckConstraint(condition=models.Q(('month__day', 1)), name='letter_month_begins'),
                    models.CheckConstraint(condition=models.Q(('file__isnull', True), ('ended_at__isnull', False), _connector='OR'), name='letter_file_has_end'),
                ],
            },
        ),
    ]
