"""Letters are paid for by a purpose of their own."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

PURPOSES = ['turn', 'brief', 'summary', 'title', 'safety', 'classify', 'critic', 'document', 'letter']


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0028_step_told'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='modelusage',
            name='usage_purpose_known',
        ),
        migrations.AlterField(
            model_name='modelusage',
            name='purpose',
            field=models.CharField(choices=[('turn', 'Turn'), ('brief', 'Brief'), ('summary', 'Summary'), ('title', 'Title'), ('safety', 'Second look'), ('classify', 'Classification'), ('critic', 'Critic'), ('document', 'Document'), ('letter', 'Letter')], default='turn', max_length=16),
        ),
        # The next migration checks the rows, without keeping anybody waiting.
        AddConstraintNotValid(
            model_name='modelusage',
            constraint=models.CheckConstraint(condition=models.Q(('purpose__in', PURPOSES)), name='usage_purpose_known'),
        ),
    ]
