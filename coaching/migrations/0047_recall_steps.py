"""Index next steps: what somebody said that they will do, and how it went.

Those of withheld documents have a source of their own, like their knowledge. Suggestions aren't indexed. Run again
after an interruption, it starts anew.
"""

from django.db import migrations, models
from django.db.models import Q

from sessions_app.migrations._locks import in_short_attempts

CHOICES = [
    ('message', 'Message'),
    ('tool', 'Tool call'),
    ('summary', 'Summary'),
    ('brief', 'Brief'),
    ('file', 'File'),
    ('document', 'Document'),
    ('document_withheld', 'Document that the model never gets'),
    ('knowledge', 'Knowledge'),
    ('knowledge_withheld', 'Knowledge that the model never gets'),
    ('step', 'Next step'),
    ('step_withheld', 'Next step that the model never gets'),
]
NEW_SOURCES = [value for value, _ in CHOICES]
OLD_SOURCES = NEW_SOURCES[:-2]

STEPS = r"""
CREATE OR REPLACE FUNCTION coaching_recall_step_words(step coaching_actionitem) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(
        E'\n', step.title, nullif(step.description, ''), nullif(step.quote, ''), nullif(step.outcome, '')
    )
$$;

CREATE OR REPLACE FUNCTION coaching_recall_add_step(step coaching_actionitem) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    is_withheld boolean := coalesce((SELECT document.is_withheld FROM coaching_document AS document WHERE id = step.document_id), false);
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = step.user_id AND file_id = step.id AND source IN ('step', 'step_withheld');
    IF step.state IN ('open', 'done', 'dropped') THEN
        PERFORM coaching_recall_add_records(
            step.user_id, CASE WHEN is_withheld THEN 'step_withheld' ELSE 'step' END, step.id, 0,
            coaching_recall_step_words(step), step.created_at
        );
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_step_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM coaching_recallpassage
        WHERE user_id = OLD.user_id AND file_id = OLD.id AND source IN ('step', 'step_withheld');
    ELSE
        PERFORM coaching_recall_add_step(NEW);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER coaching_recall_step_made AFTER INSERT OR DELETE ON coaching_actionitem
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_step_changed();
CREATE OR REPLACE TRIGGER coaching_recall_step_changed
    AFTER UPDATE OF title, description, quote, outcome, state, document_id ON coaching_actionitem
    FOR EACH ROW WHEN (
        OLD.title <> NEW.title OR OLD.description <> NEW.description OR OLD.quote <> NEW.quote
        OR OLD.outcome <> NEW.outcome OR OLD.state <> NEW.state OR OLD.document_id IS DISTINCT FROM NEW.document_id
    ) EXECUTE FUNCTION coaching_recall_step_changed();
"""

# As in 0017, with the steps of a document.
WITHHELD = r"""
CREATE OR REPLACE FUNCTION coaching_recall_document_withheld() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE coaching_recallpassage SET source = coaching_recall_document_source(NEW)
    WHERE user_id = NEW.user_id AND file_id = NEW.id AND source IN ('document', 'document_withheld');
    PERFORM coaching_recall_add_entry(entry) FROM coaching_knowledgeentry AS entry WHERE entry.document_id = NEW.id;
    %s
    RETURN NULL;
END
$$;
"""
OF_DOCUMENT = "PERFORM coaching_recall_add_step(step) FROM coaching_actionitem AS step WHERE step.document_id = NEW.id;"

