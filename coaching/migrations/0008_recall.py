"""The index that recall searches, and the functions that keep it; 0009 has the triggers that call them."""

import django.contrib.postgres.search
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

# Detection counts function words: PostgreSQL's own stop words where a language has them, else a few of ours.
# English is the answer wherever nothing says otherwise.
LANGUAGE = r"""
CREATE FUNCTION coaching_recall_language(content text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
    opening text := lower(left(content, 600));
    words text[];
    english bigint;
    found text;
BEGIN
    IF octet_length(opening) > 1.4 * length(opening) THEN
        found := CASE
            WHEN opening ~ '[\u0370-\u03ff]{3}' THEN 'greek'
            WHEN opening ~ '[\u0400-\u04ff]{3}' THEN CASE WHEN opening ~ '[ђјљњћџ]' THEN 'serbian' ELSE 'russian' END
            WHEN opening ~ '[\u0530-\u058f]{3}' THEN 'armenian'
            WHEN opening ~ '[\u0590-\u05ff]{3}' THEN CASE WHEN opening ~ '[װױײ]' THEN 'yiddish' ELSE 'simple' END
            WHEN opening ~ '[\u0600-\u06ff]{3}' THEN 'arabic'
            WHEN opening ~ '[\u0900-\u097f]{3}' THEN CASE WHEN opening ~ '(छ|गर्न|हरू)' THEN 'nepali' ELSE 'hindi' END
            WHEN opening ~ '[\u0b80-\u0bff]{3}' THEN 'tamil'
        END;
    END IF;
    IF found IS NULL THEN
        words := string_to_array(translate(opening, E'.,;:!?"()*_\n\t', '             '), ' ', '');
        SELECT count(*) INTO english FROM unnest(words) AS word WHERE ts_lexize('pg_catalog.english_stem', word) = '{}';
        IF english * 4 >= cardinality(words) THEN
            RETURN 'english';
        END IF;
        SELECT language INTO found FROM (
            SELECT replace(dictionary::text, '_stem', '') AS language, count(*) AS hits
            FROM unnest('{danish_stem,dutch_stem,finnish_stem,french_stem,german_stem,hungarian_stem,italian_stem,
                norwegian_stem,portuguese_stem,spanish_stem,swedish_stem,turkish_stem}'::regdictionary[]) AS dictionary,
                unnest(words) AS word
            WHERE ts_lexize(dictionary, word) = '{}' GROUP BY dictionary
            UNION ALL
            SELECT listed.language, count(*) FROM unnest(words) AS word JOIN (VALUES
                ('basque', '{eta,da,ez,bat,du,dut,nire,zen,dira,hau,izan,oso,naiz,baina,ere}'::text[]),
                ('catalan', '{i,el,la,els,les,de,que,no,és,una,amb,per,meva,meu,vaig,molt,però,aquest,però,jo,em,sóc}'),
                ('estonian', '{ja,on,ei,ma,see,et,mis,oli,mu,kui,ka,väga,olen,aga,minu,oma}'),
                ('indonesian', '{dan,yang,di,saya,ini,itu,tidak,untuk,dengan,aku,ke,ada,dari,akan,sudah,juga,bisa}'),
                ('irish', '{agus,an,na,is,tá,sé,mé,go,ar,bhí,mo,níl,atá,le,sa}'),
                ('lithuanian', '{ir,yra,aš,kad,tai,mano,su,į,bet,ne,buvo,labai,kaip,mes,man}'),
                ('romanian', '{și,este,nu,în,sunt,am,că,mai,cu,la,mea,meu,foarte,dar,o,un,pe,să,eu}'),
                ('serbian', '{je,i,da,se,sam,na,nije,moj,moja,bio,bila,ali,što,kako,veoma}')
            ) AS listed(language, own) ON word = ANY (listed.own) GROUP BY listed.language
        ) AS counted WHERE hits >= 2 AND hits > english ORDER BY hits DESC, language LIMIT 1;
    END IF;
    -- Older servers have fewer languages.
    IF found IS NULL OR NOT EXISTS (SELECT FROM pg_ts_config WHERE cfgname = found) THEN
        RETURN CASE WHEN found IS NULL THEN 'english' ELSE 'simple' END;
    END IF;
    RETURN found;
END
$$;
"""

# Scripts without word breaks, and Korean, whose particles are written onto the word.
PAIRS = r"""
CREATE FUNCTION coaching_recall_pairs(content text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT array_agg(DISTINCT substr(run, place, 2))
    FROM (
        SELECT (regexp_matches(content, '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+', 'g'))[1]
    ) AS runs(run), generate_series(1, greatest(length(run) - 1, 1)) AS place
$$;
"""

