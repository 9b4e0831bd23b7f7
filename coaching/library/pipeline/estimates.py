"""What reading documents would cost, estimated before anybody asks for it, and rather too high.

A document is classified, and once it is filed its whole text is read for facts. Second readings and analyses
of transcripts aren't counted: few documents have them.
"""

import math

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Length
from django.utils import timezone

from coaching.context.budget import PROSE_CHARACTERS
from coaching.engine.profiles import cost_micro_usd
from coaching.engine.request_size import IMAGE_TOKENS
from coaching.engine.usage import TokenCounts
from coaching.library.pipeline.facts import MAX_TOKENS
from coaching.library.pipeline.page_reading import MAX_PAGES
from coaching.library.pipeline.sent_text import DOCUMENT_TOKENS
from coaching.library.pipeline.whole_texts import PART_TOKENS
from coaching.models import Document

SAMPLE = 200
"""The lengths of so many texts are measured, which reads them; others are taken to be like them."""
CLASSIFY_TOKENS, CLASSIFY_ANSWER = 6_000, 500
"""Tokens of instructions and references sent with a document's text, and of the answer."""
PART_INSTRUCTIONS, PART_ANSWER = 2_000, 1_000
PAGE_ANSWER = 600
"""Of a page that is a picture, whose text is written down."""


def estimate_reading(documents: QuerySet[Document]) -> int | None:
    """Estimate in millionths of a dollar; None where a model's price isn't known. Sync ORM code."""
    count = documents.count()
    sizes = documents.order_by("id").values_list(Coalesce(Length("text__text"), 0), "page_count")[:SAMPLE]
    costs = [_cost_of(characters, pages) for characters, pages in sizes]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    return math.ceil(sum(known) * count / len(known)) if known else 0


def _cost_of(characters: int, pages: int) -> int | None:
    tokens = math.ceil(characters / PROSE_CHARACTERS)
    pictures = 0 if characters else min(max(pages, 1), MAX_PAGES)
    written = pictures * PAGE_ANSWER
    tokens = min(tokens + written, MAX_TOKENS)
    parts = math.ceil(tokens / PART_TOKENS)
    classified = CLASSIFY_TOKENS + min(tokens, DOCUMENT_TOKENS)
    costs = (
        _cost(settings.SAGE_CLASSIFY_MODEL, pictures * IMAGE_TOKENS, written),
        _cost(settings.SAGE_CLASSIFY_MODEL, classified, CLASSIFY_ANSWER),
        _cost(settings.SAGE_MODEL, tokens + parts * PART_INSTRUCTIONS, parts * PART_ANSWER),
    )
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _cost(model: str, read: int, written: int) -> int | None:
    counts = TokenCounts(input_tokens=read, output_tokens=written)
    return cost_micro_usd(model, counts, on=timezone.now().date())
