"""Whole texts in parts that fit into a call, and the calls about them, each paid once.

A part is sent without a mark for the cache: nothing asks about it again.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from django.conf import settings

from coaching.context.budget import count_tokens
from coaching.context.fences import fence, open_tag
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import ModelClient
from coaching.library.documents.reasons import reason_for_models
from coaching.library.pipeline.call_records import CallPlan
from coaching.library.pipeline.calls import NO_LIMIT, make_call, prefix_of
from coaching.library.pipeline.subjects import Subject
from coaching.model_client.context_size import most_input
from coaching.model_client.patience import job_tokens
from coaching.models import CallPurpose

PART_TOKENS = 20_000
MAX_ANSWER_TOKENS = 8_192
SLACK = 0.9
"""The share of a part that a piece of a long page takes: tokens aren't spread evenly."""

Block = dict[str, Any]


async def ask(
    subject: Subject,
    request: ModelRequest,
    purpose: CallPurpose,
    key: str,
    client: ModelClient,
    *,
    slot: AbstractAsyncContextManager[None] = NO_LIMIT,
) -> str:
    """Return the answer to a request about a document: the committed one, or the model's.

    Raises what `make_call` raises.
    """
    document = subject.document
    plan = CallPlan(
        user_id=document.user_id,
        client_id=document.client_id,
        purpose=purpose,
        key=key,
        document_ids=[document.pk],
        request=request,
        prefix=prefix_of(request),
        prompt_tokens=sum(
            count_tokens(block["text"]) for block in [*request.system, *request.messages[0]["content"]]
        ),
    )
    call = await make_call(plan, client=client, slot=slot)
    return call.answer


def request_about(
    content: Sequence[Block],
    form: dict[str, Any],
    *,
    system: Sequence[str],
    answer_tokens: int = MAX_ANSWER_TOKENS,
) -> ModelRequest:
    """Build a request with structured output. Each text of its system prompt is cached with those before."""
    cached = {"type": "ephemeral"}
    return ModelRequest(
        model=settings.SAGE_MODEL,
        max_tokens=job_tokens(answer_tokens),
        system=[{"type": "text", "text": text, "cache_control": cached} for text in system],
        messages=[{"role": "user", "content": list(content)}],
        output_format={"type": "json_schema", "schema": form},
    )


def part_tokens(system: Sequence[str] = ()) -> int:
    """Return how many tokens of a text fit into a call of `SAGE_MODEL` with its system prompt."""
    beside = sum(map(count_tokens, system))
    return most_input(settings.SAGE_MODEL, PART_TOKENS + beside) - beside


def parts_of(subject: Subject, tokens: int) -> Sequence[str]:
    """Return the text with its pages marked, in parts of at most so many tokens."""
    pages = subject.text.split("\f")
    is_marked = len(pages) > 1
    numbers = subject.pages_read if len(subject.pages_read) == len(pages) else range(1, len(pages) + 1)
    pieces = [
        (f"[page {number}]\n" if is_marked else "") + piece
        for number, page in zip(numbers, pages, strict=True)
        for piece in _pieces(page, tokens)
    ]
    parts = [""]
    for piece in pieces:
        if parts[-1] and count_tokens(parts[-1]) + count_tokens(piece) > tokens:
            parts.append("")
        parts[-1] = f"{parts[-1]}\n{piece}" if parts[-1] else piece
    return parts


def _pieces(page: str, tokens: int) -> Iterator[str]:
    """Yield a page; in pieces that end at a line or a word if it is too long for one part."""
    whole = count_tokens(page)
    most = len(page) if whole <= tokens else max(1, int(len(page) * tokens * SLACK / whole))
    start = 0
    while len(page) - start > most:
        latest = start + most
        ends = (page.rfind(mark, start + most // 2, latest) for mark in ("\n", ". ", " "))
        end = next((end + 1 for end in ends if end >= 0), latest)
        yield page[start:end]
        start = end
    yield page[start:]


def document_block(subject: Subject, part: str) -> Block:
    """Return a part of the text as a request has it, fenced: it is data."""
    document = subject.document
    facts = {
        "name": document.name,
        "type": document.file_type,
        "note": reason_for_models(document.reading_note),
    }
    return text_block(f"{open_tag('document', facts)}\n{fence(part)}\n</document>")


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}