# A passage of 1,200 characters overlaps the next one by 60, so that no word is cut in both. English text is known
# by what its stop words leave, since both vectors are needed anyway; any other is looked at more closely.
PASSAGES = r"""
CREATE FUNCTION coaching_recall_lexemes(content text, plain tsvector, stems tsvector, dictionary regdictionary)
RETURNS tsvector LANGUAGE plpgsql STABLE AS $$
DECLARE
    others text[];
BEGIN
    IF dictionary IS NOT NULL THEN
        others := ARRAY(
            SELECT word FROM unnest(tsvector_to_array(plain)) AS word, ts_lexize(dictionary, word) AS stem
            WHERE stem <> '{}' AND stem[1] <> word
        );
    END IF;
    IF octet_length(content) > length(content) THEN
        others := others || coaching_recall_pairs(content);
    END IF;
    RETURN CASE WHEN cardinality(others) > 0 THEN stems || strip(array_to_tsvector(others)) ELSE stems END;
END
$$;

CREATE FUNCTION coaching_recall_piece(content text, piece integer) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT substr(content, piece * 1200 + 1, 1260)
$$;

CREATE FUNCTION coaching_recall_passages(content text)
RETURNS TABLE (piece integer, language text, lexemes tsvector) LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
    words text := coaching_recall_piece(content, 0);
    plain tsvector := to_tsvector('simple', words);
    stems tsvector := to_tsvector('english', words);
    dictionary regdictionary;
BEGIN
    language := CASE WHEN 4 * length(stems) <= 3 * length(plain) THEN 'english' ELSE coaching_recall_language(content) END;
    IF language <> 'simple' THEN
        dictionary := (language || '_stem')::regdictionary;
    END IF;
    piece := 0;
    LOOP
        IF piece > 0 OR language <> 'english' THEN
            stems := to_tsvector(language::regconfig, words);
        END IF;
        lexemes := coaching_recall_lexemes(words, plain, stems, dictionary);
        IF length(lexemes) > 0 THEN
            RETURN NEXT;
        END IF;
        piece := piece + 1;
        EXIT WHEN piece * 1200 + 60 >= length(content) OR piece > 100;
        words := coaching_recall_piece(content, piece);
        plain := to_tsvector('simple', words);
    END LOOP;
END
$$;
"""

# The strings of what a tool was given and what it answered; never keys, and nothing that was read back. JSON that is
# nested more deeply than PostgreSQL's stack allows (54001) has none: it must not fail the turn that stores it.
TEXTS = r"""
CREATE FUNCTION coaching_recall_strings(given jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    RETURN (
        SELECT string_agg(inner_value #>> '{}', E'\n')
        FROM jsonb_path_query(given, 'strict $.**') AS inner_value WHERE jsonb_typeof(inner_value) = 'string'
    );
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_result(result jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    IF jsonb_typeof(result) = 'string' AND result #>> '{}' ~ '^\s*[{\[]' THEN
        RETURN coaching_recall_strings((result #>> '{}')::jsonb);
    END IF;
    RETURN coaching_recall_strings(result);
EXCEPTION
    WHEN data_exception THEN
        RETURN result #>> '{}';
    WHEN program_limit_exceeded THEN
        RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_texts(content text, metadata jsonb)
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
    WHERE call ->> 'name' NOT IN ('recall_context', 'read_file', 'read_result', 'load_skill')
$$;
"""

