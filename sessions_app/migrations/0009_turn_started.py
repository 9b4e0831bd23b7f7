from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0008_usage_created'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(fields=['started_at'], name='turn_started'),
        ),
        migrations.AddIndex(
            model_name='session',
            index=models.Index(fields=['last_active_at'], name='session_recent'),
        ),
        migrations.AddIndex(
            model_name='session',
            index=models.Index(condition=models.Q(('brief_attempts__gt', 0)), fields=['brief_attempts'], name='session_brief_failing'),
        ),
    ]
