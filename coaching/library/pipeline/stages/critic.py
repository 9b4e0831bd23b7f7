"""A second reading by a stronger model, where the first was unsure or two types are close."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from coaching.library.evidence import Source
from coaching.library.pipeline.answers import read_answer
from coaching.library.pipeline.batch import Batch, Item, Services, Verdict
from coaching.library.pipeline.call_records import CallPlan
from coaching.library.pipeline.calls import CallFailed, make_call, prefix_of
from coaching.library.pipeline.confidence import needs_second_reading
from coaching.library.pipeline.knowledge import read_knowledge, read_surroundings
from coaching.library.pipeline.requests import build_second_request, request_tokens
from coaching.models import CallPurpose
from sessions_app.database import in_database

logger = structlog.get_logger(__name__)

MAX_CANDIDATES = 4


async def ask_critic(batch: Batch, services: Services) -> Batch:
    """Read the documents again that the first reading was unsure of; without an answer they stay so."""
    read = [item for item in batch.open_items if item.verdict and not item.is_unseen]
    unsure = [item for item in read if needs_second_reading(item)]
    if not unsure:
        return batch
    asked = [replace(item, references=_candidates(item)) for item in unsure]
    knowledge = await in_database(read_knowledge)
    around = await in_database(read_surroundings, batch.claim.user_id, batch.claim.client_id)
    request = build_second_request(asked, knowledge=knowledge, around=around)
    plan = CallPlan(
        user_id=batch.claim.user_id,
        client_id=batch.claim.client_id,
        purpose=CallPurpose.CRITIC,
        key=f"critic:{max(batch.call_ids)}",
        document_ids=[item.document.pk for item in asked],
        request=request,
        prefix=prefix_of(request),
        prompt_tokens=request_tokens(request),
    )
    try:
        call = await make_call(plan, client=await services.client(), slot=services.calls)
    except CallFailed as failure:
        logger.warning("no_second_reading", documents=len(asked), reason=str(failure))
        return batch
    by_id = {item.document.pk: item for item in asked}
    sources = [by_id[each].evidence_source if each in by_id else Source("") for each in call.documents]
    answers = read_answer(call.answer, sources, knowledge.vocabulary)
    found = dict(zip(call.documents, answers, strict=True))
    batch = batch.each(lambda item: _with_second(item, found.get(item.document.pk)))
    return replace(batch, call_ids=(*batch.call_ids, call.pk))


def _candidates(item: Item) -> Sequence[str]:
    """Return the types between which the second reading decides, the likeliest first."""
    if item.verdict is None:
        return item.references
    named = [item.verdict.file_type, *(str(each["file_type"]) for each in item.verdict.alternatives)]
    return list(dict.fromkeys(filter(None, [*named, *item.references])))[:MAX_CANDIDATES]


def _with_second(item: Item, second: Verdict | None) -> Item:
    if second is None or item.verdict is None:
        return item
    facts = second if second.key_facts or not item.verdict.key_facts else item.verdict
    kept = replace(
        second,
        summary=second.summary or item.verdict.summary,
        key_facts=facts.key_facts,
        dropped_facts=facts.dropped_facts,
        proposal={**item.verdict.proposal, **second.proposal},
    )
    return replace(item, verdict=kept, is_second_reading=True)
