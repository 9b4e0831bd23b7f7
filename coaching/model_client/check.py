"""Finds out what a model server really does with Sage's requests: what `manage.py check_model` prints.

Servers leave out what they don't know without saying so; so tools are looked for in the size of the prompt,
and structured output in the answer. A few short requests, which take a minute together at most.
"""

import asyncio
import json
import secrets
from dataclasses import asdict, dataclass, field
from typing import Any

from django.conf import settings

from coaching.engine.errors import FailureReason, UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import ModelClient
from coaching.engine.reply import Reply
from coaching.model_client.patience import turn_seconds
from coaching.model_client.requests import read_reply
from coaching.model_client.servers import ModelServer, model_server

MAX_SECONDS = 58.0
READING_NUMBERS = 60
MAX_TOKENS = 48
FIRST_PROMPT_TOKENS = 8_700
"""About what the first request of a conversation takes, where the context isn't small."""
SMALL_CONTEXT_TOKENS = 16_000
GOOD_CONTEXT_TOKENS = 32_768

_TOOL: dict[str, Any] = {
    "name": "save_note",
    "description": "Saves a note of the person in a file of theirs, under a title. Call it when they ask for "
    "it, never before, and tell them the title afterwards.",
    "input_schema": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "At most eight words, in the person's language."},
            "text": {"type": "string", "description": "The note, as the person said it."},
        },
        "required": ["title", "text"],
        "additionalProperties": False,
    },
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": ["letter", "invoice"]}},
    "required": ["kind"],
    "additionalProperties": False,
}
LEAST_TOOL_TOKENS = 40
"""The tool takes about a hundred tokens in any tokenizer."""


@dataclass(slots=True, kw_only=True)
class ModelCheck:
    """What was found; None is what couldn't be found out, `advice` what to set."""

    model: str
    server: str
    is_local: bool
    address: str
    is_reached: bool = False
    failure: str = ""
    context_tokens: int | None = None
    is_streaming: bool | None = None
    tokens_without_tools: int | None = None
    tokens_with_tools: int | None = None
    has_tools: bool | None = None
    has_structured_output: bool | None = None
    has_sight: bool = False
    has_batches: bool = False
    tokens_read_per_second: float | None = None
    tokens_written_per_second: float | None = None
    advice: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


async def check_model(client: ModelClient, *, seconds: float = MAX_SECONDS) -> ModelCheck:
    """Ask the server of `SAGE_MODEL` what it is, and try what Sage needs, in at most `seconds`."""
    server = await asyncio.to_thread(model_server)
    found = ModelCheck(
        model=settings.SAGE_MODEL,
        server=server.kind,
        is_local=server.is_local,
        address=settings.ANTHROPIC_BASE_URL,
        context_tokens=server.context_tokens,
        has_sight=server.has_sight,
        has_batches=server.has_batches,
    )
    requester = _Requester(client, until=asyncio.get_running_loop().time() + seconds)
    try:
        await _try_all(found, requester)
    except UpstreamError as error:
        found.failure = str(error)
        found.advice.append(_ADVICE.get(error.reason) or _failed(error, is_reached=found.is_reached))
    found.advice += _advice(found, server)
    return found


class _Requester:
    def __init__(self, client: ModelClient, *, until: float) -> None:
        self._client = client
        self._until = until

    async def request(self, words: str, *, max_tokens: int, **fields: Any) -> Reply:
        """Return the reply to a message. Raises `UpstreamError`, also where the time is up."""
        left = self._until - asyncio.get_running_loop().time()
        request = ModelRequest(
            model=settings.SAGE_MODEL,
            max_tokens=max_tokens,
            # No server has read this before, so that what it says of its speed is true.
            messages=[{"role": "user", "content": f"[{secrets.token_hex(4)}] {words}"}],
            **fields,
        )
        return await read_reply(self._client, request, seconds=max(0.1, left), spent=lambda _: None)


