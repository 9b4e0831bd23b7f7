"""Mail that comes in: addresses, what was taken, waits or was refused, and how far the mailbox was read."""

import coaching.models.inbox
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0055_left_behind'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='InboxAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=coaching.models.inbox.new_token, max_length=32, unique=True)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('fetched_on', models.DateField(blank=True, null=True)),
                ('fetched_bytes', models.PositiveBigIntegerField(default=0)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='inbox_address', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'inbox addresses',
            },
        ),
        migrations.CreateModel(
            name='InboxState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('lease', models.UUIDField(blank=True, null=True)),
                ('place_digest', models.CharField(blank=True, default='', max_length=64)),
                ('uid_validity', models.PositiveBigIntegerField(default=0)),
                ('last_uid', models.PositiveBigIntegerField(default=0)),
                ('read_at', models.DateTimeField(blank=True, help_text='When it could be read last.', null=True)),
                ('failures', models.PositiveIntegerField(default=0, help_text="How often in a row it couldn't be read.")),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('error', models.CharField(blank=True, default='', max_length=32)),
                ('next_try_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name': 'mailbox',
                'verbose_name_plural': 'mailbox',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='inbox_state_is_one_row')],
            },
        ),
        migrations.CreateModel(
            name='InboxMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message_digest', models.CharField(max_length=64)),
                ('body_digest', models.CharField(max_length=64)),
                ('size', models.PositiveBigIntegerField(help_text='Bytes.')),
                ('uid_validity', models.PositiveBigIntegerField()),
                ('uid', models.PositiveBigIntegerField()),
                ('is_moved', models.BooleanField(default=False)),
                ('taken_at', models.DateTimeField()),
                ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='coaching.document')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='inbox_mails', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-taken_at', '-id'],
                'indexes': [models.Index(fields=['user', '-taken_at'], name='inbox_mail_day'), models.Index(condition=models.Q(('is_moved', False)), fields=['uid'], name='inbox_mail_to_move')],
                'constraints': [models.UniqueConstraint(fields=('user', 'message_digest', 'body_digest'), name='inbox_mail_taken_once')],
            },
        ),
        migrations.CreateModel(
            name='InboxRefusal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('reason', models.CharField(choices=[('address', 'It wasn’t sent to an address that Sage knows.'), ('several', 'It was sent to several addresses of Sage.'), ('unusual', 'Its headers weren’t as mail programs write them.'), ('unproven', 'The mail server couldn’t confirm the sender.'), ('sender', 'It wasn’t sent from the confirmed address of your account.'), ('large', 'It was too large.'), ('waiting', 'Too many emails were waiting.'), ('room', 'There was no room left in your library.'), ('unreadable', 'The mail server couldn’t hand it over.')], max_length=16)),
                ('count', models.PositiveIntegerField(default=0)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='inbox_refusals', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-day', 'reason'],
                'constraints': [models.UniqueConstraint(fields=('user', 'day', 'reason'), name='inbox_refusals_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('reason__in', ['address', 'several', 'unusual', 'unproven', 'sender', 'large', 'waiting', 'room', 'unreadable'])), name='inbox_refusal_known')],
            },
        ),
        migrations.CreateModel(
            name='InboxWaiting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.PositiveBigIntegerField()),
                ('since', models.DateTimeField()),
                ('due_at', models.DateTimeField()),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='inbox_waiting', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'inbox waiting',
                'ordering': ['uid'],
                'constraints': [models.UniqueConstraint(fields=('user', 'uid'), name='inbox_waiting_once')],
            },
        ),
    ]
