"""All tables of conversations as of 0034, in one step for new databases. Older ones run the files that it replaces.

The replaced files go with release 0.1.0. The columns' order is that of older databases.
"""

import django.db.models.deletion
import django.db.models.fields.json
import django.db.models.functions.text
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._squashed import AtOnce, drop_functions

# A session's status moves from `active` to one of the ends, and nowhere else.
STATUS_MOVES = """
CREATE FUNCTION sessions_app_check_status_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'active' THEN
        RAISE EXCEPTION 'a session''s status can''t move from % to %', OLD.status, NEW.status
            USING ERRCODE = 'check_violation', CONSTRAINT = 'session_status_moves_once',
                  TABLE = TG_TABLE_NAME, COLUMN = 'status';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER session_status_moves_once BEFORE UPDATE OF status ON sessions_app_session
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
    EXECUTE FUNCTION sessions_app_check_status_move();
"""

# Of turns that share their message, the one in the history is the message's own. Checked at the commit, because a
# choice moves the message after its turns. Turns that share no message never fire it.
CHOSEN_TURNS = """
CREATE UNIQUE INDEX turn_one_chosen_per_message ON sessions_app_turn (session_id, message_number)
    WHERE message_number IS NOT NULL AND NOT is_withdrawn;
CREATE FUNCTION sessions_app_check_chosen_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM sessions_app_turn AS turn
        WHERE turn.id = NEW.id AND turn.message_number IS NOT NULL AND NOT turn.is_withdrawn AND NOT EXISTS (
            SELECT FROM sessions_app_message AS message
            WHERE message.turn_id = turn.id AND message.number = turn.message_number AND message.role = 'user'
        )
    ) THEN
        RAISE EXCEPTION 'turn % is chosen, and its message belongs to another turn', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'turn_chosen_has_its_message', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER turn_chosen_has_its_message
    AFTER INSERT OR UPDATE OF is_withdrawn, message_number ON sessions_app_turn
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.message_number IS NOT NULL AND NOT NEW.is_withdrawn)
    EXECUTE FUNCTION sessions_app_check_chosen_turn();
"""

