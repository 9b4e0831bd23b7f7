"""A library for measurements: documents with texts, knowledge and next steps, of several clients."""

from django.contrib.auth.models import User
from django.utils import timezone

from coaching.library.clients import own_client
from coaching.models import (
    ActionItem,
    Client,
    ClientType,
    Document,
    DocumentState,
    DocumentText,
    FilingLevel,
    KnowledgeEntry,
)

CLIENTS = 20
SUMMARY = "A lease of two rooms and a kitchen, with a rent of 900 a month and three months of notice. " * 6
TEXT = "The tenant pays the rent on the first day of each month, and keeps the rooms in good order. " * 60


def stock_library(user: User, documents: int) -> None:
    """Give a person that many documents, a tenth as many knowledge entries, and as many next steps."""
    people = Client.of(user.pk).bulk_create(
        Client(user=user, name=f"Client {number}", client_type=ClientType.PERSON) for number in range(CLIENTS)
    )
    clients = [own_client(user.pk), *people]
    now = timezone.now()
    made = Document.of(user.pk).bulk_create(
        Document(
            user=user,
            client=clients[number % len(clients)],
            name=f"lease-{number}.pdf",
            size=20_000,
            storage_key=f"bench/{user.pk}/{number}",
            state=DocumentState.FILED,
            file_type="lease",
            category="tenancy",
            folder="Leases",
            level=FilingLevel.CLIENT,
            summary=SUMMARY,
            key_facts=[{"name": "rent", "value": "900", "quote": "a rent of 900 a month"}] * 6,
            why=SUMMARY[:200],
            read_at=now,
        )
        for number in range(documents)
    )
    DocumentText.unscoped.bulk_create(
        (DocumentText(document=document, text=TEXT, fingerprint=list(range(16))) for document in made),
        batch_size=200,
    )
    KnowledgeEntry.of(user.pk).bulk_create(
        KnowledgeEntry(
            user=user, client=document.client, document=document, title="What it says", content=SUMMARY
        )
        for document in made[::10]
    )
    ActionItem.of(user.pk).bulk_create(
        ActionItem(user=user, client=document.client, document=document, title="What is due")
        for document in made[::10]
    )
