"""Index the messages of a turn that ends by one call, not one for its answer and one for its message.

The statement that ends a turn adds its answer, whose trigger comes first: it indexes all messages of the turn.
The turn's own trigger then only adds those of a turn that ended without an answer. The process of the version
before needs nothing else. No table is locked: the functions are replaced, not their triggers.
"""

from django.db import migrations

MAKE = """
CREATE OR REPLACE FUNCTION coaching_recall_messages_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ids bigint[] := ARRAY(
        SELECT message.id FROM sessions_app_message AS message JOIN (
            SELECT DISTINCT turn.id FROM made JOIN sessions_app_turn AS turn ON turn.id = made.turn_id
            WHERE turn.status <> 'running'
        ) AS ended ON message.turn_id = ended.id
    );
BEGIN
    IF cardinality(ids) > 0 THEN
        PERFORM coaching_recall_add_messages(ids);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION coaching_recall_turn_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner integer;
    ids bigint[];
BEGIN
    IF NEW.is_withdrawn THEN
        SELECT user_id INTO owner FROM sessions_app_session WHERE id = NEW.session_id;
        ids := ARRAY(SELECT id FROM sessions_app_message WHERE turn_id = NEW.id);
        DELETE FROM coaching_recallpassage WHERE user_id = owner AND message_id = ANY (ids);
        RETURN NULL;
    END IF;
    ids := ARRAY(
        SELECT message.id FROM sessions_app_message AS message
        JOIN sessions_app_session AS session ON session.id = message.session_id
        WHERE message.turn_id = NEW.id AND NOT EXISTS (
            SELECT FROM coaching_recallpassage AS passage
            WHERE passage.user_id = session.user_id AND passage.message_id = message.id
        )
    );
    IF cardinality(ids) > 0 THEN
        PERFORM coaching_recall_add_messages(ids);
    END IF;
    RETURN NULL;
END
$$;
"""
REMOVE = """
CREATE OR REPLACE FUNCTION coaching_recall_messages_made() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION coaching_recall_turn_moved() RETURNS trigger LANGUAGE plpgsql AS $$
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


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0068_mail_waits_once'),
        ('sessions_app', '0035_turn_withdrawn'),
    ]

    operations = [migrations.RunSQL(MAKE, REMOVE)]
