"""Pictures have small ones for their conversation, drawn when they are first shown."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0061_answer_feedback'),
    ]

    operations = [
        migrations.AddField(
            model_name='documentimage',
            name='thumbnail',
            field=models.BinaryField(db_default=b'', default=b'', help_text='For its person, drawn when it is first shown.'),
        ),
    ]
