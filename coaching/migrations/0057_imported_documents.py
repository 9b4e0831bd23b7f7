"""Documents that an import has brought name it, and the project of the other app that they belonged to."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0056_inbox'),
    ]

    operations = [
        migrations.AddField(
            model_name='document',
            name='made_by_import',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='documents', to='coaching.import'),
        ),
        migrations.AddField(
            model_name='import',
            name='documents_held',
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
        migrations.AddField(
            model_name='document',
            name='import_project',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
    ]
