"""The rows of calls about documents: opened, sent, their rounds committed one by one, answered or failed.

The number of attempts is a call's fencing number: a run of it that was taken for dead writes nothing more.
`calls` asks the model.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from coaching.engine.errors import StaleRunnerError
from coaching.engine.messages import FinishedRound, ModelRequest, canonical_json
from coaching.engine.tools import ToolResult
from coaching.engine.usage import RoundUsage
from coaching.library.documents.locks import lock_documents
from coaching.model_client.patience import job_time
from coaching.model_client.usage import usage_row
from coaching.models import CallPurpose, CallUsage, Document, DocumentCall, DocumentCallState
from sessions_app.database import lock_until_commit
from sessions_app.limits import refuse_over_budget
from sessions_app.lock_spaces import LockSpace
from sessions_app.models import UsagePurpose

MAX_SENDS = 5
"""How often a call is begun: a kill or a lost connection costs one of them."""
WARM = timedelta(minutes=4)
"""How long a cached prefix surely lives after it was read last."""
WARMING = timedelta(seconds=60)
"""How long others wait for the first call with a prefix."""
IN_FLIGHT = timedelta(minutes=4)

_PURPOSES = {CallPurpose.CLASSIFY: UsagePurpose.CLASSIFY, CallPurpose.CRITIC: UsagePurpose.CRITIC}

Admission = Literal["go", "wait", "given_up", "withdrawn"]
StoredRound = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlan:
    """A call about documents of one client of a user. A call with this `key` is made once.

    `is_stored` is off for a request whose bytes are many and that is built the same way again.
    """

    user_id: int
    client_id: int
    purpose: CallPurpose
    key: str
    document_ids: Sequence[int]
    request: ModelRequest
    prefix: str
    prompt_tokens: int
    is_stored: bool = True


def open_call(plan: CallPlan) -> DocumentCall:
    """Return the call with the plan's key, made if there is none."""
    call, _ = DocumentCall.of(plan.user_id).get_or_create(
        key=plan.key,
        user_id=plan.user_id,
        defaults={
            "client_id": plan.client_id,
            "purpose": plan.purpose,
            "documents": list(plan.document_ids),
            "request": canonical_json(plan.request.messages) if plan.is_stored else "",
            "prefix": plan.prefix,
            "prompt_tokens": plan.prompt_tokens,
        },
    )
    return call


def pending_call(*, user_id: int, purpose: CallPurpose, document_ids: Collection[int]) -> DocumentCall | None:
    """Return the call about any of these documents whose answer hasn't been used for it yet."""
    calls = DocumentCall.of(user_id).filter(purpose=purpose).exclude(request="").exclude(state="failed")
    found = (
        calls.filter(documents__contains=[each]).exclude(used__contains=[each]).order_by("id").first()
        for each in document_ids
    )
    return next(filter(None, found), None)


@transaction.atomic
def begin_call(call: DocumentCall, *, daily_tokens: int | None) -> Admission:
    """Count an attempt, unless the first call with its prefix is still under way.

    Others read from the cache what that one writes. A call whose stored request has a document that was
    deleted or withheld since is `withdrawn`, and deleted. Raises `Refused` where the user's budget is used
    up, to which calls under way count with what they will probably take.
    """
    if withdraw(call):
        return "withdrawn"
    now = timezone.now()
    lock_until_commit(LockSpace.CALL_BUDGETS, call.user_id % 2**31)
    if daily_tokens is not None:
        since = now - job_time(IN_FLIGHT)
        open_calls = DocumentCall.of(call.user_id).filter(state=DocumentCallState.OPEN, sent_at__gt=since)
        under_way = open_calls.exclude(id=call.pk).aggregate(tokens=Sum("prompt_tokens"))["tokens"] or 0
        refuse_over_budget(user_id=call.user_id, daily_tokens=daily_tokens - under_way)
    lock_until_commit(LockSpace.CALL_PREFIXES, int(call.prefix[:7] or "0", 16))
    same = DocumentCall.unscoped.filter(prefix=call.prefix).exclude(id=call.pk)
    is_warm = same.filter(state=DocumentCallState.ANSWERED, answered_at__gt=now - WARM).exists()
    if not is_warm and same.filter(state=DocumentCallState.OPEN, sent_at__gt=now - WARMING).exists():
        return "wait"
    locked = DocumentCall.of(call.user_id).select_for_update().filter(id=call.pk).first()
    if locked is None:  # deleted with its documents since the check above
        return "withdrawn"
    if locked.attempts >= MAX_SENDS:
        return "given_up"
    locked.attempts, locked.sent_at = locked.attempts + 1, now
    locked.save(update_fields=["attempts", "sent_at"])
    call.attempts, call.sent_at, call.rounds = locked.attempts, locked.sent_at, locked.rounds
    return "go"


def withdraw(call: DocumentCall) -> bool:
    """Delete an open call of which a document is gone or is never to be sent now; say whether it was so."""
    ids = set(call.documents)
    if Document.of(call.user_id).filter(id__in=ids, is_withheld=False).count() == len(ids):
        return False
    DocumentCall.of(call.user_id).filter(id=call.pk, state=DocumentCallState.OPEN).delete()
    return True


def read_rounds(call: DocumentCall) -> list[StoredRound]:
    rounds: list[StoredRound] = json.loads(call.rounds) if call.rounds else []
    return rounds