async def _try_all(found: ModelCheck, requester: _Requester) -> None:
    without = await requester.request("Say yes.", max_tokens=1)
    found.is_reached = True
    with_tools = await requester.request(
        "Say yes.", max_tokens=1, tools=[_TOOL], tool_choice={"type": "auto"}
    )
    found.tokens_without_tools = without.tokens.prompt_tokens
    found.tokens_with_tools = with_tools.tokens.prompt_tokens
    found.has_tools = found.tokens_with_tools - found.tokens_without_tools >= LEAST_TOOL_TOKENS
    numbers = " ".join(str(number) for number in range(READING_NUMBERS))
    _measure(
        found,
        await requester.request(
            f"Tell me about a walk. Ignore these numbers: {numbers}", max_tokens=MAX_TOKENS
        ),
    )
    structured = await requester.request(
        "Which kind of document is this? “Please pay 80 euros by Friday.”",
        max_tokens=MAX_TOKENS,
        output_format={"type": "json_schema", "schema": _SCHEMA},
    )
    found.has_structured_output = _fits(structured.text)


def _measure(found: ModelCheck, reply: Reply) -> None:
    """Take the speeds, and whether the answer came in parts: a whole one comes with its first token."""
    if reply.first_token_ms is None:
        return
    writing_ms = reply.duration_ms - reply.first_token_ms
    found.is_streaming = writing_ms > 0.05 * reply.first_token_ms
    found.tokens_read_per_second = _per_second(reply.tokens.prompt_tokens, reply.first_token_ms)
    if found.is_streaming:
        found.tokens_written_per_second = _per_second(reply.tokens.output_tokens - 1, writing_ms)


def _per_second(tokens: int, milliseconds: int) -> float | None:
    return round(1000 * tokens / milliseconds, 1) if tokens > 0 and milliseconds > 0 else None


def _fits(text: str) -> bool:
    try:
        answer = json.loads(text)
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.keys() == {"kind"} and answer["kind"] in ("letter", "invoice")


_ADVICE: dict[FailureReason, str] = {
    "unauthorized": "The server refuses the key: set ANTHROPIC_API_KEY to the one it wants.",
    "unknown_model": "The server doesn't know this model: set SAGE_MODEL to a name that it lists.",
}


def _failed(error: UpstreamError, *, is_reached: bool) -> str:
    if error.cause == "slow" or error.reason == "out_of_time":
        return "The server didn't answer within a minute: use a smaller model, or a faster machine."
    if error.reason == "rejected":
        return "The server refuses such requests: the reason stands above."
    if is_reached:
        return "The server broke off: look into its log."
    return "The server doesn't answer: start it, or correct ANTHROPIC_BASE_URL (without /v1)."


def _advice(found: ModelCheck, server: ModelServer) -> list[str]:
    """Return what to set, by what was found."""
    if server.kind == "practice":
        return ["It is a script: for a model set ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL or SAGE_MODEL_FILE."]
    said = []
    if found.has_tools is False:
        said.append(
            "Tools don't reach the model, so Sage can save and look up nothing: use a model whose chat "
            "template has tools; an older llama-server needs --jinja."
        )
    if found.has_structured_output is False:
        said.append(
            "The model doesn't answer in the form that it is structured for: documents may end in review."
        )
    if found.context_tokens is None and server.kind == "other":
        said.append("The server doesn't say how much the model can read: set SAGE_CONTEXT_TOKENS.")
    if found.context_tokens is not None and found.context_tokens < SMALL_CONTEXT_TOKENS:
        said.append(
            f"The context is small: if the model can read more, give it {GOOD_CONTEXT_TOKENS} tokens "
            "(llama-server -c, OLLAMA_CONTEXT_LENGTH)."
        )
    if found.is_streaming is False:
        said.append("Answers come whole, not as they are written: switch on streaming in the proxy.")
    if speed := found.tokens_read_per_second:
        reading = min(FIRST_PROMPT_TOKENS, found.context_tokens or FIRST_PROMPT_TOKENS) / speed
        if reading > turn_seconds() / 2:
            said.append(
                f"A first answer begins after about {reading:,.0f} s: set SAGE_TURN_SECONDS to "
                f"{min(3600, round(reading * 3, -1)):,.0f} or more."
            )
    return said
