"""Routes by which tests in another process steer a practice server.

They exist only on a server that was built with `control=True`: they answer anybody who can reach
the port, and they show what others have sent.
"""

from typing import Any, Protocol

import orjson
from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from coaching.practice.api.delivery import Gates
from coaching.practice.api.errors import ApiError, error_body
from coaching.practice.api.records import RequestLog
from coaching.practice.faults.fault import Fault, FaultBook
from coaching.practice.script import Block, Hold, Note, Reply, ScriptBook, Text, Thinking, ToolUse

_FAULTS = TypeAdapter(list[Fault])
_BLOCK_TYPES: dict[str, type[Any]] = {
    "text": Text,
    "thinking": Thinking,
    "note": Note,
    "tool_use": ToolUse,
    "hold": Hold,
}
_REPLY_OPTIONS = TypeAdapter(Reply)


class Steered(Protocol):
    """What these routes steer."""

    faults: FaultBook
    scripts: ScriptBook
    gates: Gates
    log: RequestLog


def control_routes(server: Steered) -> list[web.RouteDef]:
    """Return the routes under `/practice/` for one server."""

    async def push_faults(request: web.Request) -> web.Response:
        value = await _read(request)
        try:
            faults = _FAULTS.validate_python(value if isinstance(value, list) else [value])
        except ValidationError as error:
            return _refuse(str(error))
        server.faults.push(*faults)
        return _answer({"waiting": len(server.faults)})

    async def push_script(request: web.Request) -> web.Response:
        value = await _read(request)
        try:
            replies = [read_reply(reply) for reply in value["replies"]]
            server.scripts.push(replies, key=str(value.get("key", "")))
        except (ApiError, KeyError, TypeError, ValidationError) as error:
            return _refuse(f"{type(error).__name__}: {error}")
        return _answer({"queued": len(replies)})

    async def release(request: web.Request) -> web.Response:
        server.gates.release(str((await _read(request))["gate"]))
        return _answer({})

    async def show_requests(_: web.Request) -> web.Response:
        return _answer({"requests": [record.as_json() for record in server.log.all()]})

    async def reset(_: web.Request) -> web.Response:
        for kept in (server.faults, server.scripts, server.gates, server.log):
            kept.clear()
        return _answer({})

    return [
        web.post("/practice/faults", push_faults),
        web.post("/practice/script", push_script),
        web.post("/practice/release", release),
        web.post("/practice/reset", reset),
        web.get("/practice/requests", show_requests),
    ]


def read_reply(value: Any) -> Reply:
    """Read a reply from JSON: a string, or `{"blocks": [...], "stop_reason"?, ...}`.

    Each block is `{"type": "text"|"thinking"|"note"|"tool_use"|"hold", ...}` with the fields of its
    class. Raises `ApiError`, `ValidationError`, or `TypeError` for something else.
    """
    if isinstance(value, str):
        return Reply.of(value)
    options = {key: option for key, option in value.items() if key != "blocks"}
    checked = _REPLY_OPTIONS.validate_python({"blocks": (), **options})
    blocks = tuple(_read_block(block) for block in value["blocks"])
    return Reply.of(*blocks, **{key: getattr(checked, key) for key in options})


def _read_block(value: dict[str, Any]) -> Block:
    block_type = _BLOCK_TYPES.get(value.get("type", ""))
    if block_type is None:
        raise ApiError(400, f"unknown block type {value.get('type')!r}")
    fields = {key: field for key, field in value.items() if key != "type"}
    block: Block = TypeAdapter(block_type).validate_python(fields)
    return block


async def _read(request: web.Request) -> Any:
    try:
        return orjson.loads(await request.read())
    except orjson.JSONDecodeError as error:
        raise web.HTTPBadRequest(text=f"not JSON: {error}") from error


def _answer(value: Any) -> web.Response:
    return web.Response(body=orjson.dumps(value), content_type="application/json")


def _refuse(message: str) -> web.Response:
    body = orjson.dumps(error_body(400, message, "req_practice_control"))
    return web.Response(status=400, body=body, content_type="application/json")
