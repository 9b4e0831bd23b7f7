"""Keeps what a session's summary was made from, and which lines of its brief are still open."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0026_brief_inputs'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='summary_covers',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text="The last message that the summary was made from; 0 without one, and for Sage's own."),
        ),
        migrations.AddField(
            model_name='sessionbrief',
            name='left_open',
            field=models.TextField(blank=True, db_default='', default='', help_text='Those of its lines that are still open, one a line.'),
        ),
    ]
