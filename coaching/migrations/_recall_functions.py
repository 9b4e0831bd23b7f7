"""The functions that keep recall's index; `_recall_triggers.py` has the triggers that call them.

No function's text may change here, only in a new migration: databases that are older have it from earlier ones.
"""

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

# The strings of what a tool was given and what it answered; never keys, nothing that was read back, and nothing of a
# private file (`coaching.models.files.PRIVATE_TYPES`). JSON that is nested more deeply than PostgreSQL's stack
# allows (54001) has none: it must not fail the turn that stores it.
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

CREATE FUNCTION coaching_recall_is_private(file_type text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT file_type = 'safety-plan'
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
        AND coaching_recall_is_private(call -> 'input' ->> 'file_type') IS NOT TRUE
$$;
"""

# A text of a session or a file; a part of a session; a part of a document or of another record.
ADDING = r"""
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

CREATE FUNCTION coaching_recall_add_records(
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

# The summaries of arcs are each on the day of its end. Naming the message lets the index of sessions' texts serve them.
SUMMARIES = r"""
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

CREATE FUNCTION coaching_recall_summary_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""

# The newest usable version, as its user last corrected it. A correction is newer than the text until the newest
# version has been corrected, too: until then the text still has the lines that the user removed.
BRIEFS = r"""
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

CREATE FUNCTION coaching_recall_brief_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM coaching_recall_add_brief(coalesce(NEW.session_id, OLD.session_id));
    RETURN NULL;
END
$$;
"""

# The newest version counts, and a deleted file is forgotten until it is restored.
FILES = r"""
CREATE FUNCTION coaching_recall_version_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner integer := (SELECT user_id FROM coaching_userfile WHERE id = NEW.file_id);
BEGIN
    IF NOT EXISTS (SELECT FROM coaching_userfileversion WHERE file_id = NEW.file_id AND number > NEW.number) THEN
        DELETE FROM coaching_recallpassage WHERE user_id = owner AND file_id = NEW.file_id AND source = 'file';
        PERFORM coaching_recall_add_text('file', owner, NULL, NEW.file_id, NEW.content, NEW.created_at)
            FROM coaching_userfile WHERE id = NEW.file_id AND NOT coaching_recall_is_private(file_type);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_file_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage WHERE user_id = NEW.user_id AND file_id = NEW.id AND source = 'file';
    IF NEW.deleted_at IS NULL AND NOT coaching_recall_is_private(NEW.file_type) THEN
        PERFORM coaching_recall_add_text(
            'file', NEW.user_id, NULL, NEW.id, version.content, version.created_at
        ) FROM coaching_userfileversion AS version WHERE version.file_id = NEW.id AND version.number = NEW.version_number;
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

# Part 0 of a document is what is known of it, and any other part the page of that number. What is never sent to the
# model has a source of its own: only its owner's search page finds it.
DOCUMENTS = r"""
CREATE FUNCTION coaching_recall_document_words(document coaching_document)
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

CREATE FUNCTION coaching_recall_page(content text, pages_read jsonb, page integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT words FROM unnest(string_to_array(content, E'\f')) WITH ORDINALITY AS pages(words, place)
    WHERE coalesce((pages_read ->> (place - 1)::integer)::integer, place) = page LIMIT 1
$$;

CREATE FUNCTION coaching_recall_entry_words(entry coaching_knowledgeentry)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(
        E'\n', entry.title, entry.content, coaching_recall_strings(entry.key_points), coaching_recall_strings(entry.tags)
    )
$$;

CREATE FUNCTION coaching_recall_document_source(document coaching_document) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN document.is_withheld THEN 'document_withheld' ELSE 'document' END
$$;

CREATE FUNCTION coaching_recall_add_document_facts(document coaching_document)
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

CREATE FUNCTION coaching_recall_add_document_pages(wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
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

CREATE FUNCTION coaching_recall_document_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM coaching_recall_add_document_facts(NEW);
    IF TG_OP = 'UPDATE' AND (OLD.state = 'duplicate') <> (NEW.state = 'duplicate') THEN
        PERFORM coaching_recall_add_document_pages(NEW.id);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_document_withheld() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE coaching_recallpassage SET source = coaching_recall_document_source(NEW)
    WHERE user_id = NEW.user_id AND file_id = NEW.id AND source IN ('document', 'document_withheld');
    PERFORM coaching_recall_add_entry(entry) FROM coaching_knowledgeentry AS entry WHERE entry.document_id = NEW.id;
    PERFORM coaching_recall_add_step(step) FROM coaching_actionitem AS step WHERE step.document_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_document_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage
    WHERE user_id = OLD.user_id AND file_id = OLD.id AND source IN ('document', 'document_withheld');
    RETURN NULL;
END
$$;

CREATE FUNCTION coaching_recall_text_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM coaching_recall_add_document_pages(coalesce(NEW.document_id, OLD.document_id));
    RETURN NULL;
END
$$;
"""

KNOWLEDGE = r"""
CREATE FUNCTION coaching_recall_add_entry(entry coaching_knowledgeentry) RETURNS void LANGUAGE plpgsql AS $$
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

CREATE FUNCTION coaching_recall_entry_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""

STEPS = r"""
CREATE FUNCTION coaching_recall_step_words(step coaching_actionitem) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(
        E'\n', step.title, nullif(step.description, ''), nullif(step.quote, ''), nullif(step.outcome, '')
    )
$$;

CREATE FUNCTION coaching_recall_add_step(step coaching_actionitem) RETURNS void LANGUAGE plpgsql AS $$
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

CREATE FUNCTION coaching_recall_step_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""

# The text of a passage.
WORDS = r"""
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
        WHEN passage.source IN ('step', 'step_withheld') THEN (
            SELECT coaching_recall_step_words(step) FROM coaching_actionitem AS step WHERE id = passage.file_id
        )
    END, passage.piece)
$$;
"""

# The extension is only needed when vectors are stored.
VECTORS = r"""
CREATE FUNCTION coaching_recall_make_room_for_vectors() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', '2s', true);
    CREATE EXTENSION IF NOT EXISTS vector;
    EXECUTE 'ALTER TABLE coaching_recallvector ALTER COLUMN vector TYPE halfvec USING NULL';
    ALTER TABLE coaching_recallvector ALTER COLUMN vector SET STORAGE MAIN;
END
$$;
"""

FUNCTIONS = "\n".join(
    [
        LANGUAGE,
        PAIRS,
        PASSAGES,
        TEXTS,
        ADDING,
        MESSAGES,
        SUMMARIES,
        BRIEFS,
        FILES,
        DOCUMENTS,
        KNOWLEDGE,
        STEPS,
        WORDS,
        VECTORS,
    ]
)
