"""Pictures of documents count in their person's quota, as the documents' own bytes do."""

from django.db import migrations

COUNT = """
CREATE FUNCTION coaching_count_pictures() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO coaching_fileusage (user_id, files, bytes)
        SELECT document.user_id, 0, sum(octet_length(changed.data))
        FROM changed JOIN coaching_document AS document ON document.id = changed.document_id
        GROUP BY document.user_id
        ON CONFLICT (user_id) DO UPDATE SET bytes = coaching_fileusage.bytes + EXCLUDED.bytes;
    ELSE
        UPDATE coaching_fileusage SET bytes = coaching_fileusage.bytes - gone.size
        FROM (
            SELECT document.user_id, sum(octet_length(changed.data)) AS size
            FROM changed JOIN coaching_document AS document ON document.id = changed.document_id
            GROUP BY document.user_id
        ) AS gone
        WHERE coaching_fileusage.user_id = gone.user_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER coaching_picture_made AFTER INSERT ON coaching_documentimage
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_pictures();
CREATE TRIGGER coaching_picture_gone AFTER DELETE ON coaching_documentimage
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_pictures();
"""

UNCOUNT = """
DROP TRIGGER coaching_picture_made ON coaching_documentimage;
DROP TRIGGER coaching_picture_gone ON coaching_documentimage;
DROP FUNCTION coaching_count_pictures();
"""

# After the triggers, in the transaction that made them: nobody writes in between.
BACKFILL = """
INSERT INTO coaching_fileusage (user_id, files, bytes)
SELECT document.user_id, 0, sum(octet_length(image.data))
FROM coaching_documentimage AS image JOIN coaching_document AS document ON document.id = image.document_id
GROUP BY document.user_id
ON CONFLICT (user_id) DO UPDATE SET bytes = coaching_fileusage.bytes + EXCLUDED.bytes;
"""


class Migration(migrations.Migration):
    dependencies = [("coaching", "0028_library_words")]

    operations = [
        migrations.RunSQL(COUNT, UNCOUNT),
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
    ]
