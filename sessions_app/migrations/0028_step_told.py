"""A session's log tells of next steps."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0027_summaries_and_open_lines'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='sessionevent',
            name='event_kind_known',
        ),
        migrations.AlterField(
            model_name='sessionevent',
            name='kind',
            field=models.CharField(choices=[('said', 'Message stored'), ('turn_opened', 'Turn opened'), ('part_ended', 'Turn closed or waiting'), ('call_asked', 'Question asked'), ('call_ended', 'Question ended'), ('card_given', 'Card with help lines'), ('withdrawn', 'Turns withdrawn'), ('answer_picked', 'Other answer chosen'), ('arc_entered', 'Arc entered'), ('arc_left', 'Arc left'), ('titled', 'Title given'), ('file_moved', 'Document moved'), ('step_told', 'Next step written or changed'), ('ended', 'Session ended')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='sessionevent',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['said', 'turn_opened', 'part_ended', 'call_asked', 'call_ended', 'card_given', 'withdrawn', 'answer_picked', 'arc_entered', 'arc_left', 'titled', 'file_moved', 'step_told', 'ended'])), name='event_kind_known'),
        ),
    ]
