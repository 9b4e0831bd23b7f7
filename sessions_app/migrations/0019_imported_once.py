"""A session is imported once for each user, held by an index that is built while the site writes."""

from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.fields.json import KeyTextTransform

NAME = "session_imported_id_once"
# What an attempt that broke off has left is dropped first.
BUILD = [
    f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}",
    f"CREATE UNIQUE INDEX CONCURRENTLY {NAME} ON sessions_app_session (user_id, (metadata ->> 'imported_id'))"
    " WHERE metadata ? 'imported_id'",
]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("sessions_app", "0018_imported_sessions")]

    operations = [
        migrations.RunSQL(
            BUILD,
            f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}",
            state_operations=[
                migrations.AddConstraint(
                    "session",
                    models.UniqueConstraint(
                        F("user"),
                        KeyTextTransform("imported_id", "metadata"),
                        condition=Q(metadata__has_key="imported_id"),
                        name=NAME,
                    ),
                ),
            ],
        ),
    ]
