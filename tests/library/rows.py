"""Rows of a person's library."""

from typing import Any

from django.contrib.auth.models import User

from coaching.library.clients import own_client
from coaching.models import (
    Client,
    ClientType,
    Document,
    DocumentState,
    DocumentText,
    FilingLevel,
    Project,
    Reference,
)


def make_client(user: User, name: str = "", **values: Any) -> Client:
    """Make a client; without a name the user's own."""
    if not name:
        return own_client(user.pk)
    return Client.of(user.pk).create(name=name, client_type=ClientType.PERSON, **values)


def make_project(client: Client, name: str = "Sale") -> Project:
    return Project.of(client.user_id).create(client=client, name=name)


def make_document(client: Client, name: str = "lease.pdf", *, text: str = "", **values: Any) -> Document:
    """Make a document that was filed, with its text."""
    filed = {"state": DocumentState.FILED, "file_type": "lease", "category": "tenancy", "folder": "Leases"}
    count = Document.of(client.user_id).count()
    document = Document.of(client.user_id).create(
        **{
            "client": client,
            "name": name,
            "size": 10,
            "sha256": f"{count:064}",
            "storage_key": f"users/{client.user_id}/{count:032}",
            "level": FilingLevel.CLIENT,
            **filed,
            **values,
        }
    )
    DocumentText.unscoped.create(document=document, text=text)
    return document


def make_reference(file_type: str = "lease", **values: Any) -> Reference:
    """Make a type of document."""
    return Reference.objects.create(
        **{
            "file_type": file_type,
            "title": file_type.replace("-", " ").capitalize(),
            "category": "tenancy",
            "area": "real_estate",
            "folder": "Leases",
            "level": FilingLevel.CLIENT,
            "file_text": f"About {file_type}.",
            "file_sha256": "0" * 64,
            **values,
        }
    )
