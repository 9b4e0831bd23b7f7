"""The vectors of passages, and the text of a passage. The extension is only needed when vectors are stored."""

import coaching.models.recall
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

# Partitioned like the passages, and for the same reason.
PARTITIONS = 32
MAKE = f"""
CREATE TABLE coaching_recallvector (
    user_id integer NOT NULL,
    passage_id bigint NOT NULL,
    model integer NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (user_id, passage_id),
    FOREIGN KEY (user_id, passage_id) REFERENCES coaching_recallpassage (user_id, id) ON DELETE CASCADE
) PARTITION BY HASH (user_id);
DO $$ BEGIN
    FOR place IN 0..{PARTITIONS - 1} LOOP
        EXECUTE format(
            'CREATE TABLE coaching_recallvector_%s PARTITION OF coaching_recallvector '
            'FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER %s) WITH (toast_tuple_target = 8160)', place, place
        );
    END LOOP;
END $$;

CREATE FUNCTION coaching_recall_make_room_for_vectors() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', '2s', true);
    CREATE EXTENSION IF NOT EXISTS vector;
    EXECUTE 'ALTER TABLE coaching_recallvector ALTER COLUMN vector TYPE halfvec USING NULL';
    ALTER TABLE coaching_recallvector ALTER COLUMN vector SET STORAGE MAIN;
END
$$;

CREATE FUNCTION coaching_recall_words(passage coaching_recallpassage) RETURNS text LANGUAGE sql STABLE AS $$
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
"""
REMOVE = """
DROP FUNCTION coaching_recall_words(coaching_recallpassage), coaching_recall_make_room_for_vectors();
DROP TABLE coaching_recallvector;
"""


# Each partition of the passages gets the foreign key's triggers.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["coaching_recallpassage"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [
        ("coaching", "0013_recall_arcs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(MAKE, REMOVE)],
            [
                migrations.CreateModel(
                    name="RecallVector",
                    fields=[
                        (
                            "passage",
                            models.OneToOneField(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                primary_key=True,
                                related_name="vector",
                                serialize=False,
                                to="coaching.recallpassage",
                            ),
                        ),
                        ("model", models.IntegerField(help_text="The key of the model that made it.")),
                        ("vector", coaching.models.recall.VectorField()),
                        (
                            "user",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="recall_vectors",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                ),
            ],
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
