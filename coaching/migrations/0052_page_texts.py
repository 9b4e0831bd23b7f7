"""What was read from the pictures of a document's pages, and the calls that read it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0051_attachments'),
    ]

    operations = [
        migrations.AddField(
            model_name='documenttext',
            name='page_texts',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.RemoveConstraint(model_name='documentcall', name='document_call_purpose_known'),
        migrations.AlterField(
            model_name='documentcall',
            name='purpose',
            field=models.CharField(choices=[('classify', 'Classification'), ('critic', 'Second reading'), ('summary', 'Summary'), ('transcript', 'Transcript'), ('pages', 'Pages read from pictures')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='documentcall',
            constraint=models.CheckConstraint(condition=models.Q(('purpose__in', ['classify', 'critic', 'summary', 'transcript', 'pages'])), name='document_call_purpose_known'),
        ),
    ]
