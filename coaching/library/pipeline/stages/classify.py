"""Asks the model what the documents are: one call, up to three rounds with tools, a structured answer."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from uuid import uuid4

import structlog
from django.conf import settings
from django.utils.translation import gettext_noop

from coaching.library.documents.reasons import join_reasons
from coaching.library.evidence import Source
from coaching.library.pipeline.answers import read_answer
from coaching.library.pipeline.batch import Batch, Ending, Item, Services, Verdict
from coaching.library.pipeline.call_records import CallPlan, pending_call, read_rounds
from coaching.library.pipeline.calls import (
    GIVEN_UP,
    NO_TOOLS,
    CallFailed,
    CallWithdrawn,
    make_call,
    prefix_of,
    resume_call,
)
from coaching.library.pipeline.claims import keep, put_back
from coaching.library.pipeline.knowledge import Knowledge, read_knowledge, read_surroundings
from coaching.library.pipeline.requests import (
    build_request,
    described_types,
    request_tokens,
    take_what_fits,
)
from coaching.library.pipeline.stages.select_references import is_likely
from coaching.library.pipeline.tools import pipeline_tools
from coaching.model_client.servers import is_local_server
from coaching.models import CallPurpose, DocumentCall, DocumentCallState, DocumentState
from coaching.tools.lookup_reference import LOOKUP_REFERENCE
from sessions_app.database import in_database

logger = structlog.get_logger(__name__)

LOOKUP = LOOKUP_REFERENCE.name
MAX_ATTEMPTS = 2
"""A document is tried this often, the last time alone; with a local server, alone once."""
FAILED = gettext_noop("Sage couldn’t read this document.")
WHAT_NOW = gettext_noop("You can try again or file it yourself.")
_REFERENCE = re.compile(r'^<reference file_type="([a-z0-9-]+)">')
IN_BATCH = gettext_noop("Sent together with others at half the price. The answer can take up to a day.")
WITHOUT_ANSWER = gettext_noop("The AI model gave no usable answer.")


async def classify(batch: Batch, services: Services) -> Batch:
    """Classify the documents that fit into one call; the others wait for the next.

    Raises what `make_call` raises, except `CallFailed`: then the documents are tried again one by one, and
    one that fails alone has failed. If one was withdrawn, they are asked about again without it.
    """
    if not batch.open_items:
        return batch
    knowledge = await in_database(read_knowledge)
    pending = await in_database(_pending, batch)
    fitting = take_what_fits(batch.open_items, knowledge)
    if pending is not None:
        fitting = [item for item in batch.open_items if pending.is_for(item.document.pk)]
    batch = await in_database(_put_back_others, batch, fitting)
    if pending is not None and pending.batch and pending.state == DocumentCallState.OPEN:
        return batch.each(lambda item: item.ended(DocumentState.WAITING, IN_BATCH))
    tools = pipeline_tools(fitting) if services.is_offered_tools else NO_TOOLS
    around = await in_database(read_surroundings, batch.claim.user_id, batch.claim.client_id)
    definitions = tools.toolset.definitions()
    request = build_request(fitting, knowledge=knowledge, around=around, tools=definitions)
    client = await services.client()
    try:
        if pending is None:
            plan = CallPlan(
                user_id=batch.claim.user_id,
                client_id=batch.claim.client_id,
                purpose=CallPurpose.CLASSIFY,
                key=f"classify:{uuid4().hex}",
                document_ids=[item.document.pk for item in fitting],
                request=request,
                prefix=prefix_of(request),
                prompt_tokens=request_tokens(request),
            )
            call = await make_call(plan, client=client, tools=tools, slot=services.calls)
        else:
            call = await resume_call(pending, request, client=client, tools=tools, slot=services.calls)
    except CallWithdrawn:
        return batch.each(lambda item: item.ended(DocumentState.QUEUED, ""))
    except CallFailed as failure:
        is_last = str(failure) != GIVEN_UP and _is_asked_once(fitting)
        return batch.each(partial(without_answer, because=str(failure), is_last=is_last))
    await in_database(call.refresh_from_db, fields=["rounds"])
    return _with_verdicts(batch, call, knowledge)


def _is_asked_once(documents: Sequence[object]) -> bool:
    """Whether a call about these isn't made again: a local server would answer as before, and others wait."""
    return len(documents) == 1 and is_local_server()


def without_answer(item: Item, because: str, *, is_last: bool = False) -> Item:
    """Let a document be tried again alone, or end it as failed."""
    if item.document.attempts + 1 < MAX_ATTEMPTS and not is_last:
        return replace(item, ending=Ending(state=DocumentState.QUEUED, is_attempt=True))
    reason = join_reasons([FAILED, because, WHAT_NOW])
    return replace(item, ending=Ending(state=DocumentState.FAILED, reason=reason, is_attempt=True))


def _pending(batch: Batch) -> DocumentCall | None:
    document_ids = [item.document.pk for item in batch.open_items]
    return pending_call(user_id=batch.claim.user_id, purpose=CallPurpose.CLASSIFY, document_ids=document_ids)


def _put_back_others(batch: Batch, fitting: Sequence[Item]) -> Batch:
    kept = [item.document.pk for item in fitting]
    others = [each for each in batch.claim.document_ids if each not in kept]
    if others:
        put_back(batch.claim, document_ids=others)
    return replace(batch, claim=keep(batch.claim, kept), items=tuple(fitting))


def _with_verdicts(batch: Batch, call: DocumentCall, knowledge: Knowledge) -> Batch:
    sent = {document_id: number for number, document_id in enumerate(call.documents)}
    items = {item.document.pk: item for item in batch.items}
    sources = [items[each].evidence_source if each in items else Source("") for each in call.documents]
    verdicts = read_answer(call.answer, sources, knowledge.vocabulary)
    found = looked_up(call)

    def judged(item: Item) -> Item:
        verdict: Verdict | None = verdicts[sent[item.document.pk]]
        if verdict is None:
            return without_answer(item, WITHOUT_ANSWER, is_last=_is_asked_once(call.documents))
        if verdict.dropped_facts:
            logger.info("facts_not_in_document", document_id=item.document.pk, facts=verdict.dropped_facts)
        seen = {*described_types(item, settings.SAGE_CLASSIFY_MODEL), *found}
        is_unseen = bool(verdict.file_type) and verdict.file_type not in seen
        is_unlikely = _is_unlikely(item, verdict, knowledge)
        return replace(item, verdict=verdict, is_unseen=is_unseen, is_unlikely=is_unlikely)

    return replace(batch.each(judged), call_ids=(*batch.call_ids, call.pk))


def _is_unlikely(item: Item, verdict: Verdict, knowledge: Knowledge) -> bool:
    return bool(verdict.file_type) and not is_likely(
        knowledge.references, verdict.file_type, text=item.ranked_text, tags=item.ranked_tags
    )


def looked_up(call: DocumentCall) -> set[str]:
    """Return the types whose references the model has looked up in a call."""
    found: set[str] = set()
    for stored in read_rounds(call):
        names = {block["id"]: block["name"] for block in stored["blocks"] if block["type"] == "tool_use"}
        for tool_use_id, result in stored["results"].items():
            if names.get(tool_use_id) == LOOKUP and not result["is_error"]:
                found.update(_REFERENCE.findall(result["content"]))
    return found
