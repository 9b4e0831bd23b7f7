from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0008_usage_created'),
    ]

    operations = [
        BuildIndex(
            model_name='turn',
            index=models.Index(fields=['started_at'], name='turn_started'),
        ),
        BuildIndex(
            model_name='session',
            index=models.Index(fields=['last_active_at'], name='session_recent'),
        ),
        BuildIndex(
            model_name='session',
            index=models.Index(condition=models.Q(('brief_attempts__gt', 0)), fields=['brief_attempts'], name='session_brief_failing'),
        ),
    ]
