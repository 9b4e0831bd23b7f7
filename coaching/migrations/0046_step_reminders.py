"""Reminders of next steps, several a day, which quote what is due if the person wants that."""

from django.conf import settings
from django.db import migrations, models

KINDS = [
    ('day', 'Plan the day'), ('evening', 'Close the day'), ('check_in', 'Weekly check-in'), ('steps', 'Next steps'),
]
KNOWN = models.Q(('kind__in', [kind for kind, _ in KINDS]))


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0045_made_by_stays'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='reminder', name='reminder_kind_known'),
        migrations.RemoveConstraint(model_name='sentreminder', name='sent_reminder_kind_known'),
        migrations.RemoveConstraint(model_name='sentreminder', name='reminder_once_per_day'),
        migrations.AlterField(
            model_name='reminder', name='kind', field=models.CharField(choices=KINDS, max_length=8),
        ),
        migrations.AlterField(
            model_name='sentreminder', name='kind', field=models.CharField(choices=KINDS, max_length=8),
        ),
        migrations.AddField(
            model_name='reminder',
            name='with_words',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether it quotes which next steps are due.'),
        ),
        migrations.AddField(
            model_name='sentreminder', name='at', field=models.TimeField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name='reminder', constraint=models.CheckConstraint(condition=KNOWN, name='reminder_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='sentreminder',
            constraint=models.CheckConstraint(condition=KNOWN, name='sent_reminder_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='sentreminder',
            constraint=models.UniqueConstraint(
                fields=('user', 'kind', 'day', 'at'), name='reminder_once', nulls_distinct=False,
            ),
        ),
    ]
