"""What each person keeps, counted by the database itself: no writer and no deletion can forget it.

Counted by statement: a person's thousand versions that go at once are one change of one row.
"""

FILES = """
CREATE FUNCTION coaching_count_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO coaching_fileusage (user_id, files, bytes)
        SELECT user_id, count(*), 0 FROM changed GROUP BY user_id
        ON CONFLICT (user_id) DO UPDATE SET files = coaching_fileusage.files + EXCLUDED.files;
    ELSE
        UPDATE coaching_fileusage SET files = files - gone.number
        FROM (SELECT user_id, count(*) AS number FROM changed GROUP BY user_id) AS gone
        WHERE coaching_fileusage.user_id = gone.user_id;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION coaching_count_file_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO coaching_fileusage (user_id, files, bytes)
        SELECT file.user_id, 0, sum(changed.size)
        FROM changed JOIN coaching_userfile AS file ON file.id = changed.file_id GROUP BY file.user_id
        ON CONFLICT (user_id) DO UPDATE SET bytes = coaching_fileusage.bytes + EXCLUDED.bytes;
    ELSE
        UPDATE coaching_fileusage SET bytes = bytes - gone.size
        FROM (
            SELECT file.user_id, sum(changed.size) AS size
            FROM changed JOIN coaching_userfile AS file ON file.id = changed.file_id GROUP BY file.user_id
        ) AS gone
        WHERE coaching_fileusage.user_id = gone.user_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER coaching_file_made AFTER INSERT ON coaching_userfile
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_files();
CREATE TRIGGER coaching_file_gone AFTER DELETE ON coaching_userfile
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_files();
CREATE TRIGGER coaching_file_version_made AFTER INSERT ON coaching_userfileversion
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_file_bytes();
CREATE TRIGGER coaching_file_version_gone AFTER DELETE ON coaching_userfileversion
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_file_bytes();
"""

DOCUMENTS = """
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

PICTURES = """
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

COUNT = "\n".join([FILES, DOCUMENTS, PICTURES])
