"""Names of users' own for files, and deleting them with time to undo it: recall forgets a file meanwhile."""

from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

INDEX = """
CREATE FUNCTION coaching_recall_file_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM coaching_recallpassage WHERE user_id = NEW.user_id AND file_id = NEW.id AND source = 'file';
    IF NEW.deleted_at IS NULL THEN
        PERFORM coaching_recall_add_text(
            'file', NEW.user_id, NULL, NEW.id, version.content, version.created_at
        ) FROM coaching_userfileversion AS version WHERE version.file_id = NEW.id AND version.number = NEW.version_number;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER coaching_recall_file_deleted AFTER UPDATE OF deleted_at ON coaching_userfile
    FOR EACH ROW WHEN (OLD.deleted_at IS NULL <> (NEW.deleted_at IS NULL))
    EXECUTE FUNCTION coaching_recall_file_deleted();
"""
FORGET = """
DROP TRIGGER coaching_recall_file_deleted ON coaching_userfile;
DROP FUNCTION coaching_recall_file_deleted();
"""


# Who writes a file waits behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["coaching_userfile"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('coaching', '0022_reminders'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='userfile',
            name='title',
            field=models.CharField(blank=True, db_default='', default='', help_text="Its user's own name for it.", max_length=120),
        ),
        migrations.AddField(
            model_name='userfile',
            name='deleted_at',
            field=models.DateTimeField(blank=True, help_text='By its user, who can restore it until the row is deleted.', null=True),
        ),
        migrations.RunSQL(INDEX, FORGET),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
