"""Photos of the journal, which count in their person's quota. The table is new, so nothing waits."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

COUNT = """
CREATE FUNCTION coaching_count_photos() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO coaching_fileusage (user_id, files, bytes)
        SELECT user_id, count(*), sum(size + octet_length(thumbnail)) FROM changed GROUP BY user_id
        ON CONFLICT (user_id) DO UPDATE
        SET files = coaching_fileusage.files + EXCLUDED.files, bytes = coaching_fileusage.bytes + EXCLUDED.bytes;
    ELSE
        UPDATE coaching_fileusage SET files = coaching_fileusage.files - gone.number, bytes = coaching_fileusage.bytes - gone.size
        FROM (
            SELECT user_id, count(*) AS number, sum(size + octet_length(thumbnail)) AS size
            FROM changed GROUP BY user_id
        ) AS gone
        WHERE coaching_fileusage.user_id = gone.user_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER coaching_photo_made AFTER INSERT ON coaching_photo
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_photos();
CREATE TRIGGER coaching_photo_gone AFTER DELETE ON coaching_photo
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION coaching_count_photos();
"""

UNCOUNT = """
DROP TRIGGER coaching_photo_made ON coaching_photo;
DROP TRIGGER coaching_photo_gone ON coaching_photo;
DROP FUNCTION coaching_count_photos();
"""


class Migration(migrations.Migration):
    dependencies = [
        ('coaching', '0059_unread_documents'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Photo',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('description', models.CharField(blank=True, db_default='', default='', help_text="In the person's own words.", max_length=500)),
                ('danger_level', models.CharField(choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], db_default='none', default='none', help_text='Of the description, by the rules.', max_length=16)),
                ('danger_about', models.CharField(db_default='self', default='self', max_length=8)),
                ('danger_topic', models.CharField(db_default='life', default='life', max_length=16)),
                ('described_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('source_sha256', models.CharField(help_text='Of the file that was uploaded.', max_length=64)),
                ('storage_key', models.CharField(max_length=255, unique=True)),
                ('sha256', models.CharField(max_length=64)),
                ('size', models.PositiveIntegerField(help_text='Bytes, without the thumbnail.')),
                ('width', models.PositiveIntegerField()),
                ('height', models.PositiveIntegerField()),
                ('thumbnail', models.BinaryField()),
                ('added_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='photos', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['day', 'added_at', 'id'],
                'indexes': [models.Index(fields=['user', 'day'], name='photo_user_day')],
                'constraints': [models.UniqueConstraint(fields=('user', 'source_sha256'), name='photo_once')],
            },
        ),
        migrations.RunSQL(COUNT, UNCOUNT),
    ]
