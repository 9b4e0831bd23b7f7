"""An import names what it left behind, and proposes what the other app knew about its person."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("coaching", "0054_facts"),
    ]

    operations = [
        migrations.AddField(
            model_name='import',
            name='left_behind',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name='import',
            name='about',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
    ]
