"""A document's text by page number, and what a model wrote down of pages that are pictures. No database."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coaching.engine.json_text import scrub_surrogates, without_fence

MAX_PAGE_CHARACTERS = 20_000
ENOUGH_CHARACTERS = 200
"""A picture with as much text is known by its text."""
FEWEST_CHARACTERS = 3
"""Of a page with fewer letters and digits nothing is stored."""

_UNWANTED = {
    **dict.fromkeys([*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0xFEFF, 0xFFFE, 0xFFFF]),
    **dict.fromkeys([0x0C, 0x2028, 0x2029], "\n"),
}
"""Control characters; form feeds part pages."""


class _Page(BaseModel):
    model_config = ConfigDict(extra="ignore")

    page: int
    text: str = ""


class _Answer(BaseModel):
    pages: list[_Page] = Field(default_factory=list)


PAGES_FORMAT: dict[str, Any] = {
    "type": "json_schema",
    "schema": {
        "type": "object",
        "properties": {
            "pages": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"page": {"type": "integer"}, "text": {"type": "string"}},
                    "required": ["page", "text"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["pages"],
        "additionalProperties": False,
    },
}


def read_pages(answer: str, sent: Collection[int]) -> Mapping[int, str]:
    """Return the texts by page, empty for a page without text; pages that weren't sent are left out.

    Of two texts for a page the first counts. An answer that can't be read has no pages.
    """
    try:
        said = _Answer.model_validate(scrub_surrogates(json.loads(without_fence(answer))))
    except (ValidationError, ValueError, RecursionError):
        return {}
    texts: dict[int, str] = {}
    for each in said.pages:
        if each.page in sent:
            texts.setdefault(each.page, clean_page(each.text))
    return texts


def pages_of(text: str, pages_read: Sequence[int]) -> dict[int, str]:
    """Return the pages of a text by number; `pages_read` are their numbers, empty if all were read."""
    if not text.strip():
        return {}
    parts = text.split("\f")
    numbers = pages_read if len(pages_read) == len(parts) else range(1, len(parts) + 1)
    return dict(zip(numbers, parts, strict=True))


def says_enough(text: str) -> bool:
    """Say whether a picture's text tells what it is, without the picture."""
    return sum(map(str.isalnum, text)) >= ENOUGH_CHARACTERS


def with_pages(pages: Mapping[int, str], new: Mapping[int, str]) -> dict[int, str]:
    """Return the pages in order, each with what was read from its picture below the text that it had."""
    joined = dict(pages)
    for number, words in new.items():
        own = pages.get(number, "").strip()
        joined[number] = "\n\n".join(filter(None, (own if own not in words else "", words)))
    return dict(sorted(joined.items()))


def clean_page(text: str) -> str:
    """Return a page's text as it is stored; empty if hardly anything stands there."""
    kept = text[:MAX_PAGE_CHARACTERS].translate(_UNWANTED).strip()
    return kept if sum(map(str.isalnum, kept)) >= FEWEST_CHARACTERS else ""
