"""Decides how each document ends: filed, or in review with a sentence that says why. Pure."""

from dataclasses import replace

from django.utils.translation import gettext_noop

from coaching.library.documents.reasons import (
    PROPOSED,
    SIMILAR,
    TWO_TYPES,
    UNSUPPORTED,
    UNSURE,
    join_reasons,
    proposed_words,
)
from coaching.library.pipeline.batch import Batch, Ending, Item, Services, Verdict
from coaching.library.pipeline.confidence import SURE, is_close, is_unsupported
from coaching.models import DocumentState

UNKNOWN = gettext_noop("Sage found no document type that fits.")
UNSEEN = gettext_noop("Sage chose a type without having read its description.")
UNLIKELY = gettext_noop("The document’s own words don’t suggest this type.")


async def assemble(batch: Batch, _services: Services) -> Batch:
    """Give every document that is left its ending."""
    return batch.each(assembled)


def assembled(item: Item) -> Item:
    """Return a document with its ending: in review for every doubt, otherwise filed."""
    reasons = list(_doubts(item))
    state = DocumentState.REVIEW if reasons else DocumentState.FILED
    values = {}
    if item.twin is not None:
        values = {"similar_to_id": item.twin.document_id, "similarity": item.twin.similarity}
    return replace(
        item, ending=Ending(state=state, reason=join_reasons(reasons), decision=item.decision, values=values)
    )


def _doubts(item: Item) -> list[str]:
    verdict = item.verdict
    if verdict is None or item.decision is None:
        return [UNKNOWN, *_proposed(verdict)]
    doubts = []
    if item.twin is not None:
        doubts += [SIMILAR, f"{item.twin.name}."]
    if item.is_unseen:
        doubts.append(UNSEEN)
    elif item.is_unlikely and not item.is_second_reading:
        doubts.append(UNLIKELY)
    if is_unsupported(verdict) and not item.is_second_reading:
        doubts.append(UNSUPPORTED)
    if verdict.confidence < SURE:
        doubts += [UNSURE, f"{verdict.confidence:.0%}."]
    elif is_close(verdict):
        doubts += [TWO_TYPES, f"{verdict.alternatives[0]['file_type']}."]
    if item.placement_fault:
        doubts.append(item.placement_fault)
    return [*doubts, *(_proposed(verdict) if doubts else [])]


def _proposed(verdict: Verdict | None) -> list[str]:
    if verdict is None or not verdict.proposal:
        return []
    return [PROPOSED, f"{', '.join(proposed_words(verdict.proposal))}."]
