"""Decides how each document ends: filed, or in review with a sentence that says why. Pure."""

from dataclasses import replace

from coaching.library.batch import Batch, Ending, Item, Services, Verdict
from coaching.library.confidence import SURE, is_close
from coaching.models import DocumentState

UNKNOWN = "Sage found no type in its list that fits."
UNSEEN = "Sage chose a type whose description it hadn’t seen."
UNSURE = "Sage isn’t sure about the type ({share}%)."
TWO_TYPES = "It could also be of another type: {other}."
SIMILAR = "Its text is almost the same as that of “{name}”."
PROPOSED = "Sage suggests something that isn’t in the lists yet: {words}."


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
        item, ending=Ending(state=state, reason=" ".join(reasons), decision=item.decision, values=values)
    )


def _doubts(item: Item) -> list[str]:
    verdict = item.verdict
    if verdict is None or item.decision is None:
        return [UNKNOWN, *_proposed(verdict)]
    doubts = []
    if item.twin is not None:
        doubts.append(SIMILAR.format(name=item.twin.name))
    if item.is_unseen:
        doubts.append(UNSEEN)
    if verdict.confidence < SURE:
        doubts.append(UNSURE.format(share=round(100 * verdict.confidence)))
    elif is_close(verdict):
        doubts.append(TWO_TYPES.format(other=verdict.alternatives[0]["file_type"]))
    if item.placement_fault:
        doubts.append(item.placement_fault)
    return [*doubts, *(_proposed(verdict) if doubts else [])]


def _proposed(verdict: Verdict | None) -> list[str]:
    if verdict is None or not verdict.proposal:
        return []
    proposal = verdict.proposal
    words = [proposal.get("file_type"), proposal.get("folder"), *proposal.get("tags", ())]
    return [PROPOSED.format(words=", ".join(str(word) for word in words if word))]
