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
    ]
