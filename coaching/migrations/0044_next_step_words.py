"""Effects on next steps have their name."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0043_next_steps'),
    ]

    operations = [
        migrations.AlterField(
            model_name='libraryeffect',
            name='kind',
            field=models.CharField(choices=[('filed', 'Filed'), ('moved', 'Moved'), ('corrected', 'Corrected'), ('renamed', 'Renamed'), ('withheld', 'AI model access changed'), ('knowledge_created', 'Knowledge added'), ('knowledge_changed', 'Knowledge changed'), ('action_created', 'Next step added'), ('action_changed', 'Next step changed')], max_length=32),
        ),
    ]
