"""What each person keeps in files, counted by the database itself: no writer and no deletion can forget it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Counted by statement: a person's thousand versions that go at once are one change of one row.
COUNT = """
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

UNCOUNT = """
DROP TRIGGER coaching_file_made ON coaching_userfile;
DROP TRIGGER coaching_file_gone ON coaching_userfile;
DROP TRIGGER coaching_file_version_made ON coaching_userfileversion;
DROP TRIGGER coaching_file_version_gone ON coaching_userfileversion;
DROP FUNCTION coaching_count_files();
DROP FUNCTION coaching_count_file_bytes();
"""

# After the triggers, in the transaction that made them: nobody writes in between.
BACKFILL = """
INSERT INTO coaching_fileusage (user_id, files, bytes)
SELECT file.user_id, count(DISTINCT file.id), coalesce(sum(version.size), 0)
FROM coaching_userfile AS file LEFT JOIN coaching_userfileversion AS version ON version.file_id = file.id
GROUP BY file.user_id;
"""


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("coaching", "0006_safety"),
    ]

    operations = [
        migrations.CreateModel(
            name="FileUsage",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="file_usage",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("files", models.PositiveIntegerField(default=0)),
                ("bytes", models.PositiveBigIntegerField(default=0, help_text="With all versions.")),
            ],
        ),
        migrations.RunSQL(COUNT, UNCOUNT),
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
    ]
