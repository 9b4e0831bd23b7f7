"""Conversations offer the library's tools from the first document or client on."""

from django.db import migrations, models
from django.db.models import Exists, OuterRef


def offer_to_users_of_libraries(apps, schema_editor):
    """Offer the tools to everybody who has a document, a client besides themself, or a knowledge entry."""
    of_user = {"user": OuterRef("user")}
    documents = apps.get_model("coaching", "Document").objects.filter(**of_user)
    clients = apps.get_model("coaching", "Client").objects.filter(**of_user).exclude(client_type="self")
    entries = apps.get_model("coaching", "KnowledgeEntry").objects.filter(**of_user)
    profiles = apps.get_model("coaching", "Profile").objects
    profiles.filter(Exists(documents) | Exists(clients) | Exists(entries)).update(has_library=True)


class Migration(migrations.Migration):
    dependencies = [("coaching", "0040_dropped_facts")]

    operations = [
        migrations.AddField(
            "profile",
            "has_library",
            models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Whether conversations offer the library's tools: from the first document or client on.",
            ),
        ),
        migrations.RunPython(offer_to_users_of_libraries, migrations.RunPython.noop),
    ]
