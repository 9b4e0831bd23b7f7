"""Stores the key facts that were found in a document's whole text."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from coaching.library.documents.filing import put_to_review
from coaching.library.documents.findings import SEARCHED_STATES, digest_of
from coaching.library.documents.reasons import UNSUPPORTED
from coaching.library.effects import change
from coaching.library.moves import moving
from coaching.library.rows.reading_notes import BEGINNING_SEARCHED, with_line
from coaching.models import DecidedBy, Document, DocumentState, DocumentText, EffectKind, MadeBy

KEY_LENGTH = 12


def keep_facts(
    *,
    user_id: int,
    document_id: int,
    of_type: str,
    of_text: str,
    facts: Sequence[Mapping[str, Any]],
    dropped: int,
    is_cut: bool = False,
) -> bool:
    """Store the facts of a text that is still the document's; without any, those that it has stay.

    `dropped` is how many others the text doesn't bear out. If that were all, and nobody but a first reading
    has decided what the document is, it goes to review. With `is_cut` only the beginning was
    read. Returns whether there were facts.
    """
    with moving(Document.of(user_id).filter(id=document_id)):
        rows = Document.of(user_id).select_for_update()
        document = rows.filter(id=document_id, is_withheld=False, state__in=SEARCHED_STATES).first()
        if document is None or document.file_type != of_type or _digest(document) != of_text:
            return False
        now = timezone.now()
        kept = [dict(fact) for fact in facts]
        if kept and kept != document.key_facts:
            values = {"key_facts": kept, "dropped_facts": dropped}
            change(document, kind=EffectKind.FACTS_FOUND, made_by=MadeBy.PIPELINE, values=values)
        else:
            document.dropped_facts = dropped if kept else max(dropped, document.dropped_facts)
        document.facts_found_at = now  # no part of the effect: the text has been read, whatever is undone
        document.reading_note = with_line(document.reading_note, BEGINNING_SEARCHED, is_there=is_cut)
        document.save(update_fields=["dropped_facts", "facts_found_at", "reading_note", "updated_at"])
        is_first_reading = document.state == DocumentState.FILED and document.decided_by == DecidedBy.MODEL
        if dropped and not document.key_facts and is_first_reading:
            put_to_review(user_id=user_id, document_id=document_id, reason=UNSUPPORTED)
        return bool(kept)


def fact_key(fact: Mapping[str, Any]) -> str:
    """Name a fact of a document by what it says, so that a link to it never leads to another one."""
    said = [fact.get(name, "") for name in ("name", "value", "quote")]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:KEY_LENGTH]


def _digest(document: Document) -> str:
    text = DocumentText.within(document).values_list("text", flat=True).first()
    return digest_of(text or "")
