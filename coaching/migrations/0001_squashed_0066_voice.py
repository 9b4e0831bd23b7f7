"""All tables of people, files, recall and the library as of 0066, in one step for new databases.

Older databases run the files that it replaces, which go with release 0.1.0. The columns' order is theirs.
"""

import coaching.models.backups
import coaching.models.inbox
import coaching.models.people
import coaching.models.recall
import datetime
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import simple_history.models
import uuid
from django.conf import settings
from django.db import migrations, models

from coaching.migrations import _library_tables as library
from coaching.migrations import _recall_tables as recall
from coaching.migrations._quota import COUNT
from coaching.migrations._recall_functions import FUNCTIONS
from coaching.migrations._recall_triggers import TRIGGERS
from sessions_app.migrations._squashed import AtOnce, drop_functions

CALL_PURPOSES = [
    ("classify", "Classification"),
    ("critic", "Second reading"),
    ("summary", "Summary"),
    ("transcript", "Transcript"),
    ("pages", "Pages read from pictures"),
    ("facts", "Facts"),
]
EFFECT_KINDS = [
    ("filed", "Filed"),
    ("moved", "Moved"),
    ("corrected", "Corrected"),
    ("renamed", "Renamed"),
    ("withheld", "AI model access changed"),
    ("facts_found", "Facts found"),
    ("knowledge_created", "Knowledge added"),
    ("knowledge_changed", "Knowledge changed"),
    ("action_created", "Next step added"),
    ("action_changed", "Next step changed"),
]
MADE_BY = [
    ("pipeline", "Sage, from a document"),
    ("chat", "Sage, in a conversation"),
    ("user", "You"),
    ("program", "Another program"),
]

# Photos count in their person's quota.
COUNT_PHOTOS = """
CREATE FUNCTION coaching_count_photos() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO coaching_fileusage (user_id, files, bytes)
        SELECT user_id, count(*), sum(size + octet_length(thumbnail)) FROM changed GROUP BY user_id
        ON CONFLICT (user_id) DO UPDATE
        SET files = coaching_fileusage.files + EXCLUDED.files, bytes = coaching_fileusage.bytes + EXCLUDED.bytes;
    ELSE
        UPDATE coaching_fileusage SET files = coaching_fileusage.files - gone.number, bytes = coaching_fileusage.bytes - gone.size
        FROM (
            SELECT user_id, count(*) AS number, sum(size + octet_length(thumbnail)) AS size
            FROM changed GROUP BY user_id
        ) AS gone
        WHERE coaching_fileusage.user_id = gone.user_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER coaching_photo_made AFTER INSERT ON coaching_photo
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_photos();
CREATE TRIGGER coaching_photo_gone AFTER DELETE ON coaching_photo
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_photos();
"""

# Rows that go with others in the database, too: processes of the version before don't know their tables.
KEYS = """
ALTER TABLE coaching_answerfeedback ADD CONSTRAINT answer_feedback_turn FOREIGN KEY (turn_id)
    REFERENCES sessions_app_turn (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE coaching_programtoken ADD CONSTRAINT program_token_user FOREIGN KEY (user_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE allauth_idp_oidc_token ADD CONSTRAINT program_grant_user FOREIGN KEY (user_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE allauth_idp_oidc_client ADD CONSTRAINT program_client_owner FOREIGN KEY (owner_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE coaching_recording ADD CONSTRAINT recording_user FOREIGN KEY (user_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
"""
REMOVE_KEYS = """
ALTER TABLE coaching_answerfeedback DROP CONSTRAINT answer_feedback_turn;
ALTER TABLE coaching_programtoken DROP CONSTRAINT program_token_user;
ALTER TABLE allauth_idp_oidc_token DROP CONSTRAINT program_grant_user;
ALTER TABLE allauth_idp_oidc_client DROP CONSTRAINT program_client_owner;
ALTER TABLE coaching_recording DROP CONSTRAINT recording_user;
"""


