"""A person's library for the tenant matrix: one row of each kind, all containing a secret."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from coaching.library.extractors.content_types import PDF
from coaching.models import (
    ActionItem,
    Client,
    ClientType,
    Document,
    DocumentImage,
    DocumentPage,
    DocumentState,
    DocumentText,
    EffectKind,
    InboxMail,
    KnowledgeEntry,
    LibraryEffect,
    MadeBy,
    Project,
)
from tests.library.extractors import images

STEP_ID = 8_000_000


def fill_library(user: User, secret: str) -> None:
    """Create a client with a project, a document to review, an entry, a next step and an effect."""
    client = Client.unscoped.create(user=user, name=secret, client_type=ClientType.COMPANY)
    place: dict[str, Any] = {"user": user, "client": client}
    place["project"] = Project.unscoped.create(**place, name=f"{secret} too")
    document = Document.unscoped.create(
        **place,
        name=f"{secret}.txt",
        size=10,
        storage_key="a key",
        content_type=PDF,
        page_count=1,
        state=DocumentState.REVIEW,
        summary=secret,
        reason=secret,
    )
    DocumentText.unscoped.create(document=document, text=secret)
    image = images.image("WEBP", size=(60, 80)) + secret.encode()
    DocumentPage.unscoped.create(document=document, number=1, data=image, width=60, height=80)
    DocumentImage.unscoped.create(
        document=document, data=image, media_type="image/webp", thumbnail=secret.encode()
    )
    InboxMail.unscoped.create(
        user=user, document=document, size=10, uid_validity=1, uid=1, is_moved=True, taken_at=timezone.now()
    )
    KnowledgeEntry.unscoped.create(**place, title=secret, content=secret)
    ActionItem.unscoped.create(**place, id=STEP_ID, title=secret)
    LibraryEffect.unscoped.create(
        user=user,
        document=document,
        kind=EffectKind.RENAMED,
        made_by=MadeBy.USER,
        before={"name": "an earlier name.txt"},
        after={"name": f"{secret}.txt"},
    )


def ids_of_library(user_id: int) -> Mapping[str, int]:
    """Return the ids of the person's rows by what the matrix calls them."""
    return {
        # Opening the library makes the client that is the person.
        "client": Client.of(user_id).exclude(client_type=ClientType.SELF).get().pk,
        "project": Project.of(user_id).get().pk,
        "document": Document.of(user_id).get().pk,
        "entry": KnowledgeEntry.of(user_id).get().pk,
        "action": ActionItem.of(user_id).get().pk,
        "effect": LibraryEffect.of(user_id).get().pk,
    }
