"""The labels of the library as pages show them, and a sentence by which imports are found."""

from django.db import migrations, models

BEFORE = "It stopped because of an error. Import the same file again: it goes on where it stopped."
SINCE = "An error stopped it. Import the same file again to continue where it stopped."


def reword_failures(apps, schema_editor):
    """Give imports that can go on the sentence by which they are found."""
    apps.get_model("coaching", "Import").objects.filter(failure=BEFORE).update(failure=SINCE)


def restore_failures(apps, schema_editor):
    apps.get_model("coaching", "Import").objects.filter(failure=SINCE).update(failure=BEFORE)


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0027_kept_plans'),
    ]

    operations = [
        migrations.RunPython(reword_failures, restore_failures),
        migrations.AlterField(
            model_name='actionitem',
            name='state',
            field=models.CharField(choices=[('proposed', 'Suggested'), ('open', 'Open'), ('done', 'Done'), ('dismissed', 'Dismissed')], default='open', max_length=16),
        ),
        migrations.AlterField(
            model_name='document',
            name='state',
            field=models.CharField(choices=[('queued', 'Queued'), ('reading', 'Reading'), ('waiting', 'Waiting'), ('filed', 'Filed'), ('review', 'Needs review'), ('duplicate', 'Duplicate'), ('failed', 'Failed'), ('refused', 'Not accepted')], default='queued', max_length=16),
        ),
        migrations.AlterField(
            model_name='knowledgeentry',
            name='entry_type',
            field=models.CharField(choices=[('document_summary', 'Document summary'), ('deal_update', 'Update'), ('call_transcript', 'Call'), ('note', 'Note')], default='note', max_length=32),
        ),
        migrations.AlterField(
            model_name='knowledgeentry',
            name='state',
            field=models.CharField(choices=[('proposed', 'Suggested'), ('accepted', 'Accepted'), ('dismissed', 'Dismissed')], default='accepted', max_length=16),
        ),
        migrations.AlterField(
            model_name='libraryeffect',
            name='kind',
            field=models.CharField(choices=[('filed', 'Filed'), ('moved', 'Moved'), ('corrected', 'Corrected'), ('renamed', 'Renamed'), ('withheld', 'AI model access changed'), ('knowledge_created', 'Knowledge added'), ('knowledge_changed', 'Knowledge changed'), ('action_created', 'Action item added'), ('action_changed', 'Action item changed')], max_length=32),
        ),
    ]
