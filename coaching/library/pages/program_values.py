"""A document as JSON for programs, with the names that `classify --json` uses."""

from typing import Any

from coaching.library.documents.reasons import shown_reason
from coaching.models import Document


def document_as_json(document: Document) -> dict[str, Any]:
    """Return how far a document is, and what was decided, with its reasons."""
    return {
        "id": document.pk,
        "name": document.name,
        "state": document.state,
        "reason": shown_reason(document.reason),
        "readingNote": shown_reason(document.reading_note),
        "client": document.client_id,
        "project": document.project_id,
        "partOf": document.part_of_id,
        "fileType": document.file_type,
        "category": document.category,
        "folder": document.folder,
        "level": document.level,
        "confidence": document.confidence,
        "why": document.why,
        "summary": document.summary,
        "keyFacts": document.key_facts,
        "droppedFacts": document.dropped_facts,
    }
