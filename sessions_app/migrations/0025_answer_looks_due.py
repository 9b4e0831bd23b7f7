"""Says from when a second look at an answer's words may be taken by any process."""

from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0024_session_events'),
    ]

    operations = [
        migrations.AddField(
            model_name='toolcallrecord',
            name='look_due_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        BuildIndex(
            model_name='toolcallrecord',
            index=models.Index(condition=models.Q(('look_due_at__isnull', False)), fields=['look_due_at'], name='call_look_due'),
        ),
    ]
