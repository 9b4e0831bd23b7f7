"""Puts the bytes of pictures into a request that names them, just before it is sent."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from coaching.engine.messages import ModelRequest
from coaching.library.documents.pictures import read_pictures, referred_picture

GONE = "[this picture isn’t there any more]"


def with_pictures(request: ModelRequest, *, user_id: int) -> tuple[ModelRequest, bool]:
    """Return the request with its pictures, and whether all of them are there. Sync ORM code.

    Nothing is read for a request without pictures. One that was deleted or withheld since becomes words.
    """
    ids = {
        found
        for message in request.messages
        for block in message["content"]
        if (found := referred_picture(block)) is not None
    }
    if not ids:
        return request, True
    pictures = read_pictures(user_id=user_id, ids=ids)
    messages = [
        {**message, "content": [_filled(block, pictures) for block in message["content"]]}
        for message in request.messages
    ]
    return replace(request, messages=messages), pictures.keys() == ids


def _filled(block: dict[str, Any], pictures: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    document_id = referred_picture(block)
    if document_id is None:
        return block
    marks = {key: value for key, value in block.items() if key == "cache_control"}
    return {**pictures.get(document_id, {"type": "text", "text": GONE}), **marks}