# A session names its folder together with its user, so that it is never another's.
FOLDER_KEYS = """
ALTER TABLE sessions_app_sessionfolder ADD CONSTRAINT session_folder_user FOREIGN KEY (user_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE sessions_app_session ADD CONSTRAINT session_in_own_folder FOREIGN KEY (folder_id, user_id)
    REFERENCES sessions_app_sessionfolder (id, user_id) DEFERRABLE INITIALLY DEFERRED;
"""
REMOVE_FOLDER_KEYS = """
ALTER TABLE sessions_app_session DROP CONSTRAINT session_in_own_folder;
ALTER TABLE sessions_app_sessionfolder DROP CONSTRAINT session_folder_user;
"""


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('sessions_app', '0001_initial'),
        ('sessions_app', '0002_leases_and_stops'),
        ('sessions_app', '0003_session_opening'),
        ('sessions_app', '0004_session_client_id'),
        ('sessions_app', '0005_call_metadata'),
        ('sessions_app', '0006_session_status_moves'),
        ('sessions_app', '0007_session_briefs'),
        ('sessions_app', '0008_usage_created'),
        ('sessions_app', '0009_turn_started'),
        ('sessions_app', '0010_session_titles'),
        ('sessions_app', '0011_brief_cost'),
        ('sessions_app', '0012_corrected_briefs'),
        ('sessions_app', '0013_sage_opens'),
        ('sessions_app', '0014_safety_verdicts'),
        ('sessions_app', '0015_usage_purpose_checked'),
        ('sessions_app', '0016_verdict_looks'),
        ('sessions_app', '0017_organised_sessions'),
        ('sessions_app', '0018_imported_sessions'),
        ('sessions_app', '0019_imported_once'),
        ('sessions_app', '0020_answers_again'),
        ('sessions_app', '0021_one_chosen_answer'),
        ('sessions_app', '0022_noticed_danger'),
        ('sessions_app', '0023_danger_indexes'),
        ('sessions_app', '0024_session_events'),
        ('sessions_app', '0025_answer_looks_due'),
        ('sessions_app', '0026_brief_inputs'),
        ('sessions_app', '0027_summaries_and_open_lines'),
        ('sessions_app', '0028_step_told'),
        ('sessions_app', '0029_letter_usage'),
        ('sessions_app', '0030_letter_usage_checked'),
        ('sessions_app', '0031_session_folders'),
        ('sessions_app', '0032_session_in_folder'),
        ('sessions_app', '0033_voice_usage'),
        ('sessions_app', '0034_voice_usage_checked'),
    ]

    dependencies = [
        # Only for its time: after our models, each of these would render all of them anew.
        ('mfa', '0003_authenticator_type_uniq'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AtOnce([
            migrations.CreateModel(
                name='Session',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('kind', models.CharField(choices=[('open_conversation', 'Conversation'), ('open_day', 'Open the day'), ('close_day', 'Close the day'), ('weekly_checkin', 'Weekly check-in'), ('life_mapping', 'Life mapping')], default='open_conversation', max_length=32)),
                    ('status', models.CharField(choices=[('active', 'Active'), ('completed', 'Completed'), ('expired', 'Expired'), ('abandoned', 'Ended')], default='active', max_length=16)),
                    ('active_arc', models.CharField(blank=True, default='', help_text='Empty outside an arc.', max_length=32)),
                    ('title', models.CharField(blank=True, default='', max_length=200)),
                    ('summary', models.TextField(blank=True, default='')),
                    ('metadata', models.JSONField(blank=True, default=dict)),
                    ('last_message_number', models.PositiveIntegerField(default=0, help_text="Counts messages under this row's lock: numbers have no gaps.")),
                    ('started_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('last_active_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('continues', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='continued_by', to='sessions_app.session')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='coaching_sessions', to=settings.AUTH_USER_MODEL)),
                    ('opening', models.TextField(blank=True, default='', help_text='What is sent before the window, as canonical JSON text.')),
                    ('client_id', models.CharField(blank=True, help_text='Of the form that opened it: sent twice, it is one.', max_length=100, null=True)),
                    ('brief_attempts', models.PositiveIntegerField(db_default=0, default=0, help_text='Attempts to write a brief since the last one that succeeded.')),
                    ('brief_covers', models.PositiveIntegerField(db_default=0, default=0, help_text='The last message that the newest brief in use covers; 0 without one.')),
                    ('brief_revision', models.PositiveIntegerField(db_default=0, default=0, help_text='Changes when the opening must be rebuilt: a correction, a strike, a withdrawn brief.')),
                    ('title_covers', models.PositiveIntegerField(db_default=0, default=0, help_text="The last message that the title was made from; 0 for the user's own.")),
                    ('title_source', models.CharField(blank=True, choices=[('', 'First words'), ('model', 'Sage'), ('user', 'User'), ('withheld', 'Withheld')], db_default='', default='', max_length=16)),
                    ('is_only_opened', models.BooleanField(db_default=False, default=False, help_text="Sage spoke first and the user hasn't said anything: it counts as unused.")),
                    ('archived_at', models.DateTimeField(blank=True, help_text="It isn't among the others then.", null=True)),
                    ('deleted_at', models.DateTimeField(blank=True, help_text='By its user, who can undo it until the row is deleted.', null=True)),
                    ('pinned_at', models.DateTimeField(blank=True, null=True)),
                    ('imported_until', models.PositiveIntegerField(db_default=0, default=0, help_text='The last message that an import has brought; 0 for a session that began here.')),
                    ('event_seq', models.PositiveIntegerField(db_default=0, default=0, help_text="Counts the facts in its log, under this row's lock.")),
                    ('summary_covers', models.PositiveIntegerField(db_default=0, default=0, help_text="The last message that the summary was made from; 0 without one, and for Sage's own.")),
                ],
                options={
                    'ordering': ['-last_active_at'],
                    'indexes': [models.Index(fields=['user', '-last_active_at'], name='session_user_recent'), models.Index(fields=['last_active_at'], name='session_recent'), models.Index(condition=models.Q(('brief_attempts__gt', 0)), fields=['brief_attempts'], name='session_brief_failing')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['active', 'completed', 'expired', 'abandoned'])), name='session_status_known'), models.CheckConstraint(condition=models.Q(('kind__in', ['open_conversation', 'open_day', 'close_day', 'weekly_checkin', 'life_mapping'])), name='session_kind_known'), models.CheckConstraint(condition=models.Q(('active_arc', ''), ('active_arc__in', ['open_conversation', 'open_day', 'close_day', 'weekly_checkin', 'life_mapping']), _connector='OR'), name='session_arc_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('status', 'active')), models.Q(models.Q(('status', 'active'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='session_ended_at_iff_ended'), models.UniqueConstraint(fields=('user', 'kind', 'client_id'), name='session_client_id_once'), models.CheckConstraint(condition=models.Q(('title_source__in', ['', 'model', 'user', 'withheld'])), name='session_title_source_known'), models.UniqueConstraint(models.F('user'), django.db.models.fields.json.KeyTextTransform('imported_id', 'metadata'), condition=models.Q(('metadata__has_key', 'imported_id')), name='session_imported_id_once')],
                },
            ),
            migrations.CreateModel(
                name='Turn',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('status', models.CharField(choices=[('running', 'Running'), ('awaiting_user', 'Waits for the user'), ('completed', 'Completed'), ('stopped', 'Stopped by the user'), ('superseded', 'Superseded'), ('failed', 'Failed'), ('interrupted', 'Interrupted')], default='running', max_length=16)),
                    ('stop_reason', models.CharField(blank=True, default='', max_length=40)),
                    ('failure', models.CharField(blank=True, default='', help_text='Why it failed, for operators.', max_length=40)),
                    ('user_notice', models.TextField(blank=True, default='', help_text='The one sentence the user was shown.')),
                    ('model', models.CharField(blank=True, default='', max_length=100)),
                    ('prefix', models.TextField(blank=True, default='')),
                    ('shown', models.TextField(blank=True, default='')),
                    ('fence', models.PositiveBigIntegerField(default=1)),
                    ('owner', models.CharField(blank=True, default='', help_text='The process that runs it.', max_length=64)),
                    ('part', models.PositiveIntegerField(default=1, help_text='Counts parts: one more with every answer.')),
                    ('is_withdrawn', models.BooleanField(default=False, help_text='Edited or asked again: it has left window, brief and recall.')),
                    ('metadata', models.JSONField(blank=True, default=dict)),
                    ('started_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='sessions_app.session')),
                    ('is_stop_requested', models.BooleanField(default=False, help_text='Asked for in another process.')),
                    ('part_started_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('is_opening', models.BooleanField(db_default=False, default=False, help_text='Sage speaks first: no message of the user began it.')),
                    ('message_number', models.PositiveIntegerField(blank=True, help_text='Of the message that it shares with other turns, each with an answer; else empty.', null=True)),
                ],
                options={
                    'ordering': ['-started_at'],
                    'indexes': [models.Index(fields=['session', '-started_at'], name='turn_session_recent'), models.Index(condition=models.Q(('status', 'running')), fields=['owner'], name='turn_running_owner'), models.Index(fields=['started_at'], name='turn_started')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ('running', 'awaiting_user'))), fields=('session',), name='turn_one_open_per_session'), models.CheckConstraint(condition=models.Q(('status__in', ['running', 'awaiting_user', 'completed', 'stopped', 'superseded', 'failed', 'interrupted'])), name='turn_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('status__in', ('running', 'awaiting_user'))), models.Q(models.Q(('status__in', ('running', 'awaiting_user')), _negated=True), ('ended_at__isnull', False), ('prefix', '')), _connector='OR'), name='turn_closed_has_end_and_no_prefix')],
                },
            ),
            migrations.CreateModel(
                name='ToolCallRecord',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('round_number', models.PositiveIntegerField()),
                    ('position', models.PositiveIntegerField()),
                    ('tool_use_id', models.CharField(max_length=100)),
                    ('name', models.CharField(max_length=100)),
                    ('state', models.CharField(choices=[('running', 'Running'), ('pending', 'Waits for the user'), ('finished', 'Finished'), ('answered', 'Answered'), ('superseded', 'Superseded'), ('dismissed', 'Dismissed'), ('expired', 'Expired'), ('interrupted', 'Interrupted')], default='running', max_length=16)),
                    ('input', models.JSONField(blank=True, default=dict)),
                    ('result', models.TextField(blank=True, default='')),
                    ('is_error', models.BooleanField(default=False)),
                    ('value', models.JSONField(blank=True, help_text="The user's answer to a pending call.", null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                    ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='sessions_app.turn')),
                    ('metadata', models.JSONField(blank=True, default=dict, help_text='What was noticed of that answer.')),
                    ('look_due_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['turn', 'round_number', 'position'],
                    'indexes': [models.Index(condition=models.Q(('metadata__has_key', 'safety')), fields=['turn'], name='call_of_danger'), models.Index(condition=models.Q(('look_due_at__isnull', False)), fields=['look_due_at'], name='call_look_due')],
                    'constraints': [models.UniqueConstraint(fields=('turn', 'tool_use_id'), name='call_once_per_turn'), models.CheckConstraint(condition=models.Q(('state__in', ['running', 'pending', 'finished', 'answered', 'superseded', 'dismissed', 'expired', 'interrupted'])), name='call_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['running', 'pending'])), models.Q(models.Q(('state__in', ['running', 'pending']), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='call_finished_at_iff_finished')],
                },
            ),
            migrations.CreateModel(
                name='Round',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('part', models.PositiveIntegerField()),
                    ('blocks', models.TextField()),
                    ('text', models.TextField(blank=True, default='')),
                    ('notes', models.TextField(blank=True, default='')),
                    ('stop_reason', models.CharField(blank=True, default='', max_length=40)),
                    ('is_partial', models.BooleanField(default=False, help_text='Stopped or cut: words only.')),
                    ('upstream_id', models.CharField(blank=True, default='', max_length=100)),
                    ('model', models.CharField(blank=True, default='', max_length=100)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rounds', to='sessions_app.turn')),
                ],
                options={
                    'ordering': ['turn', 'number'],
                    'constraints': [models.UniqueConstraint(fields=('turn', 'number'), name='round_number_once')],
                },
            ),
            migrations.CreateModel(
                name='ModelUsage',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('round_number', models.PositiveIntegerField(blank=True, null=True)),
                    ('purpose', models.CharField(choices=[('turn', 'Turn'), ('brief', 'Brief'), ('summary', 'Summary'), ('title', 'Title'), ('safety', 'Second look'), ('classify', 'Classification'), ('critic', 'Critic'), ('document', 'Document'), ('letter', 'Letter')], default='turn', max_length=16)),
                    ('model', models.CharField(max_length=100)),
                    ('input_tokens', models.PositiveIntegerField(default=0)),
                    ('output_tokens', models.PositiveIntegerField(default=0)),
                    ('cache_creation_5m_tokens', models.PositiveIntegerField(default=0)),
                    ('cache_creation_1h_tokens', models.PositiveIntegerField(default=0)),
                    ('cache_read_tokens', models.PositiveIntegerField(default=0)),
                    ('cost_micro_usd', models.PositiveBigIntegerField(blank=True, null=True)),
                    ('first_token_ms', models.PositiveIntegerField(blank=True, null=True)),
                    ('duration_ms', models.PositiveIntegerField(default=0)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_usage', to=settings.AUTH_USER_MODEL)),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='usage', to='sessions_app.session')),
                    ('turn', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='usage', to='sessions_app.turn')),
                ],
                options={
                    'verbose_name_plural': 'model usage',
                    'indexes': [models.Index(models.F('user'), models.OrderBy(models.F('created_at'), descending=True), name='usage_user_recent'), models.Index(fields=['created_at'], name='usage_created')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('purpose__in', ['turn', 'brief', 'summary', 'title', 'safety', 'classify', 'critic', 'document', 'letter'])), name='usage_purpose_known')],
                },
            ),
            migrations.CreateModel(
                name='Message',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Sage')], max_length=16)),
                    ('content', models.TextField(blank=True, default='')),
                    ('metadata', models.JSONField(blank=True, default=dict)),
                    ('client_id', models.CharField(blank=True, max_length=100, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='sessions_app.session')),
                    ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='sessions_app.turn')),
                ],
                options={
                    'ordering': ['session', 'number'],
                    'permissions': [('read_message_text', 'Can read what people and Sage said')],
                    'indexes': [models.Index(condition=models.Q(('metadata__has_any_keys', ['safety', 'danger_elsewhere'])), fields=['session'], name='message_of_danger')],
                    'constraints': [models.UniqueConstraint(fields=('session', 'number'), name='message_number_once'), models.UniqueConstraint(fields=('session', 'client_id'), name='message_client_id_once'), models.UniqueConstraint(condition=models.Q(('role', 'assistant')), fields=('turn',), name='message_one_answer_per_turn'), models.CheckConstraint(condition=models.Q(('role__in', ['user', 'assistant'])), name='message_role_known'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='message_number_from_one')],
                },
            ),
            migrations.CreateModel(
                name='RunnerProcess',
                fields=[
                    ('owner', models.CharField(max_length=64, primary_key=True, serialize=False)),
                    ('beat', models.PositiveBigIntegerField(default=0)),
                    ('started_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'verbose_name_plural': 'runner processes',
                },
            ),
            migrations.CreateModel(
                name='BriefCorrection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('correction', 'Correction'), ('strike', 'Removed line')], max_length=16)),
                    ('line', models.TextField(blank=True, default='')),
                    ('words', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='brief_corrections', to='sessions_app.session')),
                ],
                options={
                    'ordering': ['session', 'pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('kind', 'correction'), models.Q(('words', ''), _negated=True)), models.Q(('kind', 'strike'), ('words', ''), models.Q(('line', ''), _negated=True)), _connector='OR'), name='brief_correction_says_something')],
                },
            ),
            migrations.CreateModel(
                name='SessionBrief',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('text', models.TextField(blank=True, default='')),
                    ('covers_from', models.PositiveIntegerField()),
                    ('covers_until', models.PositiveIntegerField()),
                    ('model', models.CharField(blank=True, default='', max_length=100)),
                    ('lag_seconds', models.PositiveIntegerField(default=0, help_text='From the oldest message that it adds until it was stored.')),
                    ('is_withdrawn', models.BooleanField(default=False, help_text='It covers a message that was withdrawn.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='briefs', to='sessions_app.session')),
                    ('usage', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='briefs', to='sessions_app.modelusage')),
                    ('cost_micro_usd', models.PositiveBigIntegerField(blank=True, help_text='Of all requests that it took; unknown where one has no price.', null=True)),
                    ('corrected_text', models.TextField(blank=True, db_default='', default='', help_text='The text as corrected after it was stored.')),
                    ('corrected_at', models.DateTimeField(blank=True, null=True)),
                    ('input_version', models.PositiveSmallIntegerField(db_default=0, default=0, help_text='What it was written from: 0 words, 1 answers to questions, too.')),
                    ('left_open', models.TextField(blank=True, db_default='', default='', help_text='Those of its lines that are still open, one a line.')),
                ],
                options={
                    'ordering': ['session', '-version'],
                    'constraints': [models.UniqueConstraint(fields=('session', 'version'), name='brief_version_once'), models.CheckConstraint(condition=models.Q(('covers_from__gte', 1), ('covers_until__gte', models.F('covers_from'))), name='brief_covers_messages')],
                },
            ),
            migrations.CreateModel(
                name='SafetyVerdict',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('level', models.CharField(choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], max_length=16)),
                    ('about', models.CharField(choices=[('self', 'Themselves'), ('other', 'Somebody else')], max_length=8)),
                    ('topic', models.CharField(choices=[('life', 'Life'), ('violence', 'Violence')], max_length=16)),
                    ('looked', models.CharField(blank=True, choices=[('none', 'Nothing'), ('concern', 'Concern'), ('immediate', 'Immediate'), ('skipped', 'Skipped over the budget'), ('given_up', 'Given up: too slow'), ('failed', 'Failed'), ('nonsense', 'No usable answer')], default='', max_length=16)),
                    ('model', models.CharField(blank=True, default='', max_length=100)),
                    ('milliseconds', models.PositiveIntegerField(default=0)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='safety_verdict', to='sessions_app.message')),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='safety_verdicts', to='sessions_app.session')),
                    ('usage', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='safety_verdicts', to='sessions_app.modelusage')),
                    ('noticed', models.CharField(blank=True, choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], db_default='', default='', max_length=16)),
                    ('is_foreign', models.BooleanField(db_default=False, default=False)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('level', 'none'), _negated=True), fields=['session'], name='verdict_of_danger')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('level__in', ['none', 'concern', 'immediate'])), name='verdict_level_known'), models.CheckConstraint(condition=models.Q(('about__in', ('self', 'other')), ('topic__in', ('life', 'violence'))), name='verdict_danger_known')],
                },
            ),
            migrations.CreateModel(
                name='SessionEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('seq', models.PositiveIntegerField()),
                    ('kind', models.CharField(choices=[('said', 'Message stored'), ('turn_opened', 'Turn opened'), ('part_ended', 'Turn closed or waiting'), ('call_asked', 'Question asked'), ('call_ended', 'Question ended'), ('card_given', 'Card with help lines'), ('withdrawn', 'Turns withdrawn'), ('answer_picked', 'Other answer chosen'), ('arc_entered', 'Arc entered'), ('arc_left', 'Arc left'), ('titled', 'Title given'), ('file_moved', 'Document moved'), ('step_told', 'Next step written or changed'), ('ended', 'Session ended')], max_length=16)),
                    ('payload', models.JSONField(blank=True, default=dict)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='sessions_app.session')),
                ],
                options={
                    'ordering': ['session', 'seq'],
                    'constraints': [models.UniqueConstraint(fields=('session', 'seq'), name='event_seq_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['said', 'turn_opened', 'part_ended', 'call_asked', 'call_ended', 'card_given', 'withdrawn', 'answer_picked', 'arc_entered', 'arc_left', 'titled', 'file_moved', 'step_told', 'ended'])), name='event_kind_known')],
                },
            ),
            migrations.RunSQL(STATUS_MOVES, drop_functions(STATUS_MOVES)),
        ]),
        migrations.RunSQL(
            CHOSEN_TURNS,
            [drop_functions(CHOSEN_TURNS), "DROP INDEX turn_one_chosen_per_message"],
            state_operations=[
                migrations.AddConstraint(
                    'turn',
                    models.UniqueConstraint(condition=models.Q(('is_withdrawn', False), ('message_number__isnull', False)), fields=('session', 'message_number'), name='turn_one_chosen_per_message'),
                ),
            ],
        ),
        AtOnce([
            migrations.CreateModel(
                name='SessionFolder',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='session_folders', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': [django.db.models.functions.text.Lower('name'), 'id'],
                    'constraints': [
                        models.UniqueConstraint(models.F('user'), django.db.models.functions.text.Lower('name'), name='session_folder_name_once'),
                        models.UniqueConstraint(fields=('id', 'user'), name='session_folder_of_user'),
                    ],
                },
            ),
            migrations.AddField(
                model_name='session',
                name='folder',
                field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='sessions', to='sessions_app.sessionfolder'),
            ),
            migrations.RunSQL(FOLDER_KEYS, REMOVE_FOLDER_KEYS),
            migrations.AddIndex(
                model_name='session',
                index=models.Index(condition=models.Q(('folder__isnull', False)), fields=['folder'], name='session_in_folder'),
            ),
            migrations.RemoveConstraint(
                model_name='modelusage',
                name='usage_purpose_known',
            ),
            migrations.AlterField(
                model_name='modelusage',
                name='purpose',
                field=models.CharField(choices=[('turn', 'Turn'), ('brief', 'Brief'), ('summary', 'Summary'), ('title', 'Title'), ('safety', 'Second look'), ('classify', 'Classification'), ('critic', 'Critic'), ('document', 'Document'), ('letter', 'Letter'), ('voice', 'Voice')], default='turn', max_length=16),
            ),
            migrations.AddField(
                model_name='modelusage',
                name='audio_seconds',
                field=models.PositiveIntegerField(blank=True, help_text='Of a recording, if its server counts seconds.', null=True),
            ),
            migrations.AddConstraint(
                model_name='modelusage',
                constraint=models.CheckConstraint(condition=models.Q(('purpose__in', ['turn', 'brief', 'summary', 'title', 'safety', 'classify', 'critic', 'document', 'letter', 'voice'])), name='usage_purpose_known'),
            ),
        ]),
    ]
