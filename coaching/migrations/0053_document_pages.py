"""Pages of documents as their person is shown them. The table is new, so nothing waits."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0052_page_texts'),
    ]

    operations = [
        migrations.CreateModel(
            name='DocumentPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('data', models.BinaryField(default=b'')),
                ('size', models.PositiveIntegerField(default=0, help_text='Bytes of the image and its words.')),
                ('width', models.PositiveIntegerField(default=0)),
                ('height', models.PositiveIntegerField(default=0)),
                ('page_count', models.PositiveIntegerField(default=0, help_text='Of the document.')),
                ('words', models.JSONField(blank=True, default=list)),
                ('failure', models.CharField(blank=True, default='', max_length=500)),
                ('drawn_at', models.DateTimeField(auto_now_add=True)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drawn_pages', to='coaching.document')),
            ],
            options={
                'indexes': [models.Index(fields=['drawn_at'], name='document_page_age')],
                'constraints': [models.UniqueConstraint(fields=('document', 'number'), name='document_page_once')],
            },
        ),
    ]
