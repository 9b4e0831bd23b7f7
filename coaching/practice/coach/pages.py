"""Answers whoever shows the practice model pages that are pictures: it can't see, so they have no text."""

from collections.abc import Mapping
from typing import Any

import orjson

from coaching.practice.script import Reply

_MARK = "[page "


def shows_pages(body: Mapping[str, Any]) -> bool:
    """Return whether a request asks for the text of pages that are pictures."""
    schema = (body.get("output_config") or {}).get("format", {}).get("schema", {})
    return "pages" in schema.get("properties", {})


def shown_pages(body: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the pages that a request shows."""
    texts = [block.get("text", "") for block in body["messages"][0]["content"]]
    return [int(text[len(_MARK) : -1]) for text in texts if text.startswith(_MARK)]


def write_down(body: Mapping[str, Any], texts: Mapping[int, str]) -> Reply:
    """Return the answer with these texts by page; other pages have none."""
    rows = [{"page": number, "text": texts.get(number, "")} for number in shown_pages(body)]
    return Reply.of(orjson.dumps({"pages": rows}).decode(), tokens_per_second=0.0)
