"""Which replies a call about documents took. The table is new, so nothing waits."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0024_notes'),
        ('sessions_app', '0021_one_chosen_answer'),
    ]

    operations = [
        migrations.CreateModel(
            name='CallUsage',
            fields=[
                ('usage', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document_call', serialize=False, to='sessions_app.modelusage')),
                ('call', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replies_paid', to='coaching.documentcall')),
            ],
            options={
                'verbose_name_plural': 'usage of document calls',
            },
        ),
    ]
