from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0007_session_briefs'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='modelusage',
            index=models.Index(fields=['created_at'], name='usage_created'),
        ),
    ]
