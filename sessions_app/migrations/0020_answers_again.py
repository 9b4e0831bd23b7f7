"""Turns that share their message, and that the one in the history is the message's own."""

from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

# At the commit, because a choice moves the message after its turns. Turns that share no message never fire it.
FORWARD = """
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
BACKWARD = """
DROP TRIGGER turn_chosen_has_its_message ON sessions_app_turn;
DROP FUNCTION sessions_app_check_chosen_turn();
"""


# Turns wait behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_turn"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0019_imported_once'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='turn',
            name='message_number',
            field=models.PositiveIntegerField(
                blank=True,
                help_text='Of the message that it shares with other turns, each with an answer; else empty.',
                null=True,
            ),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
