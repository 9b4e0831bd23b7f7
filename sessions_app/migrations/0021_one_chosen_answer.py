"""Of turns that share their message one is in the history, held by an index that is built while the site writes."""

from django.db import migrations, models
from django.db.models import Q

NAME = "turn_one_chosen_per_message"
# What an attempt that broke off has left is dropped first.
BUILD = [
    f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}",
    f"CREATE UNIQUE INDEX CONCURRENTLY {NAME} ON sessions_app_turn (session_id, message_number)"
    " WHERE message_number IS NOT NULL AND NOT is_withdrawn",
]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("sessions_app", "0020_answers_again")]

    operations = [
        migrations.RunSQL(
            BUILD,
            f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}",
            state_operations=[
                migrations.AddConstraint(
                    "turn",
                    models.UniqueConstraint(
                        fields=["session", "message_number"],
                        condition=Q(message_number__isnull=False, is_withdrawn=False),
                        name=NAME,
                    ),
                ),
            ],
        ),
    ]
