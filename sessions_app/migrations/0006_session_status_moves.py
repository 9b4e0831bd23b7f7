"""Hold the moves of a session's status in the database: `active` to one of the ends, and nothing else."""

from django.db import migrations

FORWARD = """
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
BACKWARD = """
DROP TRIGGER session_status_moves_once ON sessions_app_session;
DROP FUNCTION sessions_app_check_status_move();
"""


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0005_call_metadata")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
