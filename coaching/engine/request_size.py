"""The body of a request, and estimates of its tokens and its reply's by their sizes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

BYTES_PER_TOKEN = 3.4
"""Of a request's JSON, rather too few."""
IMAGE_TOKENS = 1_600
"""Of an image that isn't larger than the models' own limit: its pixels count, not its bytes."""
ROOMY_PROMPT_TOKENS = 150_000
"""Where such a prompt fits into the context, its tokens aren't estimated for each request."""
LEAST_REPLY_TOKENS = 256

_encode_all = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return a request's body. Raises `ValueError` for what can't be sent."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:  # numbers over 64 bits are JSON too
        return _encode_all(body).encode()


def tokens_of_bytes(size: int) -> int:
    return int(size / BYTES_PER_TOKEN)


def prompt_tokens(params: Mapping[str, Any]) -> int:
    """Estimate the tokens of a prompt."""
    messages = params.get("messages", ())
    prompt = [params.get("system"), params.get("tools"), messages]
    pictures = list(_pictures(messages))
    size = len(encoded({"prompt": prompt})) - sum(pictures)
    return tokens_of_bytes(size) + IMAGE_TOKENS * len(pictures)


def room_for_reply(params: Mapping[str, Any], context_tokens: int) -> int:
    """Return how long a reply may be after its prompt, whose tokens are estimated; at least a short one."""
    wanted: int = params["max_tokens"]
    if wanted + ROOMY_PROMPT_TOKENS <= context_tokens:
        return wanted
    return min(wanted, max(LEAST_REPLY_TOKENS, context_tokens - prompt_tokens(params)))


def _pictures(messages: Iterable[Mapping[str, Any]]) -> Iterator[int]:
    """Yield how many bytes each picture takes in a request."""
    for message in messages:
        for block in message["content"]:
            if isinstance(block, Mapping) and block.get("type") == "image":
                yield len(block.get("source", {}).get("data", ""))
