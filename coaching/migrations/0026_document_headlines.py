"""An index for what prompts count and name of a library, so that they don't read all its wide rows."""

from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('coaching', '0025_call_usage'),
    ]

    operations = [
        BuildIndex(
            model_name='document',
            index=models.Index(
                condition=models.Q(('is_withheld', False), models.Q(('state__in', ['duplicate', 'refused', 'failed']), _negated=True)),
                fields=['user', '-created_at', '-id'],
                include=('client', 'project', 'state'),
                name='document_headlines',
            ),
        ),
    ]
