from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0034_voice_usage_checked'),
    ]

    operations = [
        BuildIndex(
            model_name='turn',
            index=models.Index(condition=models.Q(('is_withdrawn', True)), fields=['session'], name='turn_withdrawn'),
        ),
    ]