def store_round(call: DocumentCall, finished: FinishedRound, usage: RoundUsage | None) -> None:
    """Commit a round with its usage; the last one, if it is whole, with the call's answer."""
    try:
        _store_round(call, finished, usage)
    except StaleRunnerError:
        if usage is not None:  # the tokens are spent, whoever runs the call now
            store_usage(call, usage)
        raise


@transaction.atomic
def _store_round(call: DocumentCall, finished: FinishedRound, usage: RoundUsage | None) -> None:
    locked = _locked(call)
    if usage is not None:
        store_usage(call, usage)
    if not finished.is_last:
        rounds = [*read_rounds(locked), _stored(finished)]
        locked.rounds = canonical_json(rounds)
        locked.save(update_fields=["rounds"])
    elif finished.stop_reason in ("end_turn", "stop_sequence"):
        _answer(locked, finished.text)
        call.state, call.answer = locked.state, locked.answer


def _answer(locked: DocumentCall, text: str) -> None:
    locked.state, locked.answer, locked.answered_at = DocumentCallState.ANSWERED, text, timezone.now()
    locked.save(update_fields=["state", "answer", "answered_at"])


@transaction.atomic
def store_answer(call: DocumentCall, text: str, usage: RoundUsage) -> None:
    """Commit an answer that came in a batch, with its usage; nothing if another run has done so.

    Of a call that was deleted with its documents, only the usage.
    """
    try:
        _answer(_locked(call), text)
    except StaleRunnerError:
        if DocumentCall.of(call.user_id).filter(id=call.pk).exists():
            return
    store_usage(call, usage, is_batch=True)
    call.state, call.answer = DocumentCallState.ANSWERED, text


@transaction.atomic
def store_usage(call: DocumentCall, usage: RoundUsage, *, is_batch: bool = False) -> None:
    """Store what a reply took: paid for, whoever runs the call now."""
    row = usage_row(usage, is_batch=is_batch)
    row.user_id, row.purpose = call.user_id, _PURPOSES.get(CallPurpose(call.purpose), UsagePurpose.DOCUMENT)
    row.save()
    if (
        DocumentCall.of(call.user_id).select_for_update(no_key=True).filter(id=call.pk).first()
    ):  # or it's gone
        CallUsage.of(call.user_id).create(call=call, usage=row)


@transaction.atomic
def store_result(call: DocumentCall, tool_use_id: str, result: ToolResult) -> None:
    """Commit a tool call's result, unless it has one."""
    _settle(_locked(call), tool_use_id, lambda: result)


@transaction.atomic
def run_effect(call: DocumentCall, tool_use_id: str, effect: Callable[[], ToolResult]) -> ToolResult:
    """Run a tool's effect and commit it with its result, at most once."""
    lock_documents(call.user_id, call.documents, to_refer=True)  # what the effect adds refers to them
    return _settle(_locked(call), tool_use_id, effect)


def _settle(locked: DocumentCall, tool_use_id: str, effect: Callable[[], ToolResult]) -> ToolResult:
    rounds = read_rounds(locked)
    results: dict[str, Any] = next(
        (each["results"] for each in rounds if tool_use_id in each["call_ids"]), {}
    )
    if tool_use_id in results:
        return ToolResult(**results[tool_use_id])
    result = effect()
    results[tool_use_id] = {"content": result.content, "is_error": result.is_error}
    locked.rounds = canonical_json(rounds)
    locked.save(update_fields=["rounds"])
    return result


def note_batch(calls: Collection[DocumentCall], batch_id: str) -> None:
    """Note that calls were sent in a batch, so that a later run waits for its answers."""
    for call in calls:
        call.batch, call.attempts, call.sent_at = batch_id, call.attempts + 1, timezone.now()
        # One that was deleted with its documents meanwhile matches no row.
        DocumentCall.of(call.user_id).filter(id=call.pk).update(
            batch=call.batch, attempts=call.attempts, sent_at=call.sent_at
        )


def calls_in_batches() -> Sequence[DocumentCall]:
    """Return the calls of all users whose batches aren't known to have ended."""
    return list(DocumentCall.unscoped.filter(state=DocumentCallState.OPEN).exclude(batch="").order_by("id"))


def fail_call(call: DocumentCall, sentence: str) -> None:
    """End a call without an answer."""
    DocumentCall.of(call.user_id).filter(id=call.pk, state=DocumentCallState.OPEN).update(
        state=DocumentCallState.FAILED,
        error=sentence[:500],
        request="",
        rounds="",
        answered_at=timezone.now(),
    )


def _locked(call: DocumentCall) -> DocumentCall:
    """Return the call's row, locked. Raises `StaleRunnerError` if another run has it."""
    rows = DocumentCall.of(call.user_id).select_for_update()
    locked = rows.filter(id=call.pk, attempts=call.attempts, state=DocumentCallState.OPEN).first()
    if locked is None:
        raise StaleRunnerError(f"call {call.pk} at attempt {call.attempts}")
    return locked


def _stored(finished: FinishedRound) -> StoredRound:
    return {
        "number": finished.number,
        "blocks": list(finished.blocks),
        "stop_reason": finished.stop_reason,
        "message_id": finished.message_id,
        "model": finished.model,
        "call_ids": [call.tool_use_id for call in finished.calls],
        "results": {},
    }
