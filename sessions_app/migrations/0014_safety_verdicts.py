import django.contrib.postgres.operations
import django.db.models.deletion
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

TABLES = ("sessions_app_session", "sessions_app_message", "sessions_app_modelusage")


# All at once: a turn that holds one of them may want another.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, TABLES, mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0013_sage_opens'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.RemoveConstraint(
            model_name='modelusage',
            name='usage_purpose_known',
        ),
        migrations.AlterField(
            model_name='modelusage',
            name='purpose',
            field=models.CharField(choices=[('turn', 'Turn'), ('brief', 'Brief'), ('summary', 'Summary'), ('title', 'Title'), ('safety', 'Second look'), ('classify', 'Classification'), ('critic', 'Critic'), ('document', 'Document')], default='turn', max_length=16),
        ),
        # The next migration checks the rows, without keeping anybody waiting.
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='modelusage',
            constraint=models.CheckConstraint(condition=models.Q(('purpose__in', ['turn', 'brief', 'summary', 'title', 'safety', 'classify', 'critic', 'document'])), name='usage_purpose_known'),
        ),
        migrations.CreateModel(
            name='SafetyVerdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('level', models.CharField(choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], max_length=16)),
                ('about', models.CharField(choices=[('self', 'Themselves'), ('other', 'Somebody else')], max_length=8)),
                ('topic', models.CharField(choices=[('life', 'Life'), ('violence', 'Violence')], max_length=16)),
                ('looked', models.CharField(blank=True, choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], default='', max_length=16)),
                ('model', models.CharField(blank=True, default='', max_length=100)),
                ('milliseconds', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='safety_verdict', to='sessions_app.message')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='safety_verdicts', to='sessions_app.session')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('level', 'none'), _negated=True), fields=['session'], name='verdict_of_danger')],
                'constraints': [models.CheckConstraint(condition=models.Q(('level__in', ['none', 'concern', 'immediate'])), name='verdict_level_known'), models.CheckConstraint(condition=models.Q(('about__in', ('self', 'other')), ('topic__in', ('life', 'violence'))), name='verdict_danger_known')],
            },
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
