"""Says whether a brief was written from the answers to questions, too: older ones are written anew."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0025_answer_looks_due'),
    ]

    operations = [
        migrations.AddField(
            model_name='sessionbrief',
            name='input_version',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, help_text='What it was written from: 0 words, 1 answers to questions, too.'),
        ),
    ]
