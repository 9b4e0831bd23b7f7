"""Index documents, page by page, and accepted knowledge.

What is never sent to the model has a source of its own: only its owner's search page finds it. The new unique
index is built partition by partition while the site writes. Run again after an interruption, it starts anew.
"""

from django.db import migrations, models
from django.db.models import Q

from sessions_app.migrations._locks import in_short_attempts

OLD_SOURCES = ["message", "tool", "summary", "brief", "file"]
NEW_SOURCES = [*OLD_SOURCES, "document", "document_withheld", "knowledge", "knowledge_withheld"]
CHOICES = [
    ("message", "Message"),
    ("tool", "Tool call"),
    ("summary", "Summary"),
    ("brief", "Brief"),
    ("file", "File"),
    ("document", "Document"),
    ("document_withheld", "Document that the model never gets"),
    ("knowledge", "Knowledge"),
    ("knowledge_withheld", "Knowledge that the model never gets"),
]

OLD, NEW = "recall_file_once", "recall_record_part_once"
COLUMNS = {OLD: "user_id, file_id, source, piece", NEW: "user_id, file_id, source, part, piece"}
WHERE = "WHERE file_id IS NOT NULL"
PARTITIONS = "SELECT relid::text FROM pg_partition_tree('coaching_recallpassage') WHERE isleaf ORDER BY 1"

