"""A mail waits once; deleted files are found without reading the others."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from sessions_app.migrations._indexes import BuildIndex, BuildUniqueConstraint

# Of rows for the same mail, the last decision stays.
KEEP_LAST = """
DELETE FROM coaching_inboxwaiting AS earlier USING coaching_inboxwaiting AS later
WHERE earlier.uid = later.uid AND earlier.id < later.id
"""


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('coaching', '0067_capture_look_values'),
    ]

    operations = [
        ValidateConstraint(model_name='captureverdict', name='capture_verdict_looked_known'),
        migrations.RunSQL(KEEP_LAST, migrations.RunSQL.noop),
        BuildUniqueConstraint(
            model_name='inboxwaiting',
            constraint=models.UniqueConstraint(fields=('uid',), name='inbox_mail_waits_once'),
        ),
        BuildIndex(
            model_name='userfile',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='file_deleted'),
        ),
    ]