# As in 0017, with the new source.
WORDS = r"""
CREATE OR REPLACE FUNCTION coaching_recall_words(passage coaching_recallpassage) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coaching_recall_piece(CASE
        WHEN passage.message_id IS NOT NULL THEN (
            SELECT texts.words FROM sessions_app_message AS message,
                coaching_recall_texts(message.content, message.metadata) AS texts
            WHERE message.id = passage.message_id AND texts.part = passage.part
        )
        WHEN passage.source = 'summary' THEN (
            SELECT CASE passage.part WHEN 0 THEN summary
                ELSE coaching_recall_arcs(metadata) -> passage.part - 1 ->> 'summary' END
            FROM sessions_app_session WHERE id = passage.session_id
        )
        WHEN passage.source = 'brief' THEN (
            SELECT CASE WHEN corrected_at IS NULL THEN text ELSE corrected_text END FROM sessions_app_sessionbrief
            WHERE session_id = passage.session_id AND NOT is_withdrawn ORDER BY version DESC LIMIT 1
        )
        WHEN passage.source = 'file' THEN (
            SELECT version.content FROM coaching_userfile AS file JOIN coaching_userfileversion AS version
                ON version.file_id = file.id AND version.number = file.version_number
            WHERE file.id = passage.file_id
        )
        WHEN passage.source IN ('document', 'document_withheld') AND passage.part = 0 THEN (
            SELECT coaching_recall_document_words(document) FROM coaching_document AS document
            WHERE id = passage.file_id
        )
        WHEN passage.source IN ('document', 'document_withheld') THEN (
            SELECT coaching_recall_page(text, pages_read, passage.part) FROM coaching_documenttext
            WHERE document_id = passage.file_id
        )
        WHEN passage.source IN ('knowledge', 'knowledge_withheld') THEN (
            SELECT coaching_recall_entry_words(entry) FROM coaching_knowledgeentry AS entry WHERE id = passage.file_id
        )
        %s
    END, passage.piece)
$$;
"""
OF_STEP = """WHEN passage.source IN ('step', 'step_withheld') THEN (
            SELECT coaching_recall_step_words(step) FROM coaching_actionitem AS step WHERE id = passage.file_id
        )"""

MAKE = "\n".join([STEPS, WITHHELD % OF_DOCUMENT, WORDS % OF_STEP])
REMOVE = "\n".join(
    [
        WITHHELD % "",
        WORDS % "",
        "DROP TRIGGER IF EXISTS coaching_recall_step_made ON coaching_actionitem;",
        "DROP TRIGGER IF EXISTS coaching_recall_step_changed ON coaching_actionitem;",
        "DROP FUNCTION IF EXISTS coaching_recall_step_changed(), coaching_recall_add_step(coaching_actionitem),",
        "    coaching_recall_step_words(coaching_actionitem);",
    ]
)

BATCH = 100
HOLD = "SELECT id FROM coaching_actionitem WHERE id > %s ORDER BY id LIMIT %s FOR SHARE"
INDEX = "SELECT coaching_recall_add_step(step) FROM coaching_actionitem AS step WHERE id = ANY (%s::bigint[])"


def known_sources(sources):
    return models.CheckConstraint(condition=Q(source__in=sources), name='recall_source_known')


def allow_sources(connection, sources):
    """Change the check without reading the table under a lock that keeps everybody out."""
    listed = ", ".join(f"'{source}'" for source in sources)

    def change(cursor):
        cursor.execute("LOCK TABLE coaching_recallpassage IN ACCESS EXCLUSIVE MODE")
        cursor.execute("ALTER TABLE coaching_recallpassage DROP CONSTRAINT IF EXISTS recall_source_known")
        cursor.execute(
            "ALTER TABLE coaching_recallpassage ADD CONSTRAINT recall_source_known "
            f"CHECK (source IN ({listed})) NOT VALID"
        )

    in_short_attempts(connection, change)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE coaching_recallpassage VALIDATE CONSTRAINT recall_source_known")


def in_short_lock(connection, statements, *, mode):
    def step(cursor):
        cursor.execute(f"LOCK TABLE coaching_actionitem IN {mode} MODE")
        cursor.execute(statements)

    in_short_attempts(connection, step)


def index_batch(cursor, after):
    """Index a batch; return the last one's id, or None after the last batch."""
    cursor.execute(HOLD, [after, BATCH])
    ids = [row[0] for row in cursor.fetchall()]
    cursor.execute(INDEX, [ids])
    return ids[-1] if ids else None


def make(apps, schema_editor):
    connection = schema_editor.connection
    allow_sources(connection, NEW_SOURCES)
    in_short_lock(connection, MAKE, mode="SHARE ROW EXCLUSIVE")
    last = 0
    while last is not None:
        last = in_short_attempts(connection, lambda cursor, last=last: index_batch(cursor, last))


# A trigger is dropped under the strongest lock.
def remove(apps, schema_editor):
    connection = schema_editor.connection
    in_short_lock(connection, REMOVE, mode="ACCESS EXCLUSIVE")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM coaching_recallpassage WHERE source <> ALL (%s)", [OLD_SOURCES])
    allow_sources(connection, OLD_SOURCES)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('coaching', '0046_step_reminders'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(make, remove)],
            [
                migrations.RemoveConstraint('recallpassage', 'recall_source_known'),
                migrations.AlterField('recallpassage', 'source', models.CharField(choices=CHOICES, max_length=24)),
                migrations.AddConstraint('recallpassage', known_sources(NEW_SOURCES)),
            ],
        ),
    ]