# Part 0 of a document is what is known of it, and any other part the page of that number.
MAKE = r"""
CREATE OR REPLACE FUNCTION coaching_recall_document_words(document coaching_document)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(
        E'\n', nullif(document.summary, ''),
        (
            SELECT string_agg(concat_ws(': ', fact ->> 'name', fact ->> 'value'), E'\n')
            FROM jsonb_array_elements(
                CASE WHEN jsonb_typeof(document.key_facts) = 'array' THEN document.key_facts ELSE '[]' END
            ) AS fact WHERE jsonb_typeof(fact) = 'object'
        ),
        document.name, translate(document.name, '_-.', '   '), nullif(document.file_type, ''),
        coaching_recall_strings(document.tags)
    )
$$;

CREATE OR REPLACE FUNCTION coaching_recall_page(content text, pages_read jsonb, page integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT words FROM unnest(string_to_array(content, E'\f')) WITH ORDINALITY AS pages(words, place)
    WHERE coalesce((pages_read ->> (place - 1)::integer)::integer, place) = page LIMIT 1
$$;

CREATE OR REPLACE FUNCTION coaching_recall_entry_words(entry coaching_knowledgeentry)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(
        E'\n', entry.title, entry.content, coaching_recall_strings(entry.key_points), coaching_recall_strings(entry.tags)
    )
$$;

CREATE OR REPLACE FUNCTION coaching_recall_add_records(
    owner integer, source text, record bigint, part integer, content text, moment timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH found AS MATERIALIZED (
        SELECT * FROM coaching_recall_passages(content)
    ), noted AS (
        INSERT INTO coaching_recalllanguage (user_id, name)
        SELECT DISTINCT owner, language FROM found WHERE language NOT IN ('english', 'simple')
        ON CONFLICT DO NOTHING
    )
    INSERT INTO coaching_recallpassage (
        user_id, source, file_id, number, part, piece, is_by_user, length, moment, lexemes
    )
    SELECT owner, $2, record, 0, $4, piece, false, length(lexemes), $6, lexemes FROM found
    ON CONFLICT DO NOTHING;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_document_source(document coaching_document) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN document.is_withheld THEN 'document_withheld' ELSE 'document' END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_add_document_facts(document coaching_document)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = document.user_id AND file_id = document.id
        AND source IN ('document', 'document_withheld') AND part = 0;
    IF document.state <> 'duplicate' THEN
        PERFORM coaching_recall_add_records(
            document.user_id, coaching_recall_document_source(document), document.id, 0,
            coaching_recall_document_words(document), document.created_at
        );
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_add_document_pages(wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    document coaching_document;
BEGIN
    SELECT * INTO document FROM coaching_document WHERE id = wanted;
    DELETE FROM coaching_recallpassage
    WHERE user_id = document.user_id AND file_id = wanted
        AND source IN ('document', 'document_withheld') AND part > 0;
    IF document.state <> 'duplicate' THEN
        PERFORM coaching_recall_add_records(
            document.user_id, coaching_recall_document_source(document), wanted,
            coalesce((page.numbers ->> (page.place - 1)::integer)::integer, page.place::integer),
            page.words, document.created_at
        ) FROM (
            SELECT stored.pages_read AS numbers, pages.words, pages.place FROM coaching_documenttext AS stored,
                unnest(string_to_array(stored.text, E'\f')) WITH ORDINALITY AS pages(words, place)
            WHERE stored.document_id = wanted AND pages.words <> '' AND pages.place <= 1000
        ) AS page;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_document_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM coaching_recall_add_document_facts(NEW);
    IF TG_OP = 'UPDATE' AND (OLD.state = 'duplicate') <> (NEW.state = 'duplicate') THEN
        PERFORM coaching_recall_add_document_pages(NEW.id);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_document_withheld() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE coaching_recallpassage SET source = coaching_recall_document_source(NEW)
    WHERE user_id = NEW.user_id AND file_id = NEW.id AND source IN ('document', 'document_withheld');
    PERFORM coaching_recall_add_entry(entry) FROM coaching_knowledgeentry AS entry WHERE entry.document_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_document_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = OLD.user_id AND file_id = OLD.id AND source IN ('document', 'document_withheld');
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_text_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM coaching_recall_add_document_pages(coalesce(NEW.document_id, OLD.document_id));
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_add_entry(entry coaching_knowledgeentry) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    is_withheld boolean := coalesce((SELECT document.is_withheld FROM coaching_document AS document WHERE id = entry.document_id), false);
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = entry.user_id AND file_id = entry.id AND source IN ('knowledge', 'knowledge_withheld');
    IF entry.state = 'accepted' THEN
        PERFORM coaching_recall_add_records(
            entry.user_id, CASE WHEN is_withheld THEN 'knowledge_withheld' ELSE 'knowledge' END, entry.id, 0,
            coaching_recall_entry_words(entry), entry.updated_at
        );
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_entry_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM coaching_recallpassage
        WHERE user_id = OLD.user_id AND file_id = OLD.id AND source IN ('knowledge', 'knowledge_withheld');
    ELSE
        PERFORM coaching_recall_add_entry(NEW);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER coaching_recall_document_made AFTER INSERT ON coaching_document
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_document_changed();
CREATE TRIGGER coaching_recall_document_changed
    AFTER UPDATE OF name, summary, key_facts, tags, file_type, state ON coaching_document
    FOR EACH ROW WHEN (
        OLD.name <> NEW.name OR OLD.summary <> NEW.summary OR OLD.key_facts <> NEW.key_facts OR OLD.tags <> NEW.tags
        OR OLD.file_type <> NEW.file_type OR (OLD.state = 'duplicate') <> (NEW.state = 'duplicate')
    ) EXECUTE FUNCTION coaching_recall_document_changed();
CREATE TRIGGER coaching_recall_document_withheld AFTER UPDATE OF is_withheld ON coaching_document
    FOR EACH ROW WHEN (OLD.is_withheld <> NEW.is_withheld) EXECUTE FUNCTION coaching_recall_document_withheld();
CREATE TRIGGER coaching_recall_document_gone AFTER DELETE ON coaching_document
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_document_gone();
CREATE TRIGGER coaching_recall_text_made AFTER INSERT OR DELETE ON coaching_documenttext
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_text_changed();
CREATE TRIGGER coaching_recall_text_changed AFTER UPDATE OF text, pages_read ON coaching_documenttext
    FOR EACH ROW WHEN (OLD.text <> NEW.text OR OLD.pages_read <> NEW.pages_read)
    EXECUTE FUNCTION coaching_recall_text_changed();
CREATE TRIGGER coaching_recall_entry_changed AFTER INSERT OR UPDATE OR DELETE ON coaching_knowledgeentry
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_entry_changed();

-- As in 0014, with the two new sources.
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
    END, passage.piece)
$$;
"""
REMOVE = r"""
DROP TRIGGER coaching_recall_document_made ON coaching_document;
DROP TRIGGER coaching_recall_document_changed ON coaching_document;
DROP TRIGGER coaching_recall_document_withheld ON coaching_document;
DROP TRIGGER coaching_recall_document_gone ON coaching_document;
DROP TRIGGER coaching_recall_text_made ON coaching_documenttext;
DROP TRIGGER coaching_recall_text_changed ON coaching_documenttext;
DROP TRIGGER coaching_recall_entry_changed ON coaching_knowledgeentry;

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
    END, passage.piece)
$$;

DROP FUNCTION coaching_recall_entry_changed(), coaching_recall_text_changed(), coaching_recall_document_gone(),
    coaching_recall_document_withheld(), coaching_recall_document_changed(),
    coaching_recall_add_entry(coaching_knowledgeentry), coaching_recall_add_document_pages(bigint),
    coaching_recall_add_document_facts(coaching_document), coaching_recall_document_source(coaching_document),
    coaching_recall_add_records(integer, text, bigint, integer, text, timestamptz),
    coaching_recall_entry_words(coaching_knowledgeentry), coaching_recall_page(text, jsonb, integer),
    coaching_recall_document_words(coaching_document);
"""
TABLES = ("coaching_document", "coaching_documenttext", "coaching_knowledgeentry")
"""In the order in which the site locks them."""

BATCH = 25
HOLD_DOCUMENTS = "SELECT id FROM coaching_document WHERE id > %s ORDER BY id LIMIT %s FOR SHARE"
INDEX_DOCUMENTS = """
SELECT coaching_recall_add_document_facts(document), coaching_recall_add_document_pages(document.id)
FROM coaching_document AS document WHERE id = ANY (%s::bigint[])
"""
HOLD_ENTRIES = "SELECT id FROM coaching_knowledgeentry WHERE id > %s ORDER BY id LIMIT %s FOR SHARE"
INDEX_ENTRIES = """
SELECT coaching_recall_add_entry(entry) FROM coaching_knowledgeentry AS entry WHERE id = ANY (%s::bigint[])
"""


