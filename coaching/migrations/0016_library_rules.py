"""What the library's tables promise beyond Django's constraints, and their share of a person's quota.

A client, project or document is named together with the user (or the client) that its row names, so no row
can refer to somebody else's. All tables are new and empty, so nothing waits.
"""

from django.db import migrations

FOREIGN_KEYS = (
    ("project", "client_of_user", "client_id, user_id", "client", "id, user_id"),
    ("document", "client_of_user", "client_id, user_id", "client", "id, user_id"),
    ("document", "project_of_client", "project_id, client_id", "project", "id, client_id"),
    ("documentcall", "client_of_user", "client_id, user_id", "client", "id, user_id"),
    ("documentcorrection", "client_of_user", "client_id, user_id", "client", "id, user_id"),
    ("knowledgeentry", "client_of_user", "client_id, user_id", "client", "id, user_id"),
    ("knowledgeentry", "project_of_client", "project_id, client_id", "project", "id, client_id"),
    ("knowledgeentry", "document_of_user", "document_id, user_id", "document", "id, user_id"),
    ("actionitem", "client_of_user", "client_id, user_id", "client", "id, user_id"),
    ("actionitem", "project_of_client", "project_id, client_id", "project", "id, client_id"),
    ("actionitem", "document_of_user", "document_id, user_id", "document", "id, user_id"),
    ("libraryeffect", "document_of_user", "document_id, user_id", "document", "id, user_id"),
    ("sessionscope", "project_of_client", "project_id, client_id", "project", "id, client_id"),
)

MAKE = "\n".join(
    f"ALTER TABLE coaching_{table} ADD CONSTRAINT {table}_{name} FOREIGN KEY ({columns}) "
    f"REFERENCES coaching_{other} ({keys}) DEFERRABLE INITIALLY DEFERRED;"
    for table, name, columns, other, keys in FOREIGN_KEYS
)
DROP = "\n".join(
    f"ALTER TABLE coaching_{table} DROP CONSTRAINT {table}_{name};" for table, name, *_ in FOREIGN_KEYS
)

COUNT = """
CREATE FUNCTION coaching_count_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO coaching_fileusage (user_id, files, bytes)
        SELECT user_id, count(*), sum(size) FROM changed WHERE storage_key IS NOT NULL GROUP BY user_id
        ON CONFLICT (user_id) DO UPDATE
        SET files = coaching_fileusage.files + EXCLUDED.files, bytes = coaching_fileusage.bytes + EXCLUDED.bytes;
    ELSE
        UPDATE coaching_fileusage SET files = coaching_fileusage.files - gone.number, bytes = coaching_fileusage.bytes - gone.size
        FROM (
            SELECT user_id, count(*) AS number, sum(size) AS size
            FROM changed WHERE storage_key IS NOT NULL GROUP BY user_id
        ) AS gone
        WHERE coaching_fileusage.user_id = gone.user_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER coaching_document_made AFTER INSERT ON coaching_document
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_documents();
CREATE TRIGGER coaching_document_gone AFTER DELETE ON coaching_document
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_documents();
"""

UNCOUNT = """
DROP TRIGGER coaching_document_made ON coaching_document;
DROP TRIGGER coaching_document_gone ON coaching_document;
DROP FUNCTION coaching_count_documents();
"""


class Migration(migrations.Migration):
    dependencies = [("coaching", "0015_library")]

    operations = [migrations.RunSQL(MAKE, DROP), migrations.RunSQL(COUNT, UNCOUNT)]
