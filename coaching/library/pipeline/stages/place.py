"""Decides where each document is filed. The rules alone decide, never the model."""

from dataclasses import replace

from coaching.library.documents.filing import Decision
from coaching.library.pipeline.batch import Batch, Item, Services
from coaching.library.references.current import current_references
from coaching.library.references.placement import PlacementTable
from coaching.models import Client, DecidedBy, FilingLevel
from sessions_app.database import in_database


async def place(batch: Batch, _services: Services) -> Batch:
    """Give each document with a verdict the decision that follows from it."""
    client_type, table = await in_database(_read_rules, batch.claim.user_id, batch.claim.client_id)
    return batch.each(lambda item: placed(item, table, client_type))


def placed(item: Item, table: PlacementTable, client_type: str) -> Item:
    """Return a document with its decision; without a known type it has none."""
    verdict = item.verdict
    if verdict is None or not verdict.file_type:
        return item
    placement = table.place(
        file_type=verdict.file_type,
        category="",
        client_type=client_type,
        has_project=item.document.project_id is not None,
    )
    decision = Decision(
        file_type=verdict.file_type,
        category=placement.category,
        folder=placement.folder,
        level=FilingLevel(placement.level or FilingLevel.CLIENT),
        confidence=verdict.confidence,
        why=verdict.why,
        tags=verdict.tags,
        summary=verdict.summary,
        key_facts=verdict.key_facts,
        dropped_facts=verdict.dropped_facts,
        alternatives=verdict.alternatives,
        proposal=verdict.proposal,
        decided_by=DecidedBy.CRITIC if item.is_second_reading else DecidedBy.MODEL,
    )
    return replace(item, decision=decision, placement_fault=placement.review)


def _read_rules(user_id: int, client_id: int) -> tuple[str, PlacementTable]:
    client_type = Client.of(user_id).values_list("client_type", flat=True).get(id=client_id)
    return client_type, current_references().placement
