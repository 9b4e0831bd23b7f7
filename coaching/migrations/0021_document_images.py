"""Pictures as models are shown them. The table is new, so nothing waits."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0020_text_fingerprints'),
    ]

    operations = [
        migrations.CreateModel(
            name='DocumentImage',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='image', serialize=False, to='coaching.document')),
                ('media_type', models.CharField(max_length=32)),
                ('data', models.BinaryField()),
            ],
            options={
                'abstract': False,
            },
        ),
    ]
