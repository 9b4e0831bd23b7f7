from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0007_session_briefs'),
    ]

    operations = [
        BuildIndex(
            model_name='modelusage',
            index=models.Index(fields=['created_at'], name='usage_created'),
        ),
    ]
