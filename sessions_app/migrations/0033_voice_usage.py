"""Recordings that are turned into words are paid for by a purpose of their own, and some by the second."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

PURPOSES = ['turn', 'brief', 'summary', 'title', 'safety', 'classify', 'critic', 'document', 'letter', 'voice']


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0032_session_in_folder'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='modelusage',
            name='usage_purpose_known',
        ),
        migrations.AlterField(
            model_name='modelusage',
            name='purpose',
            field=models.CharField(choices=[('turn', 'Turn'), ('brief', 'Brief'), ('summary', 'Summary'), ('title', 'Title'), ('safety', 'Second look'), ('classify', 'Classification'), ('critic', 'Critic'), ('document', 'Document'), ('letter', 'Letter'), ('voice', 'Voice')], default='turn', max_length=16),
        ),
        migrations.AddField(
            model_name='modelusage',
            name='audio_seconds',
            field=models.PositiveIntegerField(blank=True, help_text='Of a recording, if its server counts seconds.', null=True),
        ),
        # The next migration checks the rows, without keeping anybody waiting.
        AddConstraintNotValid(
            model_name='modelusage',
            constraint=models.CheckConstraint(condition=models.Q(('purpose__in', PURPOSES)), name='usage_purpose_known'),
        ),
    ]
