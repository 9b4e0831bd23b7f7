"""An index for near-same texts, so that a new one isn't compared with every other."""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations

from sessions_app.migrations._indexes import BuildIndex


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('coaching', '0019_imports'),
    ]

    operations = [
        BuildIndex(
            model_name='documenttext',
            index=GinIndex(fields=['fingerprint'], opclasses=['jsonb_path_ops'], name='document_text_fingerprint'),
        ),
    ]
