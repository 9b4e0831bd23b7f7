"""Who reads a document now, and what was sent in a call. The tables are new and empty, so nothing waits."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0017_recall_library'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='document',
            name='claim',
            field=models.CharField(blank=True, default='', help_text='Who reads it now.', max_length=100),
        ),
        migrations.AddField(
            model_name='document',
            name='claimed_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='documentcall',
            name='prefix',
            field=models.CharField(blank=True, default='', help_text='Of its tools and system.', max_length=64),
        ),
        migrations.AddField(
            model_name='documentcall',
            name='prompt_tokens',
            field=models.PositiveIntegerField(default=0, help_text='An estimate.'),
        ),
        migrations.AddField(
            model_name='documentcall',
            name='sent_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='documentcall',
            index=models.Index(fields=['prefix', '-sent_at'], name='document_call_prefix'),
        ),
    ]
