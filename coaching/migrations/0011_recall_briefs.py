"""Index what Sage remembers of each session: the newest usable version of its brief.

A version is stored as its user corrected it until then. One that was corrected since isn't found until the next
version is stored: its text still has the lines that the user removed.
"""

from django.db import migrations, models
from django.db.models import Q

from sessions_app.migrations._locks import lock_tables

MAKE = """
CREATE FUNCTION coaching_recall_add_brief(wanted uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    owner integer := (SELECT user_id FROM sessions_app_session WHERE id = wanted);
    brief sessions_app_sessionbrief;
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = owner AND session_id = wanted AND message_id IS NULL AND source = 'brief';
    SELECT * INTO brief FROM sessions_app_sessionbrief
    WHERE session_id = wanted AND NOT is_withdrawn ORDER BY version DESC LIMIT 1;
    IF brief.id IS NOT NULL AND NOT EXISTS (
        SELECT FROM sessions_app_briefcorrection AS correction
        WHERE correction.session_id = wanted AND correction.created_at >= brief.created_at
    ) THEN
        PERFORM coaching_recall_add_text('brief', owner, wanted, NULL, brief.text, brief.created_at);
    END IF;
END
$$;

CREATE FUNCTION coaching_recall_brief_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM coaching_recall_add_brief(coalesce(NEW.session_id, OLD.session_id));
    RETURN NULL;
END
$$;

CREATE TRIGGER coaching_recall_brief_made AFTER INSERT OR DELETE ON sessions_app_sessionbrief
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_brief_changed();
CREATE TRIGGER coaching_recall_brief_changed AFTER UPDATE OF text, is_withdrawn ON sessions_app_sessionbrief
    FOR EACH ROW WHEN (OLD.text <> NEW.text OR OLD.is_withdrawn <> NEW.is_withdrawn)
    EXECUTE FUNCTION coaching_recall_brief_changed();
CREATE TRIGGER coaching_recall_brief_corrected AFTER INSERT OR UPDATE OR DELETE ON sessions_app_briefcorrection
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_brief_changed();

-- As in 0008; naming the message lets the index of sessions' texts serve it.
CREATE OR REPLACE FUNCTION coaching_recall_summary_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = coalesce(NEW.user_id, OLD.user_id) AND session_id = coalesce(NEW.id, OLD.id)
        AND message_id IS NULL AND source = 'summary';
    IF TG_OP <> 'DELETE' THEN
        PERFORM coaching_recall_add_text(
            'summary', NEW.user_id, NEW.id, NULL, NEW.summary, coalesce(NEW.ended_at, NEW.last_active_at)
        );
    END IF;
    RETURN NULL;
END
$$;

-- Briefs are new in this release: there are few.
SELECT coaching_recall_add_brief(session_id)
FROM (SELECT DISTINCT session_id FROM sessions_app_sessionbrief) AS briefs;
"""
REMOVE = """
DROP TRIGGER coaching_recall_brief_made ON sessions_app_sessionbrief;
DROP TRIGGER coaching_recall_brief_changed ON sessions_app_sessionbrief;
DROP TRIGGER coaching_recall_brief_corrected ON sessions_app_briefcorrection;
DROP FUNCTION coaching_recall_brief_changed(), coaching_recall_add_brief(uuid);
DELETE FROM coaching_recallpassage WHERE source = 'brief';
"""
TABLES = ("sessions_app_sessionbrief", "sessions_app_briefcorrection", "coaching_recallpassage")


# In the order in which the site locks them.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, TABLES, mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [("coaching", "0010_recall_backfill"), ("sessions_app", "0007_session_briefs")]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.RemoveConstraint("recallpassage", "recall_source_known"),
        migrations.AlterField(
            "recallpassage",
            "source",
            models.CharField(
                choices=[
                    ("message", "Message"),
                    ("tool", "Tool call"),
                    ("summary", "Summary"),
                    ("brief", "Brief"),
                    ("file", "File"),
                ],
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            "recallpassage",
            models.CheckConstraint(
                condition=Q(source__in=["message", "tool", "summary", "brief", "file"]),
                name="recall_source_known",
            ),
        ),
        migrations.RunSQL(MAKE, REMOVE),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
