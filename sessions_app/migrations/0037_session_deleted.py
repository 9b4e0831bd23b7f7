"""Finds the few deleted sessions without reading the others, and checks the verdicts that are there."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0036_verdict_values'),
    ]

    operations = [
        ValidateConstraint(model_name='safetyverdict', name='verdict_looked_known'),
        ValidateConstraint(model_name='safetyverdict', name='verdict_noticed_known'),
        BuildIndex(
            model_name='session',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='session_deleted'),
        ),
    ]