def known(field: str, choices: list[tuple[str, str]], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": [each for each, _ in choices]}), name=name)


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('coaching', '0001_initial'),
        ('coaching', '0002_skills'),
        ('coaching', '0003_captures_and_prompts'),
        ('coaching', '0004_calendar'),
        ('coaching', '0005_timezone_source'),
        ('coaching', '0006_safety'),
        ('coaching', '0007_file_usage'),
        ('coaching', '0008_recall'),
        ('coaching', '0009_recall_triggers'),
        ('coaching', '0010_recall_backfill'),
        ('coaching', '0011_recall_briefs'),
        ('coaching', '0012_recall_parts_once'),
        ('coaching', '0013_recall_arcs'),
        ('coaching', '0014_recall_vectors'),
        ('coaching', '0015_library'),
        ('coaching', '0016_library_rules'),
        ('coaching', '0017_recall_library'),
        ('coaching', '0018_document_claims'),
        ('coaching', '0019_imports'),
        ('coaching', '0020_text_fingerprints'),
        ('coaching', '0021_document_images'),
        ('coaching', '0022_reminders'),
        ('coaching', '0023_deleted_files'),
        ('coaching', '0024_notes'),
        ('coaching', '0025_call_usage'),
        ('coaching', '0026_document_headlines'),
        ('coaching', '0027_kept_plans'),
        ('coaching', '0028_library_words'),
        ('coaching', '0029_count_pictures'),
        ('coaching', '0030_profile_language'),
        ('coaching', '0031_forgotten_words'),
        ('coaching', '0032_capture_verdict'),
        ('coaching', '0033_safety_plans'),
        ('coaching', '0034_call_answers_used'),
        ('coaching', '0035_cancelled_imports'),
        ('coaching', '0036_care'),
        ('coaching', '0037_auto_approval'),
        ('coaching', '0038_capture_looks_due'),
        ('coaching', '0039_help_line_notes'),
        ('coaching', '0040_dropped_facts'),
        ('coaching', '0041_has_library'),
        ('coaching', '0042_dropped_facts_default'),
        ('coaching', '0043_next_steps'),
        ('coaching', '0044_next_step_words'),
        ('coaching', '0045_made_by_stays'),
        ('coaching', '0046_step_reminders'),
        ('coaching', '0047_recall_steps'),
        ('coaching', '0048_letters'),
        ('coaching', '0049_reading_note'),
        ('coaching', '0050_filled_forms'),
        ('coaching', '0051_attachments'),
        ('coaching', '0052_page_texts'),
        ('coaching', '0053_document_pages'),
        ('coaching', '0054_facts'),
        ('coaching', '0055_left_behind'),
        ('coaching', '0056_inbox'),
        ('coaching', '0057_imported_documents'),
        ('coaching', '0058_backups'),
        ('coaching', '0059_unread_documents'),
        ('coaching', '0060_photos'),
        ('coaching', '0061_answer_feedback'),
        ('coaching', '0062_picture_thumbnails'),
        ('coaching', '0063_program_tokens'),
        ('coaching', '0064_program_suggestions'),
        ('coaching', '0066_voice'),
    ]

    dependencies = [
        ('allauth_idp_oidc', '0003_client_allow_uri_wildcards'),
        ('sessions_app', '0001_squashed_0034_voice_usage_checked'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AtOnce([
            migrations.CreateModel(
                name='UserFile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('path', models.CharField(max_length=255)),
                    ('file_type', models.CharField(choices=[('domain', 'Life domain'), ('overview', 'Life map overview'), ('life-plan', 'Life plan'), ('check-in', 'Weekly check-in'), ('daily-log', 'Daily log'), ('day-plan', 'Day plan'), ('weekly-plan', 'Weekly plan'), ('sage-context', 'What Sage knows'), ('sage-patterns', 'Patterns Sage sees'), ('capture', 'Capture'), ('reflection-prompt', 'Reflection prompt'), ('note', 'Note'), ('safety-plan', 'Safety plan'), ('letter', 'Letter of the month')], max_length=32)),
                    ('frontmatter', models.JSONField(blank=True, default=dict)),
                    ('size', models.PositiveIntegerField(default=0, help_text='Bytes of the newest version.')),
                    ('sha256', models.CharField(blank=True, default='', max_length=64)),
                    ('version_number', models.PositiveIntegerField(default=0)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to=settings.AUTH_USER_MODEL)),
                    ('title', models.CharField(blank=True, db_default='', default='', help_text="Its user's own name for it.", max_length=120)),
                    ('deleted_at', models.DateTimeField(blank=True, help_text='By its user, who can restore it until the row is deleted.', null=True)),
                    ('kept_plan', models.JSONField(blank=True, help_text="What a deleted plan's day had: `intention` and `priorities`.", null=True)),
                ],
                options={
                    'ordering': ['path'],
                    'indexes': [models.Index(fields=['user', 'file_type', '-updated_at'], name='file_user_type_recent')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('user', 'path'), name='file_path_once_among_present'), models.CheckConstraint(condition=models.Q(('file_type__in', ['domain', 'overview', 'life-plan', 'check-in', 'daily-log', 'day-plan', 'weekly-plan', 'sage-context', 'sage-patterns', 'capture', 'reflection-prompt', 'note', 'safety-plan', 'letter'])), name='file_type_known')],
                },
            ),
            migrations.CreateModel(
                name='ReflectionPrompt',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.TextField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('answered_at', models.DateTimeField(blank=True, null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reflection_prompts', to=settings.AUTH_USER_MODEL)),
                    ('file', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='reflection_prompt', to='coaching.userfile')),
                    ('put_away_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['-created_at'],
                    'indexes': [models.Index(condition=models.Q(('answered_at', None), ('put_away_at', None)), fields=['user', '-created_at'], name='prompt_user_open')],
                },
            ),
            migrations.CreateModel(
                name='DayPlan',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('date', models.DateField()),
                    ('intention', models.TextField(blank=True, default='')),
                    ('priorities', models.JSONField(blank=True, default=list)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='day_plans', to=settings.AUTH_USER_MODEL)),
                    ('file', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='coaching.userfile')),
                ],
                options={
                    'ordering': ['-date'],
                    'constraints': [models.UniqueConstraint(fields=('user', 'date'), name='day_plan_once_per_day')],
                },
            ),
            migrations.CreateModel(
                name='Capture',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('captured_at', models.DateTimeField()),
                    ('folded_on', models.DateField(blank=True, help_text='The local day whose log folded it in.', null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='captures', to=settings.AUTH_USER_MODEL)),
                    ('file', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='capture', to='coaching.userfile')),
                    ('client_id', models.CharField(blank=True, default='', max_length=100)),
                    ('put_away_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['-captured_at'],
                    'indexes': [models.Index(fields=['user', 'folded_on'], name='capture_user_folded'), models.Index(condition=models.Q(('folded_on', None), ('put_away_at', None)), fields=['user', '-captured_at'], name='capture_user_waiting')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('client_id', ''), _negated=True), fields=('user', 'client_id'), name='capture_once_per_client_id')],
                },
            ),
            migrations.CreateModel(
                name='UserFileVersion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('content', models.TextField()),
                    ('size', models.PositiveIntegerField(help_text='Bytes.')),
                    ('sha256', models.CharField(max_length=64)),
                    ('storage_key', models.CharField(max_length=255, unique=True)),
                    ('source', models.CharField(choices=[('tool', 'Sage'), ('user', 'User'), ('import', 'Import'), ('job', 'Job')], max_length=16)),
                    ('tool_use_id', models.CharField(blank=True, default='', max_length=100)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('file', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='coaching.userfile')),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='file_versions', to='sessions_app.session')),
                ],
                options={
                    'ordering': ['file', '-number'],
                    'constraints': [models.UniqueConstraint(fields=('file', 'number'), name='file_version_once'), models.CheckConstraint(condition=models.Q(('source__in', ['tool', 'user', 'import', 'job'])), name='file_source_known')],
                },
            ),
            migrations.CreateModel(
                name='Profile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(blank=True, default='', max_length=100)),
                    ('timezone', models.CharField(default='UTC', max_length=64, validators=[coaching.models.people.validate_timezone])),
                    ('checkin_weekday', models.PositiveSmallIntegerField(choices=[(0, 'Monday'), (1, 'Tuesday'), (2, 'Wednesday'), (3, 'Thursday'), (4, 'Friday'), (5, 'Saturday'), (6, 'Sunday')], default=6)),
                    ('next_checkin_on', models.DateField(blank=True, null=True)),
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='profile', to=settings.AUTH_USER_MODEL)),
                    ('timezone_source', models.CharField(blank=True, choices=[('', 'Nobody yet'), ('browser', 'The browser'), ('user', 'The user')], default='', max_length=8)),
                    ('country', models.CharField(blank=True, default='', help_text="Whose help lines are shown; empty: those of the time zone's country.", max_length=2, validators=[coaching.models.people.validate_country])),
                    ('language', models.CharField(blank=True, db_default='', default='', help_text="Of pages, mails and notifications. Empty: the browser's for pages, English for the rest.", max_length=16, validators=[coaching.models.people.validate_language])),
                    ('has_library', models.BooleanField(db_default=False, default=False, editable=False, help_text="Whether conversations offer the library's tools: from the first document or client on.")),
                    ('wants_letters', models.BooleanField(blank=True, help_text='A letter a month; unknown until the person has been asked.', null=True)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('checkin_weekday__lte', 6)), name='profile_weekday_known'), models.CheckConstraint(condition=models.Q(('timezone_source__in', ['', 'browser', 'user'])), name='profile_timezone_source_known')],
                },
            ),
            migrations.CreateModel(
                name='HistoricalSkill',
                fields=[
                    ('id', models.BigIntegerField(auto_created=True, blank=True, db_index=True, verbose_name='ID')),
                    ('name', models.SlugField(max_length=64)),
                    ('kind', models.CharField(choices=[('base', 'Base'), ('arc', 'Arc'), ('approach', 'Approach'), ('document', 'Document')], max_length=16)),
                    ('description', models.CharField(max_length=200)),
                    ('signals', models.JSONField(blank=True, default=list)),
                    ('tools', models.JSONField(blank=True, default=list)),
                    ('file_text', models.TextField()),
                    ('file_sha256', models.CharField(max_length=64)),
                    ('override', models.TextField(blank=True, default='', help_text="Used instead of the file's. Empty: the file holds.", verbose_name='text of your own')),
                    ('overridden_sha256', models.CharField(blank=True, default='', max_length=64)),
                    ('is_retired', models.BooleanField(default=False, help_text="It has no file any more and isn't used.")),
                    ('history_id', models.AutoField(primary_key=True, serialize=False)),
                    ('history_date', models.DateTimeField(db_index=True)),
                    ('history_change_reason', models.CharField(max_length=100, null=True)),
                    ('history_type', models.CharField(choices=[('+', 'Created'), ('~', 'Changed'), ('-', 'Deleted')], max_length=1)),
                    ('history_user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'historical skill',
                    'verbose_name_plural': 'historical skills',
                    'ordering': ('-history_date', '-history_id'),
                    'get_latest_by': ('history_date', 'history_id'),
                },
                bases=(simple_history.models.HistoricalChanges, models.Model),
            ),
            migrations.CreateModel(
                name='Skill',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.SlugField(max_length=64, unique=True)),
                    ('kind', models.CharField(choices=[('base', 'Base'), ('arc', 'Arc'), ('approach', 'Approach'), ('document', 'Document')], max_length=16)),
                    ('description', models.CharField(max_length=200)),
                    ('signals', models.JSONField(blank=True, default=list)),
                    ('tools', models.JSONField(blank=True, default=list)),
                    ('file_text', models.TextField()),
                    ('file_sha256', models.CharField(max_length=64)),
                    ('override', models.TextField(blank=True, default='', help_text="Used instead of the file's. Empty: the file holds.", verbose_name='text of your own')),
                    ('overridden_sha256', models.CharField(blank=True, default='', max_length=64)),
                    ('is_retired', models.BooleanField(default=False, help_text="It has no file any more and isn't used.")),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['base', 'arc', 'approach', 'document'])), name='skill_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('overridden_sha256', ''), ('override', '')), models.Q(models.Q(('override', ''), _negated=True), models.Q(('overridden_sha256', ''), _negated=True)), _connector='OR'), name='skill_override_knows_its_file')],
                },
            ),
            migrations.CreateModel(
                name='CalendarSource',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('file', 'Uploaded file'), ('feed', 'Subscribed feed')], max_length=8)),
                    ('name', models.CharField(max_length=100)),
                    ('origin', models.CharField(max_length=2000)),
                    ('content', models.BinaryField(help_text='The calendar as it was read last, byte for byte.')),
                    ('digest', models.CharField(help_text='SHA-256 of the content without its time stamps.', max_length=64)),
                    ('left_out', models.PositiveIntegerField(default=0, help_text="Events that couldn't be understood.")),
                    ('expanded_on', models.DateField(help_text='The day around which recurring events are written out.')),
                    ('etag', models.CharField(blank=True, default='', max_length=500)),
                    ('last_modified', models.CharField(blank=True, default='', max_length=100)),
                    ('added_at', models.DateTimeField(auto_now_add=True)),
                    ('read_at', models.DateTimeField(help_text='When it could be read last.')),
                    ('tried_at', models.DateTimeField(help_text='When it was tried last.')),
                    ('next_try_at', models.DateTimeField()),
                    ('failures', models.PositiveIntegerField(default=0, help_text="How often in a row it couldn't be read.")),
                    ('failing_since', models.DateTimeField(blank=True, null=True)),
                    ('error', models.CharField(blank=True, default='', max_length=300)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calendar_sources', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['name', 'id'],
                    'indexes': [models.Index(fields=['next_try_at'], name='calendar_next_try')],
                    'constraints': [models.UniqueConstraint(fields=('user', 'kind', 'origin'), name='calendar_once_per_user'), models.CheckConstraint(condition=models.Q(('kind__in', ['file', 'feed'])), name='calendar_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('error', ''), ('failing_since', None), ('failures', 0)), models.Q(('failing_since__isnull', False), ('failures__gt', 0), models.Q(('error', ''), _negated=True)), _connector='OR'), name='calendar_failure_is_explained')],
                },
            ),
            migrations.CreateModel(
                name='CalendarEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(max_length=255)),
                    ('title', models.CharField(blank=True, default='', max_length=300)),
                    ('location', models.CharField(blank=True, default='', max_length=300)),
                    ('timezone', models.CharField(blank=True, default='', help_text='As the calendar names it.', max_length=64)),
                    ('is_floating', models.BooleanField(default=False)),
                    ('starts_at', models.DateTimeField(blank=True, null=True)),
                    ('ends_at', models.DateTimeField(blank=True, null=True)),
                    ('starts_on', models.DateField(blank=True, null=True)),
                    ('ends_on', models.DateField(blank=True, null=True)),
                    ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='coaching.calendarsource')),
                ],
                options={
                    'ordering': ['starts_on', 'starts_at', 'id'],
                    'constraints': [models.UniqueConstraint(fields=('source', 'uid', 'starts_at', 'starts_on'), name='calendar_event_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(models.Q(('ends_at__gte', models.F('starts_at')), ('ends_on', None), ('starts_at__isnull', False), ('starts_on', None)), models.Q(('ends_at', None), ('ends_on__gt', models.F('starts_on')), ('is_floating', False), ('starts_at', None), ('starts_on__isnull', False)), _connector='OR'), name='calendar_event_moments_or_days')],
                },
            ),
            migrations.CreateModel(
                name='CardCount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('day', models.DateField()),
                    ('level', models.CharField(choices=[('immediate', 'Immediate'), ('concern', 'Concern')], max_length=16)),
                    ('shown', models.PositiveIntegerField(default=0)),
                ],
                options={
                    'ordering': ['-day', 'level'],
                    'constraints': [models.UniqueConstraint(fields=('day', 'level'), name='card_count_once_a_day'), models.CheckConstraint(condition=models.Q(('level__in', ['immediate', 'concern'])), name='card_count_level_known')],
                },
            ),
            migrations.CreateModel(
                name='HelpLine',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.SlugField(blank=True, editable=False, max_length=64, null=True, unique=True)),
                    ('country', models.CharField(blank=True, default='', help_text='ISO 3166 code, two letters. Empty: anywhere, for countries without a line of their own.', max_length=2, validators=[django.core.validators.RegexValidator('^[A-Z]{2}\\Z', 'Two capital letters, as in DE.')])),
                    ('kind', models.CharField(choices=[('emergency', 'Emergency'), ('crisis', 'Somebody to talk to'), ('violence', 'Violence and abuse')], default='crisis', max_length=16)),
                    ('name', models.CharField(max_length=100)),
                    ('phone', models.CharField(blank=True, default='', help_text='As people read it; spaces are left out when it is dialled.', max_length=40, validators=[django.core.validators.RegexValidator('^[0-9+*#() -]*\\Z', 'Digits, spaces and + * # ( ) - only.')])),
                    ('text', models.CharField(blank=True, default='', help_text='Such as: Text HOME to 741741.', max_length=200, verbose_name='text or chat')),
                    ('url', models.URLField(blank=True, default='', verbose_name='address')),
                    ('hours', models.CharField(blank=True, default='', max_length=60)),
                    ('language', models.CharField(blank=True, default='', max_length=100)),
                    ('order', models.PositiveSmallIntegerField(default=100, help_text='Smaller comes first, within a country and a kind.')),
                    ('is_active', models.BooleanField(default=True, verbose_name='shown')),
                    ('checked_on', models.DateField(blank=True, help_text='When somebody called, or looked at its own page.', null=True, verbose_name='last checked')),
                    ('shipped', models.JSONField(blank=True, default=dict, editable=False)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('note', models.CharField(blank=True, default='', help_text='Who or what it is for, as in: for the young.', max_length=100)),
                ],
                options={
                    'ordering': ['country', 'order', 'id'],
                    'indexes': [models.Index(fields=['country', 'is_active'], name='help_line_of_country')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['emergency', 'crisis', 'violence'])), name='help_line_kind_known'), models.CheckConstraint(condition=models.Q(('country', ''), ('country__regex', '^[A-Z]{2}$'), _connector='OR'), name='help_line_country_code'), models.CheckConstraint(condition=models.Q(('phone', ''), ('text', ''), ('url', ''), _negated=True), name='help_line_can_be_reached')],
                },
            ),
            migrations.CreateModel(
                name='FileUsage',
                fields=[
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='file_usage', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('files', models.PositiveIntegerField(default=0)),
                    ('bytes', models.PositiveBigIntegerField(default=0, help_text='With all versions.')),
                ],
            ),
            migrations.CreateModel(
                name='Client',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=120)),
                    ('client_type', models.CharField(choices=[('self', 'Me'), ('person', 'Person'), ('household', 'Household'), ('company', 'Company')], default='person', max_length=16)),
                    ('status', models.CharField(choices=[('active', 'Active'), ('prospect', 'Prospect'), ('archived', 'Archived')], default='active', max_length=16)),
                    ('notes', models.TextField(blank=True, default='', max_length=2000)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='clients', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['name', 'id'],
                    'constraints': [models.UniqueConstraint(models.F('user'), django.db.models.functions.text.Lower('name'), name='client_name_once_per_user'), models.UniqueConstraint(condition=models.Q(('client_type', 'self')), fields=('user',), name='client_self_once_per_user'), models.UniqueConstraint(fields=('id', 'user'), name='client_of_user'), models.CheckConstraint(condition=models.Q(('client_type__in', ['self', 'person', 'household', 'company'])), name='client_type_known'), models.CheckConstraint(condition=models.Q(('status__in', ['active', 'prospect', 'archived'])), name='client_status_known')],
                },
            ),
            migrations.CreateModel(
                name='DocumentCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('purpose', models.CharField(choices=[('classify', 'Classification'), ('critic', 'Second reading'), ('summary', 'Summary'), ('transcript', 'Transcript')], max_length=16)),
                    ('key', models.CharField(max_length=100)),
                    ('documents', models.JSONField(default=list, help_text='Their ids, in the order in which they are sent.')),
                    ('state', models.CharField(choices=[('open', 'Open'), ('answered', 'Answered'), ('failed', 'Failed')], default='open', max_length=16)),
                    ('request', models.TextField(blank=True, default='')),
                    ('rounds', models.TextField(blank=True, default='')),
                    ('answer', models.TextField(blank=True, default='')),
                    ('error', models.CharField(blank=True, default='', max_length=500)),
                    ('attempts', models.PositiveIntegerField(default=0)),
                    ('batch', models.CharField(blank=True, default='', help_text="The model API's batch.", max_length=100)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('answered_at', models.DateTimeField(blank=True, null=True)),
                    ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='coaching.client')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='document_calls', to=settings.AUTH_USER_MODEL)),
                    ('prefix', models.CharField(blank=True, default='', help_text='Of its tools and system.', max_length=64)),
                    ('prompt_tokens', models.PositiveIntegerField(default=0, help_text='An estimate.')),
                    ('sent_at', models.DateTimeField(blank=True, null=True)),
                    ('used', models.JSONField(default=list, help_text='The ids of those for which the answer was used.')),
                ],
                options={
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['state', 'batch'], name='document_call_open'), models.Index(fields=['prefix', '-sent_at'], name='document_call_prefix')],
                    'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='document_call_once'), models.CheckConstraint(condition=models.Q(('state__in', ['open', 'answered', 'failed'])), name='document_call_state_known'), models.CheckConstraint(condition=models.Q(('purpose__in', ['classify', 'critic', 'summary', 'transcript'])), name='document_call_purpose_known')],
                },
            ),
            migrations.CreateModel(
                name='HistoricalPlacementRule',
                fields=[
                    ('id', models.BigIntegerField(auto_created=True, blank=True, db_index=True, verbose_name='ID')),
                    ('file_type', models.CharField(blank=True, default='', max_length=64)),
                    ('category', models.CharField(blank=True, default='', max_length=64)),
                    ('client_type', models.CharField(blank=True, choices=[('self', 'Me'), ('person', 'Person'), ('household', 'Household'), ('company', 'Company')], default='', max_length=16)),
                    ('folder', models.CharField(max_length=120)),
                    ('level', models.CharField(choices=[('client', 'Client'), ('project', 'Project')], default='client', max_length=16)),
                    ('is_overridden', models.BooleanField(default=False, help_text="An operator's, kept when files are synced.")),
                    ('history_id', models.AutoField(primary_key=True, serialize=False)),
                    ('history_date', models.DateTimeField(db_index=True)),
                    ('history_change_reason', models.CharField(max_length=100, null=True)),
                    ('history_type', models.CharField(choices=[('+', 'Created'), ('~', 'Changed'), ('-', 'Deleted')], max_length=1)),
                    ('history_user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'historical placement rule',
                    'verbose_name_plural': 'historical placement rules',
                    'ordering': ('-history_date', '-history_id'),
                    'get_latest_by': ('history_date', 'history_id'),
                },
                bases=(simple_history.models.HistoricalChanges, models.Model),
            ),
            migrations.CreateModel(
                name='HistoricalReference',
                fields=[
                    ('id', models.BigIntegerField(auto_created=True, blank=True, db_index=True, verbose_name='ID')),
                    ('file_type', models.SlugField(max_length=64)),
                    ('title', models.CharField(max_length=120)),
                    ('category', models.CharField(max_length=64)),
                    ('area', models.CharField(choices=[('real_estate', 'Real estate'), ('life', "A person's life")], max_length=16)),
                    ('tags', models.JSONField(blank=True, default=list)),
                    ('phrases', models.JSONField(blank=True, default=list)),
                    ('look_alikes', models.JSONField(blank=True, default=list)),
                    ('folder', models.CharField(max_length=120)),
                    ('level', models.CharField(choices=[('client', 'Client'), ('project', 'Project')], default='client', max_length=16)),
                    ('file_text', models.TextField()),
                    ('file_sha256', models.CharField(max_length=64)),
                    ('override', models.TextField(blank=True, default='', help_text="Used instead of the file's. Empty: the file holds.", verbose_name='text of your own')),
                    ('overridden_sha256', models.CharField(blank=True, default='', max_length=64)),
                    ('is_retired', models.BooleanField(default=False, help_text="It has no file any more and isn't used.")),
                    ('history_id', models.AutoField(primary_key=True, serialize=False)),
                    ('history_date', models.DateTimeField(db_index=True)),
                    ('history_change_reason', models.CharField(max_length=100, null=True)),
                    ('history_type', models.CharField(choices=[('+', 'Created'), ('~', 'Changed'), ('-', 'Deleted')], max_length=1)),
                    ('history_user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'historical reference',
                    'verbose_name_plural': 'historical references',
                    'ordering': ('-history_date', '-history_id'),
                    'get_latest_by': ('history_date', 'history_id'),
                },
                bases=(simple_history.models.HistoricalChanges, models.Model),
            ),
            migrations.CreateModel(
                name='PlacementRule',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('file_type', models.CharField(blank=True, default='', max_length=64)),
                    ('category', models.CharField(blank=True, default='', max_length=64)),
                    ('client_type', models.CharField(blank=True, choices=[('self', 'Me'), ('person', 'Person'), ('household', 'Household'), ('company', 'Company')], default='', max_length=16)),
                    ('folder', models.CharField(max_length=120)),
                    ('level', models.CharField(choices=[('client', 'Client'), ('project', 'Project')], default='client', max_length=16)),
                    ('is_overridden', models.BooleanField(default=False, help_text="An operator's, kept when files are synced.")),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ['category', 'file_type', 'client_type'],
                    'constraints': [models.UniqueConstraint(fields=('file_type', 'category', 'client_type'), name='placement_rule_once'), models.CheckConstraint(condition=models.Q(('file_type', ''), ('category', ''), _connector='XOR'), name='placement_by_type_or_category'), models.CheckConstraint(condition=models.Q(('level__in', ['client', 'project'])), name='placement_level_known')],
                },
            ),
            migrations.CreateModel(
                name='Project',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=120)),
                    ('status', models.CharField(choices=[('active', 'Active'), ('archived', 'Archived')], default='active', max_length=16)),
                    ('notes', models.TextField(blank=True, default='', max_length=2000)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='projects', to='coaching.client')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='library_projects', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['name', 'id'],
                    'constraints': [models.UniqueConstraint(models.F('client'), django.db.models.functions.text.Lower('name'), name='project_name_once_per_client'), models.UniqueConstraint(fields=('id', 'client'), name='project_of_client'), models.CheckConstraint(condition=models.Q(('status__in', ['active', 'archived'])), name='project_status_known')],
                },
            ),
            migrations.CreateModel(
                name='Document',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('source', models.CharField(choices=[('upload', 'Upload'), ('chat', 'Conversation'), ('command', 'Command')], default='upload', max_length=16)),
                    ('batch', models.UUIDField(default=uuid.uuid4, help_text='Of the upload that it came with.')),
                    ('name', models.CharField(max_length=255)),
                    ('size', models.PositiveBigIntegerField(help_text='Bytes.')),
                    ('sha256', models.CharField(blank=True, default='', max_length=64)),
                    ('storage_key', models.CharField(blank=True, help_text='Null if it was refused unread.', max_length=255, null=True, unique=True)),
                    ('content_type', models.CharField(blank=True, default='', help_text='By its content.', max_length=100)),
                    ('is_withheld', models.BooleanField(default=False, help_text='Never sent to the model.')),
                    ('state', models.CharField(choices=[('queued', 'Queued'), ('reading', 'Reading'), ('waiting', 'Waiting'), ('filed', 'Filed'), ('review', 'Needs review'), ('duplicate', 'Duplicate'), ('failed', 'Failed'), ('refused', 'Not accepted')], default='queued', max_length=16)),
                    ('reason', models.CharField(blank=True, default='', max_length=500)),
                    ('attempts', models.PositiveIntegerField(default=0)),
                    ('page_count', models.PositiveIntegerField(default=0)),
                    ('file_type', models.CharField(blank=True, default='', max_length=64)),
                    ('category', models.CharField(blank=True, default='', max_length=64)),
                    ('folder', models.CharField(blank=True, default='', max_length=120)),
                    ('level', models.CharField(blank=True, choices=[('client', 'Client'), ('project', 'Project')], default='', max_length=16)),
                    ('tags', models.JSONField(blank=True, default=list)),
                    ('summary', models.TextField(blank=True, default='')),
                    ('key_facts', models.JSONField(blank=True, default=list)),
                    ('confidence', models.FloatField(blank=True, null=True)),
                    ('why', models.TextField(blank=True, default='')),
                    ('alternatives', models.JSONField(blank=True, default=list)),
                    ('proposal', models.JSONField(blank=True, default=dict)),
                    ('decided_by', models.CharField(blank=True, choices=[('model', 'Sage'), ('critic', 'Sage, on a second reading'), ('user', 'You')], default='', max_length=16)),
                    ('similarity', models.FloatField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('read_at', models.DateTimeField(blank=True, null=True)),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='coaching.client')),
                    ('duplicate_of', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='duplicates', to='coaching.document')),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='documents', to='sessions_app.session')),
                    ('similar_to', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='similar', to='coaching.document')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='coaching.project')),
                    ('claim', models.CharField(blank=True, default='', help_text='Who reads it now.', max_length=100)),
                    ('claimed_at', models.DateTimeField(blank=True, null=True)),
                    ('dropped_facts', models.PositiveIntegerField(default=0, help_text="Facts that were left out because the text doesn't have them.")),
                ],
                options={
                    'ordering': ['-created_at', '-id'],
                    'indexes': [models.Index(fields=['user', 'client', 'folder', '-created_at'], name='document_folder'), models.Index(fields=['user', 'state', '-created_at'], name='document_state'), models.Index(fields=['user', 'sha256'], name='document_bytes'), models.Index(fields=['user', 'batch'], name='document_batch'), models.Index(condition=models.Q(('is_withheld', False), models.Q(('state__in', ['duplicate', 'refused', 'failed']), _negated=True)), fields=['user', '-created_at', '-id'], include=('client', 'project', 'state'), name='document_headlines'), models.Index(condition=models.Q(('is_withheld', True)), fields=['user'], include=('id',), name='document_withheld')],
                    'constraints': [models.UniqueConstraint(fields=('id', 'user'), name='document_of_user'), models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'reading', 'waiting', 'filed', 'review', 'duplicate', 'failed', 'refused'])), name='document_state_known'), models.CheckConstraint(condition=models.Q(('source__in', ['upload', 'chat', 'command'])), name='document_source_known'), models.CheckConstraint(condition=models.Q(('level', ''), ('level__in', ['client', 'project']), _connector='OR'), name='document_level_known'), models.CheckConstraint(condition=models.Q(('storage_key__isnull', False), ('state', 'refused'), _connector='OR'), name='document_stored_unless_refused'), models.CheckConstraint(condition=models.Q(models.Q(('level', 'project'), _negated=True), ('project__isnull', False), _connector='OR'), name='document_at_project_level_has_project'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'filed'), _negated=True), models.Q(('folder', ''), _negated=True), _connector='OR'), name='document_filed_has_folder'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['failed', 'refused']), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='document_unread_has_reason')],
                },
            ),
            migrations.CreateModel(
                name='DocumentText',
                fields=[
                    ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='text', serialize=False, to='coaching.document')),
                    ('text', models.TextField(blank=True, default='')),
                    ('pages_read', models.JSONField(blank=True, default=list)),
                    ('hints', models.JSONField(blank=True, default=dict)),
                    ('fingerprint', models.JSONField(blank=True, default=list)),
                ],
                options={
                    'abstract': False,
                    'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['fingerprint'], name='document_text_fingerprint', opclasses=['jsonb_path_ops'])],
                },
            ),
            migrations.CreateModel(
                name='ActionItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('title', models.CharField(max_length=200)),
                    ('description', models.TextField(blank=True, default='')),
                    ('due_date', models.DateField(blank=True, null=True)),
                    ('due_words', models.CharField(blank=True, default='', max_length=200)),
                    ('priority', models.CharField(choices=[('low', 'Low'), ('medium', 'Medium'), ('high', 'High')], default='medium', max_length=16)),
                    ('owner', models.CharField(blank=True, default='', max_length=120)),
                    ('quote', models.TextField(blank=True, default='')),
                    ('page', models.PositiveIntegerField(blank=True, null=True)),
                    ('state', models.CharField(choices=[('proposed', 'Suggested'), ('open', 'Open'), ('done', 'Done'), ('dropped', 'Dropped'), ('dismissed', 'Dismissed')], default='open', max_length=16)),
                    ('origin_key', models.CharField(blank=True, default='', max_length=100)),
                    ('done_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='action_items', to='sessions_app.session')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='action_items', to=settings.AUTH_USER_MODEL)),
                    ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='action_items', to='coaching.client')),
                    ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='action_items', to='coaching.document')),
                    ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='action_items', to='coaching.project')),
                    ('asked_for', models.DateField(blank=True, editable=False, null=True)),
                    ('asked_in', models.UUIDField(blank=True, editable=False, null=True)),
                    ('due_time', models.TimeField(blank=True, null=True)),
                    ('message_number', models.PositiveIntegerField(blank=True, null=True)),
                    ('origin', models.CharField(choices=[('conversation', 'From a conversation'), ('document', 'From a document'), ('transcript', 'From a transcript'), ('person', 'Added by you'), ('import', 'Imported'), ('program', 'From another program')], db_default='person', default='person', max_length=16)),
                    ('outcome', models.TextField(blank=True, db_default='', default='')),
                    ('repeats', models.CharField(blank=True, db_default='', default='', max_length=32)),
                ],
                options={
                    'ordering': ['due_date', '-created_at', '-id'],
                    'verbose_name': 'next step',
                    'indexes': [models.Index(fields=['user', 'state', 'due_date'], name='action_due')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('origin_key', ''), _negated=True), fields=('document', 'origin_key'), name='action_origin_once'), models.CheckConstraint(condition=models.Q(('priority__in', ['low', 'medium', 'high'])), name='action_priority_known'), models.CheckConstraint(condition=models.Q(('state__in', ['proposed', 'open', 'done', 'dropped', 'dismissed'])), name='action_state_known'), models.CheckConstraint(condition=models.Q(('origin__in', ['conversation', 'document', 'transcript', 'person', 'import', 'program'])), name='action_origin_known'), models.CheckConstraint(condition=models.Q(models.Q(('done_at__isnull', False), ('state', 'done')), models.Q(models.Q(('state', 'done'), _negated=True), ('done_at__isnull', True)), _connector='OR'), name='action_done_has_time'), models.CheckConstraint(condition=models.Q(('due_date__isnull', False), models.Q(('due_time__isnull', True), ('repeats', '')), _connector='OR'), name='action_time_has_date')],
                },
            ),
            migrations.CreateModel(
                name='DocumentCorrection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=255)),
                    ('excerpt', models.CharField(blank=True, default='', max_length=500)),
                    ('from_type', models.CharField(blank=True, default='', max_length=64)),
                    ('to_type', models.CharField(max_length=64)),
                    ('to_folder', models.CharField(blank=True, default='', max_length=120)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='corrections', to='coaching.client')),
                    ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='corrections', to='coaching.document')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='document_corrections', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created_at', '-id'],
                },
            ),
            migrations.CreateModel(
                name='KnowledgeEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('title', models.CharField(max_length=200)),
                    ('content', models.TextField()),
                    ('entry_type', models.CharField(choices=[('document_summary', 'Document summary'), ('deal_update', 'Update'), ('call_transcript', 'Call'), ('note', 'Note')], default='note', max_length=32)),
                    ('key_points', models.JSONField(blank=True, default=list)),
                    ('tags', models.JSONField(blank=True, default=list)),
                    ('state', models.CharField(choices=[('proposed', 'Suggested'), ('accepted', 'Accepted'), ('dismissed', 'Dismissed')], default='accepted', max_length=16)),
                    ('made_by', models.CharField(choices=[('pipeline', 'Sage, from a document'), ('chat', 'Sage, in a conversation'), ('user', 'You')], default='user', max_length=16)),
                    ('origin_key', models.CharField(blank=True, default='', max_length=100)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='knowledge', to='coaching.client')),
                    ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='knowledge', to='coaching.document')),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='knowledge', to='sessions_app.session')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='knowledge', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='knowledge', to='coaching.project')),
                    ('quote', models.TextField(blank=True, default='')),
                    ('page', models.PositiveIntegerField(blank=True, null=True)),
                ],
                options={
                    'verbose_name_plural': 'knowledge entries',
                    'ordering': ['-created_at', '-id'],
                    'indexes': [models.Index(fields=['user', 'client', '-created_at'], name='entry_recent')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('origin_key', ''), _negated=True), fields=('document', 'origin_key'), name='entry_origin_once'), models.CheckConstraint(condition=models.Q(('entry_type__in', ['document_summary', 'deal_update', 'call_transcript', 'note'])), name='entry_type_known'), models.CheckConstraint(condition=models.Q(('state__in', ['proposed', 'accepted', 'dismissed'])), name='entry_state_known'), models.CheckConstraint(condition=models.Q(('made_by__in', ['pipeline', 'chat', 'user'])), name='entry_made_by_known')],
                },
            ),
            migrations.CreateModel(
                name='LibraryEffect',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('filed', 'Filed'), ('moved', 'Moved'), ('corrected', 'Corrected'), ('renamed', 'Renamed'), ('withheld', 'AI model access changed'), ('knowledge_created', 'Knowledge added'), ('knowledge_changed', 'Knowledge changed'), ('action_created', 'Next step added'), ('action_changed', 'Next step changed')], max_length=32)),
                    ('before', models.JSONField(blank=True, default=dict)),
                    ('after', models.JSONField(blank=True, default=dict)),
                    ('made_by', models.CharField(choices=[('pipeline', 'Sage, from a document'), ('chat', 'Sage, in a conversation'), ('user', 'You')], max_length=16)),
                    ('tool_use_id', models.CharField(blank=True, default='', max_length=100)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('undone_at', models.DateTimeField(blank=True, null=True)),
                    ('action_item', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='effects', to='coaching.actionitem')),
                    ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='effects', to='coaching.document')),
                    ('entry', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='effects', to='coaching.knowledgeentry')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='library_effects', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created_at', '-id'],
                    'indexes': [models.Index(fields=['user', '-created_at'], name='effect_recent')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['filed', 'moved', 'corrected', 'renamed', 'withheld', 'knowledge_created', 'knowledge_changed', 'action_created', 'action_changed'])), name='effect_kind_known'), models.CheckConstraint(condition=models.Q(('made_by__in', ['pipeline', 'chat', 'user'])), name='effect_made_by_known')],
                },
            ),
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
                    ('action_item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='coaching.actionitem')),
                    ('effect', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='step_changes', to='coaching.libraryeffect')),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='step_changes', to='sessions_app.session')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='step_changes', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-at', '-id'],
                    'indexes': [models.Index(fields=['user', '-at'], name='step_change_recent')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['done', 'dropped', 'reopened', 'moved'])), name='step_change_known')],
                },
            ),
            migrations.CreateModel(
                name='Reference',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('file_type', models.SlugField(max_length=64, unique=True)),
                    ('title', models.CharField(max_length=120)),
                    ('category', models.CharField(max_length=64)),
                    ('area', models.CharField(choices=[('real_estate', 'Real estate'), ('life', "A person's life")], max_length=16)),
                    ('tags', models.JSONField(blank=True, default=list)),
                    ('phrases', models.JSONField(blank=True, default=list)),
                    ('look_alikes', models.JSONField(blank=True, default=list)),
                    ('folder', models.CharField(max_length=120)),
                    ('level', models.CharField(choices=[('client', 'Client'), ('project', 'Project')], default='client', max_length=16)),
                    ('file_text', models.TextField()),
                    ('file_sha256', models.CharField(max_length=64)),
                    ('override', models.TextField(blank=True, default='', help_text="Used instead of the file's. Empty: the file holds.", verbose_name='text of your own')),
                    ('overridden_sha256', models.CharField(blank=True, default='', max_length=64)),
                    ('is_retired', models.BooleanField(default=False, help_text="It has no file any more and isn't used.")),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ['area', 'file_type'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('area__in', ['real_estate', 'life'])), name='reference_area_known'), models.CheckConstraint(condition=models.Q(('level__in', ['client', 'project'])), name='reference_level_known'), models.CheckConstraint(condition=models.Q(models.Q(('overridden_sha256', ''), ('override', '')), models.Q(models.Q(('override', ''), _negated=True), models.Q(('overridden_sha256', ''), _negated=True)), _connector='OR'), name='reference_override_knows_its_file')],
                },
            ),
            migrations.CreateModel(
                name='SessionScope',
                fields=[
                    ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='scope', serialize=False, to='sessions_app.session')),
                    ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scopes', to='coaching.client')),
                    ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='scopes', to='coaching.project')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Import',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('finished', 'Finished'), ('failed', 'Failed'), ('cancelled', 'Cancelled'), ('undoing', 'Being undone'), ('undone', 'Undone')], default='running', max_length=16)),
                    ('file_name', models.CharField(max_length=255)),
                    ('file_format', models.CharField(blank=True, choices=[('sage', 'Sage'), ('chatgpt', 'ChatGPT'), ('claude', 'Claude')], default='', max_length=16)),
                    ('size', models.PositiveBigIntegerField(default=0, help_text='Bytes.')),
                    ('sha256', models.CharField(blank=True, default='', max_length=64)),
                    ('storage_key', models.CharField(blank=True, default='', max_length=255)),
                    ('counts', models.JSONField(blank=True, default=dict)),
                    ('problems', models.JSONField(blank=True, default=list)),
                    ('problem_count', models.PositiveIntegerField(default=0)),
                    ('profile', models.JSONField(blank=True, default=dict)),
                    ('done', models.PositiveIntegerField(default=0, help_text='Conversations so far.')),
                    ('total', models.PositiveIntegerField(default=0, help_text='Conversations in the file.')),
                    ('brief_tokens', models.PositiveBigIntegerField(default=0, help_text='What writing the briefs of its conversations would read.')),
                    ('failure', models.CharField(blank=True, default='', help_text='A sentence for the person.', max_length=300)),
                    ('kept', models.JSONField(blank=True, default=list)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to=settings.AUTH_USER_MODEL)),
                    ('checked_percent', models.PositiveSmallIntegerField(db_default=0, default=0, help_text='How far the file is checked.')),
                    ('is_cancelling', models.BooleanField(db_default=False, default=False)),
                    ('stuck_at', models.PositiveIntegerField(db_default=0, default=0)),
                    ('stuck_seconds', models.FloatField(db_default=0, default=0)),
                ],
                options={
                    'ordering': ['-created_at'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ('waiting', 'running', 'undoing'))), fields=('user',), name='import_one_at_a_time'), models.CheckConstraint(condition=models.Q(('file_format', ''), ('file_format__in', ['sage', 'chatgpt', 'claude']), _connector='OR'), name='import_format_known'), models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'running', 'finished', 'failed', 'cancelled', 'undoing', 'undone'])), name='import_state_known')],
                },
            ),
            migrations.CreateModel(
                name='PulseRating',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('domain', models.CharField(choices=[('career', 'Career'), ('relationships', 'Relationships'), ('health', 'Health'), ('finances', 'Finances'), ('learning', 'Learning'), ('creativity', 'Creativity'), ('play', 'Play'), ('meaning', 'Meaning')], max_length=16)),
                    ('rating', models.PositiveSmallIntegerField()),
                    ('note', models.CharField(blank=True, default='', max_length=500)),
                    ('rated_at', models.DateTimeField()),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='sessions_app.session')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pulse_ratings', to=settings.AUTH_USER_MODEL)),
                    ('made_by_import', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='ratings', to='coaching.import')),
                ],
                options={
                    'ordering': ['-rated_at'],
                    'indexes': [models.Index(fields=['user', 'domain', '-rated_at'], name='pulse_user_domain_recent')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('rating__gte', 1), ('rating__lte', 5)), name='pulse_rating_1_to_5'), models.CheckConstraint(condition=models.Q(('domain__in', ['career', 'relationships', 'health', 'finances', 'learning', 'creativity', 'play', 'meaning'])), name='pulse_domain_known'), models.UniqueConstraint(condition=models.Q(('made_by_import__isnull', False)), fields=('user', 'domain', 'rated_at'), name='pulse_imported_once')],
                },
            ),
            migrations.CreateModel(
                name='DocumentImage',
                fields=[
                    ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='image', serialize=False, to='coaching.document')),
                    ('media_type', models.CharField(max_length=32)),
                    ('data', models.BinaryField()),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='PushDevice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('endpoint', models.CharField(max_length=1000, unique=True)),
                    ('p256dh', models.CharField(help_text="The browser's public key.", max_length=100)),
                    ('auth', models.CharField(help_text='The secret that the browser shares with this Sage.', max_length=50)),
                    ('name', models.CharField(blank=True, default='', max_length=60)),
                    ('added_at', models.DateTimeField(auto_now_add=True)),
                    ('failures', models.PositiveSmallIntegerField(default=0, help_text="How often in a row it couldn't be reached.")),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='push_devices', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['added_at', 'id'],
                },
            ),
            migrations.CreateModel(
                name='Reminder',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('day', 'Plan the day'), ('evening', 'Close the day'), ('check_in', 'Weekly check-in'), ('steps', 'Next steps')], max_length=8)),
                    ('at', models.TimeField(default=datetime.time(8, 0))),
                    ('by_push', models.BooleanField(default=False)),
                    ('by_mail', models.BooleanField(default=False)),
                    ('origin', models.CharField(blank=True, default='', max_length=300)),
                    ('changed_at', models.DateTimeField(help_text='Nothing that was due before is sent.')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reminders', to=settings.AUTH_USER_MODEL)),
                    ('with_words', models.BooleanField(db_default=False, default=False, help_text='Whether it quotes which next steps are due.')),
                ],
                options={
                    'ordering': ['user', 'kind'],
                    'indexes': [models.Index(condition=models.Q(('by_push', True), ('by_mail', True), _connector='OR'), fields=['kind', 'at'], name='reminder_that_is_on')],
                    'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='reminder_once_per_kind'), models.CheckConstraint(condition=models.Q(('kind__in', ['day', 'evening', 'check_in', 'steps'])), name='reminder_kind_known')],
                },
            ),
            migrations.CreateModel(
                name='SentReminder',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('day', 'Plan the day'), ('evening', 'Close the day'), ('check_in', 'Weekly check-in'), ('steps', 'Next steps')], max_length=8)),
                    ('day', models.DateField()),
                    ('due_at', models.DateTimeField()),
                    ('mail_begun_at', models.DateTimeField(blank=True, null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('at', models.TimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['-day'],
                    'indexes': [models.Index(fields=['due_at'], name='sent_reminder_due')],
                    'constraints': [models.UniqueConstraint(fields=('user', 'kind', 'day', 'at'), name='reminder_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('kind__in', ['day', 'evening', 'check_in', 'steps'])), name='sent_reminder_kind_known')],
                },
            ),
            migrations.CreateModel(
                name='CallUsage',
                fields=[
                    ('usage', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document_call', serialize=False, to='sessions_app.modelusage')),
                    ('call', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replies_paid', to='coaching.documentcall')),
                ],
                options={
                    'verbose_name_plural': 'usage of document calls',
                },
            ),
            migrations.CreateModel(
                name='CaptureVerdict',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('level', models.CharField(choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], default='none', max_length=16)),
                    ('by_rules', models.CharField(choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], default='none', max_length=16)),
                    ('about', models.CharField(choices=[('self', 'Themselves'), ('other', 'Somebody else')], default='self', max_length=8)),
                    ('topic', models.CharField(choices=[('life', 'Life'), ('violence', 'Violence')], default='life', max_length=16)),
                    ('looked', models.CharField(blank=True, choices=[('none', 'Nothing'), ('concern', 'Concern'), ('immediate', 'Immediate'), ('skipped', 'Skipped over the budget'), ('given_up', 'Given up: too slow'), ('failed', 'Failed'), ('nonsense', 'No usable answer')], default='', max_length=16)),
                    ('model', models.CharField(blank=True, default='', max_length=100)),
                    ('milliseconds', models.PositiveIntegerField(default=0)),
                    ('is_shown', models.BooleanField(default=False)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('usage', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='sessions_app.modelusage')),
                    ('version', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='capture_verdict', to='coaching.userfileversion')),
                    ('look_due_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('by_rules__in', ['none', 'concern', 'immediate']), ('level__in', ['none', 'concern', 'immediate'])), name='capture_verdict_level_known'), models.CheckConstraint(condition=models.Q(('about__in', ('self', 'other')), ('topic__in', ('life', 'violence'))), name='capture_verdict_danger_known'), models.CheckConstraint(condition=models.Q(('look_due_at', None), ('looked', ''), _connector='OR'), name='capture_look_due_until_it_ends')],
                    'indexes': [models.Index(condition=models.Q(('look_due_at__isnull', False)), fields=['look_due_at'], name='capture_look_due')],
                },
            ),
            migrations.CreateModel(
                name='CareAsk',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('asked_on', models.DateField(help_text="The person's own day.")),
                    ('about', models.CharField(choices=[('self', 'Themselves'), ('other', 'Somebody else')], max_length=8)),
                    ('message_number', models.PositiveIntegerField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='sessions_app.session')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='care_asks', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-asked_on'],
                    'constraints': [models.UniqueConstraint(fields=('user', 'asked_on'), name='care_asked_once_a_day'), models.CheckConstraint(condition=models.Q(('about__in', ('self', 'other'))), name='care_ask_about_known')],
                },
            ),
            migrations.CreateModel(
                name='CareEnd',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('ended_at', models.DateTimeField()),
                    ('how', models.CharField(choices=[('said', 'Said'), ('pressed', 'Pressed')], max_length=8)),
                    ('message_number', models.PositiveIntegerField(blank=True, null=True)),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='sessions_app.session')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='care_ends', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-ended_at'],
                    'indexes': [models.Index(fields=['user', '-ended_at'], name='care_end_newest')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('how__in', ('said', 'pressed'))), name='care_end_how_known'), models.CheckConstraint(condition=models.Q(models.Q(('how', 'said'), ('message_number__isnull', False)), models.Q(('how', 'pressed'), ('message_number__isnull', True), ('session__isnull', True)), _connector='OR'), name='care_end_said_in_a_message'), models.UniqueConstraint(fields=('user', 'session', 'message_number'), name='care_end_once_a_message')],
                },
            ),
            migrations.CreateModel(
                name='Letter',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('month', models.DateField()),
                    ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often a model was asked for it.')),
                    ('tried_at', models.DateTimeField(blank=True, null=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('file', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='coaching.userfile')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='letters', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-month'],
                    'constraints': [models.UniqueConstraint(fields=('user', 'month'), name='letter_once_a_month'), models.CheckConstraint(condition=models.Q(('month__day', 1)), name='letter_month_begins'), models.CheckConstraint(condition=models.Q(('file__isnull', True), ('ended_at__isnull', False), _connector='OR'), name='letter_file_has_end')],
                },
            ),
            migrations.SeparateDatabaseAndState(
                [migrations.RunSQL(library.AUTO_APPROVALS, "DROP TABLE coaching_autoapproval")],
                [
                    migrations.CreateModel(
                        name='AutoApproval',
                        fields=[
                            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                            ('kind', models.CharField(max_length=32)),
                            ('created_at', models.DateTimeField(auto_now_add=True)),
                            ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='auto_approvals', to=settings.AUTH_USER_MODEL)),
                        ],
                        options={
                            'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='auto_approval_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['document_summary', 'deal_update', 'call_transcript', 'note', 'action_item'])), name='auto_approval_kind_known')],
                        },
                    ),
                ],
            ),
            migrations.SeparateDatabaseAndState(
                [migrations.RunSQL(recall.TABLES, recall.REMOVE)],
                [
                    migrations.CreateModel(
                        name='RecallLanguage',
                        fields=[
                            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                            ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recall_languages', to=settings.AUTH_USER_MODEL)),
                            ('name', models.CharField(max_length=32)),
                        ],
                        options={
                            'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='recall_language_once')],
                        },
                    ),
                    migrations.CreateModel(
                        name='RecallPassage',
                        fields=[
                            ('id', models.BigAutoField(primary_key=True, serialize=False)),
                            ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recall_passages', to=settings.AUTH_USER_MODEL)),
                            ('source', models.CharField(choices=[('message', 'Message'), ('tool', 'Tool call'), ('summary', 'Summary'), ('brief', 'Brief'), ('file', 'File'), ('document', 'Document'), ('document_withheld', 'Document that the model never gets'), ('knowledge', 'Knowledge'), ('knowledge_withheld', 'Knowledge that the model never gets'), ('step', 'Next step'), ('step_withheld', 'Next step that the model never gets')], max_length=24)),
                            ('session_id', models.UUIDField(null=True)),
                            ('message_id', models.BigIntegerField(null=True)),
                            ('file_id', models.BigIntegerField(null=True)),
                            ('number', models.PositiveIntegerField(default=0, help_text="The message's number; 0 if it is none.")),
                            ('part', models.PositiveSmallIntegerField(default=0)),
                            ('piece', models.PositiveSmallIntegerField(default=0)),
                            ('is_by_user', models.BooleanField(default=False)),
                            ('length', models.PositiveSmallIntegerField(help_text='Different stems.')),
                            ('moment', models.DateTimeField()),
                            ('lexemes', django.contrib.postgres.search.SearchVectorField()),
                        ],
                        options={
                            'constraints': [models.UniqueConstraint(fields=('user', 'message_id', 'part', 'piece'), name='recall_message_once'), models.UniqueConstraint(condition=models.Q(('message_id__isnull', True), ('session_id__isnull', False)), fields=('user', 'session_id', 'source', 'part', 'piece'), name='recall_session_part_once'), models.CheckConstraint(condition=models.Q(('source__in', ['message', 'tool', 'summary', 'brief', 'file', 'document', 'document_withheld', 'knowledge', 'knowledge_withheld', 'step', 'step_withheld'])), name='recall_source_known'), models.UniqueConstraint(condition=models.Q(('file_id__isnull', False)), fields=('user', 'file_id', 'source', 'part', 'piece'), name='recall_record_part_once')],
                        },
                    ),
                    migrations.CreateModel(
                        name='RecallVector',
                        fields=[
                            ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recall_vectors', to=settings.AUTH_USER_MODEL)),
                            ('passage', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='vector', serialize=False, to='coaching.recallpassage')),
                            ('model', models.IntegerField(help_text='The key of the model that made it.')),
                            ('vector', coaching.models.recall.VectorField()),
                        ],
                    ),
                ],
            ),
            migrations.RunSQL(library.MADE_BY, library.REMOVE_MADE_BY),
            migrations.RunSQL(library.KEYS, library.REMOVE_KEYS),
            migrations.RunSQL(COUNT, drop_functions(COUNT)),
            migrations.RunSQL([FUNCTIONS, TRIGGERS], drop_functions(FUNCTIONS)),
        ]),
        # Not with the table: Django would add its unique constraints at the end, and the keys above refer to one.
        AtOnce([
            migrations.SeparateDatabaseAndState(
                [migrations.RunSQL(library.DROPPED_FACTS, migrations.RunSQL.noop)],
                [
                    migrations.AlterField(
                        model_name='document',
                        name='dropped_facts',
                        field=models.PositiveIntegerField(db_default=0, default=0, help_text="Facts that were left out because the text doesn't have them."),
                    ),
                ],
            ),
            migrations.AddField(
                model_name="document",
                name="reading_note",
                field=models.CharField(blank=True, db_default="", default="", max_length=500),
            ),
            migrations.AddField(
                model_name="documenttext",
                name="filled",
                field=models.CharField(blank=True, db_default="", default="", max_length=32),
            ),
            migrations.AddField(
                model_name='document',
                name='part_of',
                field=models.ForeignKey(blank=True, help_text='The email that it was attached to.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='attachments', to='coaching.document'),
            ),
            migrations.AddField(
                model_name='documenttext',
                name='page_texts',
                field=models.JSONField(blank=True, db_default={}, default=dict),
            ),
            migrations.CreateModel(
                name='DocumentPage',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('data', models.BinaryField(default=b'')),
                    ('size', models.PositiveIntegerField(default=0, help_text='Bytes of the image and its words.')),
                    ('width', models.PositiveIntegerField(default=0)),
                    ('height', models.PositiveIntegerField(default=0)),
                    ('page_count', models.PositiveIntegerField(default=0, help_text='Of the document.')),
                    ('words', models.JSONField(blank=True, default=list)),
                    ('failure', models.CharField(blank=True, default='', max_length=500)),
                    ('drawn_at', models.DateTimeField(auto_now_add=True)),
                    ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drawn_pages', to='coaching.document')),
                ],
                options={
                    'indexes': [models.Index(fields=['drawn_at'], name='document_page_age')],
                    'constraints': [models.UniqueConstraint(fields=('document', 'number'), name='document_page_once')],
                },
            ),
            migrations.AddField(
                model_name="document",
                name="facts_found_at",
                field=models.DateTimeField(
                    blank=True, null=True, help_text="When the key facts were taken from the whole text."
                ),
            ),
            migrations.AlterField(
                model_name="documentcall", name="purpose", field=models.CharField(choices=CALL_PURPOSES, max_length=16)
            ),
            migrations.RemoveConstraint(model_name="documentcall", name="document_call_purpose_known"),
            migrations.AddConstraint(
                model_name="documentcall", constraint=known("purpose", CALL_PURPOSES, "document_call_purpose_known")
            ),
            migrations.AlterField(
                model_name="libraryeffect", name="kind", field=models.CharField(choices=EFFECT_KINDS, max_length=32)
            ),
            migrations.RemoveConstraint(model_name="libraryeffect", name="effect_kind_known"),
            migrations.AddConstraint(
                model_name="libraryeffect", constraint=known("kind", EFFECT_KINDS, "effect_kind_known")
            ),
            migrations.AddField(
                model_name='import',
                name='left_behind',
                field=models.JSONField(blank=True, db_default={}, default=dict),
            ),
            migrations.AddField(
                model_name='import',
                name='about',
                field=models.JSONField(blank=True, db_default={}, default=dict),
            ),
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
            migrations.AddField(
                model_name='document',
                name='made_by_import',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='documents', to='coaching.import'),
            ),
            migrations.AddField(
                model_name='import',
                name='documents_held',
                field=models.JSONField(blank=True, db_default=[], default=list),
            ),
            migrations.AddField(
                model_name='document',
                name='import_project',
                field=models.CharField(blank=True, db_default='', default='', max_length=200),
            ),
            migrations.CreateModel(
                name="Backup",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("ended_at", models.DateTimeField(db_index=True)),
                    ("seconds", models.PositiveIntegerField(help_text="How long it took.")),
                    (
                        "file",
                        models.CharField(blank=True, default="", help_text="The archive's name.", max_length=255),
                    ),
                    (
                        "size",
                        models.PositiveBigIntegerField(
                            default=0, help_text="Bytes of the archive; 0 if it failed."
                        ),
                    ),
                    ("is_whole", models.BooleanField()),
                    (
                        "reason",
                        models.CharField(blank=True, default="", help_text="Why it isn't whole.", max_length=300),
                    ),
                ],
                options={"ordering": ["-ended_at"]},
            ),
            migrations.CreateModel(
                name="DepartureKey",
                fields=[
                    (
                        "id",
                        models.PositiveSmallIntegerField(
                            default=1, editable=False, primary_key=True, serialize=False
                        ),
                    ),
                    (
                        "key",
                        models.CharField(default=coaching.models.backups._new_key, editable=False, max_length=64),
                    ),
                ],
                options={
                    "constraints": [
                        models.CheckConstraint(condition=models.Q(("id", 1)), name="departure_key_is_one"),
                    ],
                },
            ),
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
            migrations.CreateModel(
                name='Photo',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('day', models.DateField()),
                    ('description', models.CharField(blank=True, db_default='', default='', help_text="In the person's own words.", max_length=500)),
                    ('danger_level', models.CharField(choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], db_default='none', default='none', help_text='Of the description, by the rules.', max_length=16)),
                    ('danger_about', models.CharField(db_default='self', default='self', max_length=8)),
                    ('danger_topic', models.CharField(db_default='life', default='life', max_length=16)),
                    ('described_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('source_sha256', models.CharField(help_text='Of the file that was uploaded.', max_length=64)),
                    ('storage_key', models.CharField(max_length=255, unique=True)),
                    ('sha256', models.CharField(max_length=64)),
                    ('size', models.PositiveIntegerField(help_text='Bytes, without the thumbnail.')),
                    ('width', models.PositiveIntegerField()),
                    ('height', models.PositiveIntegerField()),
                    ('thumbnail', models.BinaryField()),
                    ('added_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='photos', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['day', 'added_at', 'id'],
                    'indexes': [models.Index(fields=['user', 'day'], name='photo_user_day')],
                    'constraints': [models.UniqueConstraint(fields=('user', 'source_sha256'), name='photo_once')],
                },
            ),
            migrations.RunSQL(COUNT_PHOTOS, drop_functions(COUNT_PHOTOS)),
            migrations.CreateModel(
                name='AnswerFeedback',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rating', models.CharField(choices=[('up', 'Helpful'), ('down', 'Not helpful')], max_length=4)),
                    ('note', models.CharField(blank=True, default='', max_length=1000)),
                    ('is_shared', models.BooleanField(default=False, help_text='Operators may see rating and note.')),
                    ('is_answer_shared', models.BooleanField(default=False, help_text='They may see the answer, too.')),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('turn', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='sessions_app.turn')),
                ],
                options={
                    'verbose_name_plural': 'answer feedback',
                    'ordering': ['-updated_at'],
                    'indexes': [models.Index(condition=models.Q(('is_shared', True)), fields=['-updated_at'], name='answer_feedback_shared')],
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('rating__in', ['up', 'down'])), name='answer_feedback_rating_known'),
                        models.CheckConstraint(condition=models.Q(('is_shared', True), ('is_answer_shared', False), _connector='OR'), name='answer_feedback_shared_whole'),
                    ],
                },
            ),
            migrations.AddField(
                model_name='documentimage',
                name='thumbnail',
                field=models.BinaryField(db_default=b'', default=b'', help_text='For its person, drawn when it is first shown.'),
            ),
            migrations.CreateModel(
                name='ProgramToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60)),
                    ('digest', models.CharField(help_text='SHA-256 of the secret.', max_length=64, unique=True)),
                    ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('capture', 'Add captures'), ('read', 'Read files, next steps, documents and summaries'), ('chat', 'Write and read conversations'), ('write', 'Change files and next steps')], max_length=8), size=None)),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('expires_at', models.DateTimeField()),
                    ('last_used_at', models.DateTimeField(blank=True, help_text='To the minute.', null=True)),
                    ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='program_tokens', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['made_at', 'id'],
                    'constraints': [
                        models.CheckConstraint(condition=models.Q(('scopes__contained_by', ['capture', 'read', 'chat', 'write']), models.Q(('scopes', []), _negated=True)), name='program_token_scopes_known'),
                        models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('made_at'))), name='program_token_expires'),
                    ],
                },
            ),
            migrations.AddField(
                model_name='userfileversion',
                name='program',
                field=models.CharField(blank=True, db_default='', default='', help_text='The name of the program that wrote it for its user.', max_length=60),
            ),
            migrations.AddField(
                model_name='libraryeffect',
                name='program',
                field=models.CharField(blank=True, db_default='', default='', help_text='The name of the program that made the change for its user.', max_length=60),
            ),
            migrations.RemoveConstraint(model_name="knowledgeentry", name="entry_made_by_known"),
            migrations.RemoveConstraint(model_name="libraryeffect", name="effect_made_by_known"),
            migrations.AlterField(
                model_name="knowledgeentry",
                name="made_by",
                field=models.CharField(choices=MADE_BY, default="user", max_length=16),
            ),
            migrations.AlterField(
                model_name="libraryeffect",
                name="made_by",
                field=models.CharField(choices=MADE_BY, max_length=16),
            ),
            migrations.AddConstraint(
                model_name="knowledgeentry",
                constraint=known("made_by", MADE_BY, "entry_made_by_known"),
            ),
            migrations.AddConstraint(
                model_name="libraryeffect",
                constraint=known("made_by", MADE_BY, "effect_made_by_known"),
            ),
            migrations.AddField(
                model_name='profile',
                name='heard_by',
                field=models.CharField(blank=True, db_default='', default='', editable=False, help_text='The server that may hear recordings; empty until the person has agreed to one.', max_length=300),
            ),
            migrations.CreateModel(
                name='Recording',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('client_id', models.CharField(help_text='Chosen by the page: a recording is taken once.', max_length=100)),
                    ('state', models.CharField(choices=[('waiting', 'Waiting'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=16)),
                    ('seconds', models.PositiveIntegerField(help_text='How long it is.')),
                    ('storage_key', models.CharField(blank=True, default='', max_length=255)),
                    ('sha256', models.CharField(max_length=64)),
                    ('size', models.PositiveIntegerField(help_text='Bytes.')),
                    ('text', models.TextField(blank=True, default='')),
                    ('reason', models.CharField(blank=True, default='', max_length=500)),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='recordings', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['made_at', 'id'],
                    'indexes': [models.Index(fields=['made_at'], name='recording_made')],
                    'constraints': [
                        models.UniqueConstraint(fields=('user', 'client_id'), name='recording_once'),
                        models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'done', 'failed'])), name='recording_state_known'),
                        models.CheckConstraint(condition=models.Q(('state', 'waiting'), ('storage_key', ''), _connector='OR'), name='recording_erased_at_end'),
                    ],
                },
            ),
            migrations.RunSQL(KEYS, REMOVE_KEYS),
        ]),
    ]