def source_field(sources):
    choices = [(value, label) for value, label in CHOICES if value in sources]
    return models.CharField(choices=choices, max_length=24 if len(sources) > len(OLD_SOURCES) else 8)


def known_sources(sources):
    return models.CheckConstraint(condition=Q(source__in=sources), name="recall_source_known")


def allow_sources(connection, sources):
    """Change the check without reading the table under a lock that keeps everybody out."""
    listed = ", ".join(f"'{source}'" for source in sources)

    def change(cursor):
        cursor.execute("LOCK TABLE coaching_recallpassage IN ACCESS EXCLUSIVE MODE")
        cursor.execute("ALTER TABLE coaching_recallpassage DROP CONSTRAINT IF EXISTS recall_source_known")
        # Longer than before, so that the table isn't written anew.
        cursor.execute("ALTER TABLE coaching_recallpassage ALTER COLUMN source TYPE varchar(24)")
        cursor.execute(
            "ALTER TABLE coaching_recallpassage ADD CONSTRAINT recall_source_known "
            f"CHECK (source IN ({listed})) NOT VALID"
        )

    in_short_attempts(connection, change)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE coaching_recallpassage VALIDATE CONSTRAINT recall_source_known")


def replace_index(connection, old, new):
    with connection.cursor() as cursor:
        cursor.execute(PARTITIONS)
        indexes = {f"{partition}_{new}"[-63:]: partition for (partition,) in cursor.fetchall()}
        cursor.execute("SELECT to_regclass(%s)", [old])
        (is_left,) = cursor.fetchone()
        if is_left is None:  # replaced before an interruption
            return
        cursor.execute(f"DROP INDEX IF EXISTS {new}")
        for index, partition in indexes.items():
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")
            cursor.execute(
                f"CREATE UNIQUE INDEX CONCURRENTLY {index} ON {partition} ({COLUMNS[new]}) {WHERE}"
            )

    def attach(cursor):
        cursor.execute("LOCK TABLE coaching_recallpassage IN ACCESS EXCLUSIVE MODE")
        cursor.execute(f"CREATE UNIQUE INDEX {new} ON ONLY coaching_recallpassage ({COLUMNS[new]}) {WHERE}")
        for index in indexes:
            cursor.execute(f"ALTER INDEX {new} ATTACH PARTITION {index}")
        cursor.execute(f"DROP INDEX {old}")

    in_short_attempts(connection, attach)


def in_short_lock(connection, statements, *, mode):
    def step(cursor):
        cursor.execute(f"LOCK TABLE {', '.join(TABLES)} IN {mode} MODE")
        cursor.execute("SELECT count(*) FROM pg_trigger WHERE tgname = 'coaching_recall_document_made'")
        # A migration that was interrupted later has them already, and one that goes back has removed them.
        if bool(cursor.fetchone()[0]) == (statements is REMOVE):
            cursor.execute(statements)

    in_short_attempts(connection, step)


def index_batch(cursor, hold, index, after):
    """Index a batch; return the last one's id, or None after the last batch."""
    cursor.execute(hold, [after, BATCH])
    ids = [row[0] for row in cursor.fetchall()]
    cursor.execute(index, [ids])
    return ids[-1] if ids else None


def make(apps, schema_editor):
    connection = schema_editor.connection
    allow_sources(connection, NEW_SOURCES)
    replace_index(connection, OLD, NEW)
    in_short_lock(connection, MAKE, mode="SHARE ROW EXCLUSIVE")
    for hold, index in ((HOLD_DOCUMENTS, INDEX_DOCUMENTS), (HOLD_ENTRIES, INDEX_ENTRIES)):
        last = 0
        while last is not None:
            last = in_short_attempts(
                connection,
                lambda cursor, hold=hold, index=index, last=last: index_batch(cursor, hold, index, last),
            )


# A trigger is dropped under the strongest lock. The longer column stays: shortening it would read the table.
def remove(apps, schema_editor):
    connection = schema_editor.connection
    in_short_lock(connection, REMOVE, mode="ACCESS EXCLUSIVE")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM coaching_recallpassage WHERE source <> ALL (%s)", [OLD_SOURCES])
    replace_index(connection, NEW, OLD)
    allow_sources(connection, OLD_SOURCES)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("coaching", "0016_library_rules")]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(make, remove)],
            [
                migrations.RemoveConstraint("recallpassage", "recall_source_known"),
                migrations.AlterField("recallpassage", "source", source_field(NEW_SOURCES)),
                migrations.AddConstraint("recallpassage", known_sources(NEW_SOURCES)),
                migrations.RemoveConstraint("recallpassage", OLD),
                migrations.AddConstraint(
                    "recallpassage",
                    models.UniqueConstraint(
                        fields=["user", "file_id", "source", "part", "piece"],
                        condition=Q(file_id__isnull=False),
                        name=NEW,
                    ),
                ),
            ],
        ),
    ]
