"""Safety plans, a type of private files: recall indexes neither them nor Sage's calls that wrote them."""

from django.db import migrations, models

from sessions_app.migrations._locks import in_short_attempts

OLD_TYPES = ['domain', 'overview', 'life-plan', 'check-in', 'daily-log', 'day-plan', 'weekly-plan', 'sage-context', 'sage-patterns', 'capture', 'reflection-prompt', 'note']
TYPES = [*OLD_TYPES, 'safety-plan']
KNOWN = models.CheckConstraint(condition=models.Q(('file_type__in', TYPES)), name='file_type_known')

# `coaching.models.files.PRIVATE_TYPES`, in SQL.
IS_PRIVATE = """
CREATE OR REPLACE FUNCTION coaching_recall_is_private(file_type text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT file_type = 'safety-plan'
$$;
"""
IS_OF_PRIVATE_FILE = "coaching_recall_is_private(call -> 'input' ->> 'file_type')"
FUNCTIONS = r"""
CREATE OR REPLACE FUNCTION coaching_recall_texts(content text, metadata jsonb)
RETURNS TABLE (part integer, words text) LANGUAGE sql IMMUTABLE AS $$
    SELECT 0, content WHERE content <> ''
    UNION ALL
    SELECT place::integer, concat_ws(
        E'\n', coaching_recall_strings(call -> 'input'),
        CASE WHEN call -> 'is_error' IS DISTINCT FROM 'true' THEN coaching_recall_result(call -> 'result') END
    )
    FROM jsonb_array_elements(
        CASE WHEN jsonb_typeof(metadata -> 'tool_calls') = 'array' THEN metadata -> 'tool_calls' ELSE '[]' END
    ) WITH ORDINALITY AS calls(call, place)
    WHERE call ->> 'name' NOT IN ('recall_context', 'read_file', 'read_result', 'load_skill'){of_call}
$$;

CREATE OR REPLACE FUNCTION coaching_recall_version_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner integer := (SELECT user_id FROM coaching_userfile WHERE id = NEW.file_id);
BEGIN
    IF NOT EXISTS (SELECT FROM coaching_userfileversion WHERE file_id = NEW.file_id AND number > NEW.number) THEN
        DELETE FROM coaching_recallpassage WHERE user_id = owner AND file_id = NEW.file_id AND source = 'file';
        PERFORM coaching_recall_add_text('file', owner, NULL, NEW.file_id, NEW.content, NEW.created_at){of_version};
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_file_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage WHERE user_id = NEW.user_id AND file_id = NEW.id AND source = 'file';
    IF NEW.deleted_at IS NULL{of_file} THEN
        PERFORM coaching_recall_add_text(
            'file', NEW.user_id, NULL, NEW.id, version.content, version.created_at
        ) FROM coaching_userfileversion AS version WHERE version.file_id = NEW.id AND version.number = NEW.version_number;
    END IF;
    RETURN NULL;
END
$$;
"""


def functions(**conditions):
    """Return the functions with the conditions at their marks; without one, a mark is empty."""
    text = FUNCTIONS
    for mark in ("of_call", "of_version", "of_file"):
        text = text.replace(f"{{{mark}}}", conditions.get(mark, ""))
    return text


MAKE = IS_PRIVATE + functions(
    of_call=f"\n        AND {IS_OF_PRIVATE_FILE} IS NOT TRUE",
    of_version="\n            FROM coaching_userfile"
    " WHERE id = NEW.file_id AND NOT coaching_recall_is_private(file_type)",
    of_file=" AND NOT coaching_recall_is_private(NEW.file_type)",
)
REMOVE = functions() + "DROP FUNCTION coaching_recall_is_private(text);"


# The constraint takes a strong lock for a moment; the rows are checked after that, while others write.
def know(schema_editor, types):
    names = ", ".join(repr(name) for name in types)
    statement = (
        "ALTER TABLE coaching_userfile DROP CONSTRAINT IF EXISTS file_type_known, ADD CONSTRAINT file_type_known"
        f" CHECK (file_type IN ({names})) NOT VALID"
    )
    in_short_attempts(schema_editor.connection, lambda cursor: cursor.execute(statement))
    schema_editor.execute("ALTER TABLE coaching_userfile VALIDATE CONSTRAINT file_type_known")


def change(apps, schema_editor):
    know(schema_editor, TYPES)


# Needs that no safety plan is left.
def change_back(apps, schema_editor):
    know(schema_editor, OLD_TYPES)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [('coaching', '0032_capture_verdict')]

    operations = [
        migrations.RunSQL(MAKE, REMOVE),
        migrations.AlterField(
            model_name='userfile',
            name='file_type',
            field=models.CharField(choices=[('domain', 'Life domain'), ('overview', 'Life map overview'), ('life-plan', 'Life plan'), ('check-in', 'Weekly check-in'), ('daily-log', 'Daily log'), ('day-plan', 'Day plan'), ('weekly-plan', 'Weekly plan'), ('sage-context', 'What Sage knows'), ('sage-patterns', 'Patterns Sage sees'), ('capture', 'Capture'), ('reflection-prompt', 'Reflection prompt'), ('note', 'Note'), ('safety-plan', 'Safety plan')], max_length=32),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(model_name='userfile', name='file_type_known'),
                migrations.AddConstraint(model_name='userfile', constraint=KNOWN),
            ],
            database_operations=[migrations.RunPython(change, change_back)],
        ),
    ]
