"""The triggers that keep recall's index in the transaction of what they index.

They are a migration of their own, since they lock the tables that everybody writes to: for some milliseconds.
"""

from django.db import migrations

from sessions_app.migrations._locks import lock_tables

MAKE = """
CREATE TRIGGER coaching_recall_message_made AFTER INSERT ON sessions_app_message
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION coaching_recall_messages_made();
CREATE TRIGGER coaching_recall_message_changed AFTER UPDATE OF content, metadata, turn_id ON sessions_app_message
    FOR EACH ROW WHEN (
        OLD.content <> NEW.content OR OLD.turn_id <> NEW.turn_id
        OR OLD.metadata -> 'tool_calls' IS DISTINCT FROM NEW.metadata -> 'tool_calls'
        OR OLD.metadata -> 'is_hidden' IS DISTINCT FROM NEW.metadata -> 'is_hidden'
    ) EXECUTE FUNCTION coaching_recall_message_changed();
CREATE TRIGGER coaching_recall_message_dated AFTER UPDATE OF created_at ON sessions_app_message
    FOR EACH ROW WHEN (OLD.created_at <> NEW.created_at) EXECUTE FUNCTION coaching_recall_message_dated();
CREATE TRIGGER coaching_recall_message_gone AFTER DELETE ON sessions_app_message
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION coaching_recall_messages_gone();
CREATE TRIGGER coaching_recall_turn_moved AFTER UPDATE OF status, is_withdrawn ON sessions_app_turn
    FOR EACH ROW WHEN (
        OLD.status = 'running' AND NEW.status <> 'running' OR OLD.is_withdrawn <> NEW.is_withdrawn
    ) EXECUTE FUNCTION coaching_recall_turn_moved();
CREATE TRIGGER coaching_recall_summary_made AFTER INSERT ON sessions_app_session
    FOR EACH ROW WHEN (NEW.summary <> '') EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_summary_changed AFTER UPDATE OF summary ON sessions_app_session
    FOR EACH ROW WHEN (OLD.summary <> NEW.summary) EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_summary_gone AFTER DELETE ON sessions_app_session
    FOR EACH ROW WHEN (OLD.summary <> '') EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_version_made AFTER INSERT ON coaching_userfileversion
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_version_made();
CREATE TRIGGER coaching_recall_file_gone AFTER DELETE ON coaching_userfile
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_file_gone();
"""
REMOVE = """
DROP TRIGGER coaching_recall_message_made ON sessions_app_message;
DROP TRIGGER coaching_recall_message_changed ON sessions_app_message;
DROP TRIGGER coaching_recall_message_dated ON sessions_app_message;
DROP TRIGGER coaching_recall_message_gone ON sessions_app_message;
DROP TRIGGER coaching_recall_turn_moved ON sessions_app_turn;
DROP TRIGGER coaching_recall_summary_made ON sessions_app_session;
DROP TRIGGER coaching_recall_summary_changed ON sessions_app_session;
DROP TRIGGER coaching_recall_summary_gone ON sessions_app_session;
DROP TRIGGER coaching_recall_version_made ON coaching_userfileversion;
DROP TRIGGER coaching_recall_file_gone ON coaching_userfile;
"""
TABLES = (
    "coaching_userfile",
    "coaching_userfileversion",
    "sessions_app_session",
    "sessions_app_turn",
    "sessions_app_message",
)
"""In the order in which the site locks them."""


# All at once and first.
def lock_writers(apps, schema_editor):
    lock_tables(schema_editor.connection, TABLES, mode="SHARE ROW EXCLUSIVE")


# A trigger is dropped under the strongest lock.
def lock_everybody(apps, schema_editor):
    lock_tables(schema_editor.connection, TABLES, mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [("coaching", "0008_recall")]

    operations = [
        migrations.RunPython(lock_writers, migrations.RunPython.noop),
        migrations.RunSQL(MAKE, REMOVE),
        migrations.RunPython(migrations.RunPython.noop, lock_everybody),
    ]
