from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0031_session_folders'),
    ]

    operations = [
        BuildIndex(
            model_name='session',
            index=models.Index(condition=models.Q(('folder__isnull', False)), fields=['folder'], name='session_in_folder'),
        ),
    ]
