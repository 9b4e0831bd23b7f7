"""Imports that their person cancels, and that are stuck in their file."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0034_call_answers_used'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='import',
            name='import_state_known',
        ),
        migrations.AddField(
            model_name='import',
            name='checked_percent',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, help_text='How far the file is checked.'),
        ),
        migrations.AddField(
            model_name='import',
            name='is_cancelling',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='import',
            name='stuck_at',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='import',
            name='stuck_seconds',
            field=models.FloatField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='import',
            name='state',
            field=models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('finished', 'Finished'), ('failed', 'Failed'), ('cancelled', 'Cancelled'), ('undoing', 'Being undone'), ('undone', 'Undone')], default='running', max_length=16),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'running', 'finished', 'failed', 'cancelled', 'undoing', 'undone'])), name='import_state_known'),
        ),
    ]
