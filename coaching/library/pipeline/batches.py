"""Reads a backlog through the model API's batches: half the price, and the answers come within a day.

Each call of a batch is recorded before it is sent and knows its batch: whoever runs next waits for the
answers instead of asking again. Batches offer no tools. What has no answer is asked for in the usual way.
"""

import asyncio
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from uuid import uuid4

import structlog
from django.conf import settings
from django.utils import timezone

from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import BatchModelClient, BatchResult
from coaching.engine.usage import RoundUsage
from coaching.library.documents.locks import update_documents
from coaching.library.pipeline import call_records
from coaching.library.pipeline.batch import Item, Services
from coaching.library.pipeline.call_records import CallPlan, open_call, pending_call, withdraw
from coaching.library.pipeline.calls import NO_ANSWER, prefix_of
from coaching.library.pipeline.claims import Claim, claim_chosen, keep, put_back
from coaching.library.pipeline.knowledge import read_knowledge, read_surroundings
from coaching.library.pipeline.requests import build_request, request_tokens, take_what_fits
from coaching.library.pipeline.settling import begin, settle
from coaching.library.pipeline.stages.duplicates import find_duplicates
from coaching.library.pipeline.stages.hold import hold
from coaching.library.pipeline.stages.read_pictures import read_pictures
from coaching.library.pipeline.stages.read_text import read_text
from coaching.library.pipeline.stages.references import choose_references
from coaching.models import CallPurpose, DocumentCall, DocumentCallState, DocumentState
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.limits import refuse_over_budget

logger = structlog.get_logger(__name__)

READER = "command:batch"
FIRST_POLL_SECONDS = 0.5
MAX_POLL_SECONDS = 60.0
A_DAY = timedelta(hours=25)
"""A batch is answered, or has expired, within 24 hours."""

_GOOD = ("end_turn", "stop_sequence")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    claim: Claim
    call: DocumentCall
    request: ModelRequest


async def answer_in_batches(
    *, user_id: int, document_ids: Collection[int], services: Services, client: BatchModelClient
) -> None:
    """Commit the model's answers about documents, as far as batches have them. Their endings come next.

    Raises `UpstreamError` where the model can't be reached.
    """
    prepared: list[_Prepared] = []
    try:
        while one := await _prepare(user_id, document_ids, services, number=len(prepared)):
            prepared.append(one)
        new = [one for one in prepared if one.call.state == DocumentCallState.OPEN and not one.call.batch]
        new = await in_database(_within_budget, user_id, new)
        if new:
            requests = {str(one.call.pk): one.request for one in new}
            batch_id = await client.create_batch(requests)
            await in_database(call_records.note_batch, [one.call for one in new], batch_id)
            logger.info("documents_sent_in_batch", calls=len(new), batch=batch_id)
        wait = FIRST_POLL_SECONDS
        while not await collect([one.call for one in prepared], client):
            await asyncio.sleep(wait)
            wait = min(MAX_POLL_SECONDS, wait * 1.5)
    finally:
        for one in prepared:
            await in_database(put_back, one.claim)


async def collect(calls: Sequence[DocumentCall], client: BatchModelClient) -> bool:
    """Commit the answers of batches that have ended; return whether all have. Raises `UpstreamError`."""
    is_complete = True
    for batch_id in {call.batch for call in calls if call.batch and call.state == DocumentCallState.OPEN}:
        try:
            results = await client.batch_results(batch_id)
        except UpstreamError as error:
            if error.reason != "unknown_model":  # 404: there is no such batch any more
                raise
            results = {}
        if results is None:
            is_complete = False
            continue
        for call in calls:
            if call.batch == batch_id and call.state == DocumentCallState.OPEN:
                await in_database(_store, call, results.get(str(call.pk), BatchResult()))
    return is_complete


def _store(call: DocumentCall, result: BatchResult) -> None:
    usage = RoundUsage(
        model=settings.SAGE_CLASSIFY_MODEL, tokens=result.tokens, first_token_ms=None, duration_ms=0
    )
    if result.stop_reason in _GOOD:
        call_records.store_answer(call, result.text, usage)
        return
    if result.stop_reason:
        call_records.store_usage(call, usage, is_batch=True)
    call_records.fail_call(call, NO_ANSWER)
    call.state = DocumentCallState.FAILED


async def _prepare(
    user_id: int, document_ids: Collection[int], services: Services, *, number: int
) -> _Prepared | None:
    """Return the next call of a batch; None if no document is left."""
    reader = f"{READER}{number}"
    while claim := await in_database(
        claim_chosen, user_id=user_id, reader=reader, document_ids=document_ids, is_first_try=True
    ):
        batch = await in_database(begin, claim)
        try:
            for stage in (find_duplicates, read_text, hold, read_pictures, choose_references):
                batch = await in_database(settle, await stage(batch, services))
        except Refused as refusal:  # pages are read from their pictures at once, at the full price
            await in_database(partial(put_back, claim, state=DocumentState.WAITING, reason=str(refusal)))
            continue
        if batch.items:
            return await in_database(_open, batch.claim, batch.items)
    return None


def _open(claim: Claim, items: Sequence[Item]) -> _Prepared:
    knowledge = read_knowledge()
    pending = pending_call(
        user_id=claim.user_id, purpose=CallPurpose.CLASSIFY, document_ids=claim.document_ids
    )
    if (
        pending is not None
        and pending.state == DocumentCallState.OPEN
        and not pending.batch
        and withdraw(pending)
    ):
        pending = None
    fitting = take_what_fits(items, knowledge)
    if pending is not None:
        fitting = [item for item in items if pending.is_for(item.document.pk)]
    kept = [item.document.pk for item in fitting]
    if others := [each for each in claim.document_ids if each not in kept]:
        put_back(claim, document_ids=others)
    claim = keep(claim, kept)
    update_documents(claim.rows(), claimed_at=timezone.now() + A_DAY)
    around = read_surroundings(claim.user_id, claim.client_id)
    request = build_request(fitting, knowledge=knowledge, around=around, tools=())
    call = pending or open_call(
        CallPlan(
            user_id=claim.user_id,
            client_id=claim.client_id,
            purpose=CallPurpose.CLASSIFY,
            key=f"classify:{uuid4().hex}",
            document_ids=kept,
            request=request,
            prefix=prefix_of(request),
            prompt_tokens=request_tokens(request),
        )
    )
    if pending is not None and pending.state == DocumentCallState.OPEN:
        # An earlier run numbered the documents, perhaps with others among them.
        request = replace(request, messages=json.loads(pending.request))
    return _Prepared(claim=claim, call=call, request=request)


def _within_budget(user_id: int, prepared: Sequence[_Prepared]) -> list[_Prepared]:
    """Return the calls for which the user's budget lasts; the documents of the others wait."""
    daily, kept, tokens = settings.SAGE_DAILY_TOKENS, list[_Prepared](), 0
    for one in prepared:
        try:
            if daily is not None:
                refuse_over_budget(user_id=user_id, daily_tokens=daily - tokens)
        except Refused as refusal:
            put_back(one.claim, state=DocumentState.WAITING, reason=str(refusal))
            continue
        tokens += one.call.prompt_tokens
        kept.append(one)
    return kept
