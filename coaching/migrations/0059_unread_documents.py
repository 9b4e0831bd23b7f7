"""Documents of imports wait until their person lets Sage read them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0058_backups'),
    ]

    operations = [
        migrations.AddField(
            model_name='document',
            name='is_on_hold',
            field=models.BooleanField(db_default=False, default=False, help_text="Came with an import; Sage doesn't read it by itself until its person lets it."),
        ),
        migrations.AlterField(
            model_name='document',
            name='state',
            field=models.CharField(choices=[('queued', 'Queued'), ('reading', 'Reading'), ('waiting', 'Waiting'), ('unread', 'Not read yet'), ('filed', 'Filed'), ('review', 'Needs review'), ('duplicate', 'Duplicate'), ('failed', 'Failed'), ('refused', 'Not accepted')], default='queued', max_length=16),
        ),
        migrations.RemoveConstraint(
            model_name='document',
            name='document_state_known',
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'reading', 'waiting', 'unread', 'filed', 'review', 'duplicate', 'failed', 'refused'])), name='document_state_known'),
        ),
    ]
