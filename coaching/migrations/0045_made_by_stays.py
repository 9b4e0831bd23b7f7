"""Keep the column `made_by` of next steps, which 0043 removed, for processes of the version before.

They name it in every query while an upgrade goes on. Nothing reads it now; a later version drops it.
"""

from django.db import migrations

ADD = "ALTER TABLE coaching_actionitem ADD COLUMN made_by varchar(16) NOT NULL DEFAULT 'user'"
DROP = "ALTER TABLE coaching_actionitem DROP COLUMN made_by"


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0044_next_step_words'),
    ]

    operations = [
        migrations.RunSQL(ADD, DROP),
    ]
