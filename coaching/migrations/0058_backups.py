"""What is known of backups, and the key that hides people in the list of departures."""

from django.db import migrations, models

import coaching.models.backups


class Migration(migrations.Migration):
    dependencies = [
        ("coaching", "0057_imported_documents"),
    ]

    operations = [
        migrations.CreateModel(
            name="Backup",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("ended_at", models.DateTimeField(db_index=True)),
                ("seconds", models.PositiveIntegerField(help_text="How long it took.")),
                (
                    "file",
                    models.CharField(blank=True, default="", help_text="The archive's name.", max_length=255),
                ),
                (
                    "size",
                    models.PositiveBigIntegerField(
                        default=0, help_text="Bytes of the archive; 0 if it failed."
                    ),
                ),
                ("is_whole", models.BooleanField()),
                (
                    "reason",
                    models.CharField(blank=True, default="", help_text="Why it isn't whole.", max_length=300),
                ),
            ],
            options={"ordering": ["-ended_at"]},
        ),
        migrations.CreateModel(
            name="DepartureKey",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(
                        default=1, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "key",
                    models.CharField(default=coaching.models.backups._new_key, editable=False, max_length=64),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="departure_key_is_one"),
                ],
            },
        ),
    ]
