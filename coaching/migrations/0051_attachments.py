"""Documents that were attached to an email name it.

The column is added without its constraint's check of the rows: all of them are NULL.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0050_filled_forms'),
    ]

    operations = [
        migrations.AddField(
            model_name='document',
            name='part_of',
            field=models.ForeignKey(blank=True, help_text='The email that it was attached to.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='attachments', to='coaching.document'),
        ),
    ]