# The messages of a running turn wait for its end: nobody searches for them before, and its start stays fast.
MESSAGES = r"""
CREATE FUNCTION coaching_recall_add_messages(ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH found AS MATERIALIZED (
        SELECT session.user_id, message.session_id, message.id AS message_id, message.number, texts.part,
            message.role = 'user' AS is_by_user, message.created_at, passage.*
        FROM sessions_app_message AS message
        JOIN sessions_app_turn AS turn ON turn.id = message.turn_id
        JOIN sessions_app_session AS session ON session.id = message.session_id
        CROSS JOIN LATERAL coaching_recall_texts(message.content, message.metadata) AS texts
        CROSS JOIN LATERAL coaching_recall_passages(texts.words) AS passage
        WHERE message.id = ANY (ids) AND turn.status <> 'running' AND NOT turn.is_withdrawn
            AND coalesce(message.metadata ->> 'is_hidden', 'false') = 'false'
    ), noted AS (
        INSERT INTO coaching_recalllanguage (user_id, name)
        SELECT DISTINCT user_id, language FROM found WHERE language NOT IN ('english', 'simple')
        ON CONFLICT DO NOTHING
    )
    INSERT INTO coaching_recallpassage (
        user_id, source, session_id, message_id, number, part, piece, is_by_user, length, moment, lexemes
    )
    SELECT user_id, CASE part WHEN 0 THEN 'message' ELSE 'tool' END, session_id, message_id, number, part, piece,
        is_by_user, length(lexemes), created_at, lexemes
    FROM found ORDER BY message_id, part, piece
    ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION coaching_recall_messages_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ids bigint[] := ARRAY(
        SELECT made.id FROM made JOIN sessions_app_turn AS turn ON turn.id = made.turn_id
        WHERE turn.status <> 'running'
    );
BEGIN
    IF cardinality(ids) > 0 THEN
        PERFORM coaching_recall_add_messages(ids);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_message_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner integer := (SELECT user_id FROM sessions_app_session WHERE id = NEW.session_id);
BEGIN
    DELETE FROM coaching_recallpassage WHERE user_id = owner AND message_id = NEW.id;
    PERFORM coaching_recall_add_messages(ARRAY[NEW.id]);
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_message_dated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner integer := (SELECT user_id FROM sessions_app_session WHERE id = NEW.session_id);
BEGIN
    UPDATE coaching_recallpassage SET moment = NEW.created_at WHERE user_id = owner AND message_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_messages_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner integer;
    ids bigint[];
BEGIN
    FOR owner, ids IN
        SELECT session.user_id, array_agg(gone.id)
        FROM gone JOIN sessions_app_session AS session ON session.id = gone.session_id GROUP BY session.user_id
    LOOP
        DELETE FROM coaching_recallpassage WHERE user_id = owner AND message_id = ANY (ids);
    END LOOP;
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_turn_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner integer := (SELECT user_id FROM sessions_app_session WHERE id = NEW.session_id);
    ids bigint[] := ARRAY(SELECT id FROM sessions_app_message WHERE turn_id = NEW.id);
BEGIN
    IF NEW.is_withdrawn THEN
        DELETE FROM coaching_recallpassage WHERE user_id = owner AND message_id = ANY (ids);
    ELSE
        -- The statement that ends a turn adds its answer, too, whose own trigger has indexed it by now.
        PERFORM coaching_recall_add_messages(ARRAY(
            SELECT unnest(ids) EXCEPT
            SELECT message_id FROM coaching_recallpassage WHERE user_id = owner AND message_id = ANY (ids)
        ));
    END IF;
    RETURN NULL;
END
$$;
"""

# A summary is one text of its session; of a file the newest version counts.
OTHERS = r"""
CREATE FUNCTION coaching_recall_add_text(
    source text, user_id integer, session_id uuid, file_id bigint, content text, moment timestamptz
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
        user_id, source, session_id, file_id, number, part, piece, is_by_user, length, moment, lexemes
    )
    SELECT $2, $1, $3, $4, 0, 0, piece, false, length(lexemes), $6, lexemes FROM found
    ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION coaching_recall_summary_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = coalesce(NEW.user_id, OLD.user_id) AND session_id = coalesce(NEW.id, OLD.id)
        AND source = 'summary';
    IF TG_OP <> 'DELETE' THEN
        PERFORM coaching_recall_add_text(
            'summary', NEW.user_id, NEW.id, NULL, NEW.summary, coalesce(NEW.ended_at, NEW.last_active_at)
        );
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_version_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner integer := (SELECT user_id FROM coaching_userfile WHERE id = NEW.file_id);
BEGIN
    IF NOT EXISTS (SELECT FROM coaching_userfileversion WHERE file_id = NEW.file_id AND number > NEW.number) THEN
        DELETE FROM coaching_recallpassage WHERE user_id = owner AND file_id = NEW.file_id AND source = 'file';
        PERFORM coaching_recall_add_text('file', owner, NULL, NEW.file_id, NEW.content, NEW.created_at);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_file_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage WHERE user_id = OLD.user_id AND file_id = OLD.id AND source = 'file';
    RETURN NULL;
END
$$;
"""

