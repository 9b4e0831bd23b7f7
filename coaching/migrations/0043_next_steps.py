"""Action items are next steps: with an origin, a time, repeats, an outcome and a history."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def name_origins(apps, schema_editor):
    """Say what each next step comes from, by who made it and from what; the default is right for the others."""
    items = apps.get_model("coaching", "ActionItem").objects
    items.filter(made_by="pipeline").update(origin="document")
    items.filter(made_by="chat").update(origin="conversation")
    items.filter(origin_key__startswith="transcript:").update(origin="transcript")


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0042_dropped_facts_default'),
        ('sessions_app', '0025_answer_looks_due'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='StepChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('done', 'Done'), ('dropped', 'Dropped'), ('reopened', 'Opened again'), ('moved', 'Moved')], max_length=16)),
                ('due_date', models.DateField(blank=True, null=True)),
                ('outcome', models.TextField(blank=True, db_default='', default='')),
                ('quote', models.TextField(blank=True, db_default='', default='')),
                ('message_number', models.PositiveIntegerField(blank=True, null=True)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-at', '-id'],
            },
        ),
        migrations.AlterModelOptions(
            name='actionitem',
            options={'ordering': ['due_date', '-created_at', '-id'], 'verbose_name': 'next step'},
        ),
        migrations.RemoveConstraint(
            model_name='actionitem',
            name='action_state_known',
        ),
        migrations.RemoveConstraint(
            model_name='actionitem',
            name='action_made_by_known',
        ),
        migrations.AddField(
            model_name='actionitem',
            name='asked_for',
            field=models.DateField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='actionitem',
            name='asked_in',
            field=models.UUIDField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='actionitem',
            name='due_time',
            field=models.TimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='actionitem',
            name='message_number',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='actionitem',
            name='origin',
            field=models.CharField(choices=[('conversation', 'From a conversation'), ('document', 'From a document'), ('transcript', 'From a transcript'), ('person', 'Added by you'), ('import', 'Imported'), ('program', 'From another program')], db_default='person', default='person', max_length=16),
        ),
        migrations.RunPython(name_origins, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='actionitem',
            name='made_by',
        ),
        migrations.AddField(
            model_name='actionitem',
            name='outcome',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='actionitem',
            name='repeats',
            field=models.CharField(blank=True, db_default='', default='', max_length=32),
        ),
        migrations.AlterField(
            model_name='actionitem',
            name='state',
            field=models.CharField(choices=[('proposed', 'Suggested'), ('open', 'Open'), ('done', 'Done'), ('dropped', 'Dropped'), ('dismissed', 'Dismissed')], default='open', max_length=16),
        ),
        migrations.AddConstraint(
            model_name='actionitem',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['proposed', 'open', 'done', 'dropped', 'dismissed'])), name='action_state_known'),
        ),
        migrations.AddConstraint(
            model_name='actionitem',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['conversation', 'document', 'transcript', 'person', 'import', 'program'])), name='action_origin_known'),
        ),
        migrations.AddConstraint(
            model_name='actionitem',
            constraint=models.CheckConstraint(condition=models.Q(('due_date__isnull', False), models.Q(('due_time__isnull', True), ('repeats', '')), _connector='OR'), name='action_time_has_date'),
        ),
        migrations.AddField(
            model_name='stepchange',
            name='action_item',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='coaching.actionitem'),
        ),
        migrations.AddField(
            model_name='stepchange',
            name='effect',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='step_changes', to='coaching.libraryeffect'),
        ),
        migrations.AddField(
            model_name='stepchange',
            name='session',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='step_changes', to='sessions_app.session'),
        ),
        migrations.AddField(
            model_name='stepchange',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='step_changes', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='stepchange',
            index=models.Index(fields=['user', '-at'], name='step_change_recent'),
        ),
        migrations.AddConstraint(
            model_name='stepchange',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['done', 'dropped', 'reopened', 'moved'])), name='step_change_known'),
        ),
    ]
