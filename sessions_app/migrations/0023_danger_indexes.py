"""Finds the few messages and answers with danger without reading the others."""

from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0022_noticed_danger'),
    ]

    operations = [
        BuildIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('metadata__has_any_keys', ['safety', 'danger_elsewhere'])), fields=['session'], name='message_of_danger'),
        ),
        BuildIndex(
            model_name='toolcallrecord',
            index=models.Index(condition=models.Q(('metadata__has_key', 'safety')), fields=['turn'], name='call_of_danger'),
        ),
    ]
