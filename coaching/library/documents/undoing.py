"""Undoing a change of the library, and queueing what has to be read anew then."""

from django.db import transaction

from coaching.library.documents.readings import queue_readings
from coaching.library.effects import undo
from coaching.models import Document, DocumentState, LibraryEffect


@transaction.atomic
def undo_effect(*, user_id: int, effect_id: int) -> LibraryEffect:
    """Undo one effect. Raises `Refused` with a sentence, and `LibraryEffect.DoesNotExist`."""
    effect = undo(user_id=user_id, effect_id=effect_id)
    if effect.document_id is not None:
        filed = Document.of(user_id).filter(id=effect.document_id, state=DocumentState.FILED)
        if document := filed.first():
            queue_readings(document)
    return effect
