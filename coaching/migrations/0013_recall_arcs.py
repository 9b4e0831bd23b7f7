"""Index the summaries of arcs, each on the day of its end, and a brief as its user last corrected it."""

from django.db import migrations

from sessions_app.migrations._locks import in_short_attempts

MAKE = """
CREATE FUNCTION coaching_recall_add_part(
    source text, user_id integer, session_id uuid, part integer, content text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH found AS MATERIALIZED (
        SELECT * FROM coaching_recall_passages(content)
    ), noted AS (
        INSERT INTO coaching_recalllanguage (user_id, name)
        SELECT DISTINCT $2, language FROM found WHERE language NOT IN ('english', 'simple')
        ON CONFLICT DO NOTHING
    )
    INSERT INTO coaching_recallpassage (
        user_id, source, session_id, number, part, piece, is_by_user, length, moment, lexemes
    )
    SELECT $2, $1, $3, 0, $4, piece, false, length(lexemes), $6, lexemes FROM found
    ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION coaching_recall_arcs(metadata jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN jsonb_typeof(metadata -> 'arcs') = 'array' THEN metadata -> 'arcs' ELSE '[]' END
$$;

CREATE FUNCTION coaching_recall_add_summaries(wanted uuid) RETURNS void LANGUAGE sql AS $$
    SELECT coaching_recall_add_text('summary', user_id, id, NULL, summary, coalesce(ended_at, last_active_at))
    FROM sessions_app_session WHERE id = wanted;
    SELECT coaching_recall_add_part(
        'summary', session.user_id, session.id, place::integer, arc ->> 'summary',
        coalesce(arc ->> 'completed_at', arc ->> 'left_at', session.last_active_at::text)::timestamptz
    )
    FROM sessions_app_session AS session,
        jsonb_array_elements(coaching_recall_arcs(session.metadata)) WITH ORDINALITY AS arcs(arc, place)
    WHERE session.id = wanted AND arc ->> 'summary' <> '';
$$;

CREATE OR REPLACE FUNCTION coaching_recall_summary_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = coalesce(NEW.user_id, OLD.user_id) AND session_id = coalesce(NEW.id, OLD.id)
        AND message_id IS NULL AND source = 'summary';
    IF TG_OP <> 'DELETE' THEN
        PERFORM coaching_recall_add_summaries(NEW.id);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER coaching_recall_arcs_made AFTER INSERT ON sessions_app_session
    FOR EACH ROW WHEN (NEW.summary = '' AND NEW.metadata ? 'arcs')
    EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_arcs_changed AFTER UPDATE OF metadata ON sessions_app_session
    FOR EACH ROW WHEN (
        jsonb_path_query_array(OLD.metadata, '$.arcs[*].summary')
        <> jsonb_path_query_array(NEW.metadata, '$.arcs[*].summary')
    ) EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_arcs_gone AFTER DELETE ON sessions_app_session
    FOR EACH ROW WHEN (OLD.summary = '' AND OLD.metadata ? 'arcs')
    EXECUTE FUNCTION coaching_recall_summary_changed();

-- A correction is newer than the text until the newest version has been corrected, too.
CREATE OR REPLACE FUNCTION coaching_recall_add_brief(wanted uuid) RETURNS void LANGUAGE plpgsql AS $$
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
        WHERE correction.session_id = wanted AND CASE WHEN brief.corrected_at IS NULL
            THEN correction.created_at >= brief.created_at ELSE correction.created_at > brief.corrected_at END
    ) THEN
        PERFORM coaching_recall_add_text(
            'brief', owner, wanted, NULL,
            CASE WHEN brief.corrected_at IS NULL THEN brief.text ELSE brief.corrected_text END,
            coalesce(brief.corrected_at, brief.created_at)
        );
    END IF;
END
$$;

CREATE TRIGGER coaching_recall_brief_rewritten AFTER UPDATE OF corrected_text, corrected_at ON sessions_app_sessionbrief
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_brief_changed();
"""
# The functions as they were.
REMOVE = """
DROP TRIGGER coaching_recall_arcs_made ON sessions_app_session;
DROP TRIGGER coaching_recall_arcs_changed ON sessions_app_session;
DROP TRIGGER coaching_recall_arcs_gone ON sessions_app_session;
DROP TRIGGER coaching_recall_brief_rewritten ON sessions_app_sessionbrief;

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

CREATE OR REPLACE FUNCTION coaching_recall_add_brief(wanted uuid) RETURNS void LANGUAGE plpgsql AS $$
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

DROP FUNCTION coaching_recall_add_summaries(uuid), coaching_recall_arcs(jsonb),
    coaching_recall_add_part(text, integer, uuid, integer, text, timestamptz);
"""
TABLES = ("sessions_app_session", "sessions_app_sessionbrief")

SESSIONS = 100
HOLD = """
SELECT id FROM sessions_app_session WHERE id > %s AND metadata ? 'arcs' ORDER BY id LIMIT %s FOR SHARE
"""
INDEX = "SELECT coaching_recall_add_summaries(id) FROM unnest(%s::uuid[]) AS id"
FIRST_SESSION = "00000000-0000-0000-0000-000000000000"


def in_short_lock(connection, statements, *, mode):
    def step(cursor):
        cursor.execute(f"LOCK TABLE {', '.join(TABLES)} IN {mode} MODE")
        cursor.execute(statements)

    in_short_attempts(connection, step)


def make(apps, schema_editor):
    """Replace the functions and add the triggers, within milliseconds."""
    in_short_lock(schema_editor.connection, MAKE, mode="SHARE ROW EXCLUSIVE")


# A trigger is dropped under the strongest lock.
def remove(apps, schema_editor):
    in_short_lock(schema_editor.connection, REMOVE, mode="ACCESS EXCLUSIVE")


def index_batch(cursor, after):
    """Index the arcs of a batch of sessions; return the last one's id, or None after the last batch."""
    cursor.execute(HOLD, [after, SESSIONS])
    ids = [row[0] for row in cursor.fetchall()]
    cursor.execute(INDEX, [ids])
    return ids[-1] if ids else None


def index_all(apps, schema_editor):
    """Index the arcs that have been summarised before."""
    last = FIRST_SESSION
    while last is not None:
        last = in_short_attempts(
            schema_editor.connection, lambda cursor, last=last: index_batch(cursor, last)
        )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("coaching", "0012_recall_parts_once"), ("sessions_app", "0012_corrected_briefs")]

    operations = [
        migrations.RunPython(make, remove),
        migrations.RunPython(index_all, migrations.RunPython.noop),
    ]