# Partitions by user keep each user's rows on few pages, however many people write side by side: a search reads all
# of them. Vectors stay in the row, since reading one from elsewhere costs a lookup. The rows of a person who is removed
# go by the foreign key: a trigger may add one after Django has deleted those that it saw.
PARTITIONS = 32
TABLE = f"""
CREATE TABLE coaching_recalllanguage (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    name varchar(32) NOT NULL,
    CONSTRAINT recall_language_once UNIQUE (user_id, name)
);
CREATE SEQUENCE coaching_recallpassage_id_seq;
CREATE TABLE coaching_recallpassage (
    id bigint NOT NULL DEFAULT nextval('coaching_recallpassage_id_seq'),
    user_id integer NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    source varchar(8) NOT NULL CONSTRAINT recall_source_known CHECK (source IN ('message', 'tool', 'summary', 'file')),
    session_id uuid,
    message_id bigint,
    file_id bigint,
    number integer NOT NULL CHECK (number >= 0),
    part smallint NOT NULL CHECK (part >= 0),
    piece smallint NOT NULL CHECK (piece >= 0),
    is_by_user boolean NOT NULL,
    length smallint NOT NULL CHECK (length >= 0),
    moment timestamptz NOT NULL,
    lexemes tsvector NOT NULL,
    PRIMARY KEY (user_id, id) INCLUDE (length)
) PARTITION BY HASH (user_id);
ALTER SEQUENCE coaching_recallpassage_id_seq OWNED BY coaching_recallpassage.id;
ALTER TABLE coaching_recallpassage ALTER COLUMN lexemes SET STORAGE MAIN;
CREATE UNIQUE INDEX recall_message_once ON coaching_recallpassage (user_id, message_id, part, piece);
CREATE UNIQUE INDEX recall_file_once ON coaching_recallpassage (user_id, file_id, source, piece)
    WHERE file_id IS NOT NULL;
CREATE UNIQUE INDEX recall_session_text_once ON coaching_recallpassage (user_id, session_id, source, piece)
    WHERE message_id IS NULL AND session_id IS NOT NULL;
DO $$ BEGIN
    FOR place IN 0..{PARTITIONS - 1} LOOP
        EXECUTE format(
            'CREATE TABLE coaching_recallpassage_%s PARTITION OF coaching_recallpassage '
            'FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER %s) WITH (toast_tuple_target = 8160)', place, place
        );
    END LOOP;
END $$;
"""

REMOVE = r"""
DROP FUNCTION coaching_recall_messages_made(), coaching_recall_message_changed(), coaching_recall_message_dated(),
    coaching_recall_messages_gone(),
    coaching_recall_turn_moved(), coaching_recall_summary_changed(), coaching_recall_version_made(),
    coaching_recall_file_gone(), coaching_recall_add_messages(bigint[]),
    coaching_recall_add_text(text, integer, uuid, bigint, text, timestamptz), coaching_recall_texts(text, jsonb),
    coaching_recall_result(jsonb), coaching_recall_strings(jsonb), coaching_recall_passages(text),
    coaching_recall_piece(text, integer), coaching_recall_lexemes(text, tsvector, tsvector, regdictionary), coaching_recall_pairs(text),
    coaching_recall_language(text);
"""


# Each partition has a foreign key to the people.
def lock_people(apps, schema_editor):
    lock_tables(schema_editor.connection, ["auth_user"], mode="SHARE ROW EXCLUSIVE")


def lock_people_wholly(apps, schema_editor):
    lock_tables(schema_editor.connection, ["auth_user"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0007_file_usage'),
        ('sessions_app', '0006_session_status_moves'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(lock_people, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(TABLE, "DROP TABLE coaching_recallpassage, coaching_recalllanguage")],
            [
                migrations.CreateModel(
                    name='RecallLanguage',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(max_length=32)),
                        ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recall_languages', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='recall_language_once')],
                    },
                ),
                migrations.CreateModel(
                    name='RecallPassage',
                    fields=[
                        ('id', models.BigAutoField(primary_key=True, serialize=False)),
                        ('source', models.CharField(choices=[('message', 'Message'), ('tool', 'Tool call'), ('summary', 'Summary'), ('file', 'File')], max_length=8)),
                        ('session_id', models.UUIDField(null=True)),
                        ('message_id', models.BigIntegerField(null=True)),
                        ('file_id', models.BigIntegerField(null=True)),
                        ('number', models.PositiveIntegerField(default=0, help_text="The message's number; 0 if it is none.")),
                        ('part', models.PositiveSmallIntegerField(default=0)),
                        ('piece', models.PositiveSmallIntegerField(default=0)),
                        ('is_by_user', models.BooleanField(default=False)),
                        ('length', models.PositiveSmallIntegerField(help_text='Different stems.')),
                        ('moment', models.DateTimeField()),
                        ('lexemes', django.contrib.postgres.search.SearchVectorField()),
                        ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recall_passages', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('user', 'message_id', 'part', 'piece'), name='recall_message_once'), models.UniqueConstraint(condition=models.Q(('file_id__isnull', False)), fields=('user', 'file_id', 'source', 'piece'), name='recall_file_once'), models.UniqueConstraint(condition=models.Q(('message_id__isnull', True), ('session_id__isnull', False)), fields=('user', 'session_id', 'source', 'piece'), name='recall_session_text_once'), models.CheckConstraint(condition=models.Q(('source__in', ['message', 'tool', 'summary', 'file'])), name='recall_source_known')],
                    },
                ),
            ],
        ),
        migrations.RunSQL("\n".join([LANGUAGE, PAIRS, PASSAGES, TEXTS, MESSAGES, OTHERS]), REMOVE),
        migrations.RunPython(migrations.RunPython.noop, lock_people_wholly),
    ]
