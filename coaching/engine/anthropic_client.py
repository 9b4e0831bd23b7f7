"""The model client over the SDK: the only module that imports `anthropic`.

The SDK sends the request (address, key, headers, error classes); `stream` reads the raw body. Nothing is
retried here, because the caller knows the deadline.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from types import TracebackType
from typing import Any, Self

import anthropic
import httpx2
from anthropic.types.messages import MessageBatchResult

from coaching.engine.cleaned_reply import CleanedReplyStream, cleaned_text
from coaching.engine.errors import UpstreamError
from coaching.engine.failures import failure_of
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import DEFAULT_TIMEOUTS, BatchResult, ReplyStream, StreamTimeouts
from coaching.engine.profiles import profile_for
from coaching.engine.request_size import encoded, prompt_tokens, room_for_reply
from coaching.engine.server_words import error_text, server_words
from coaching.engine.stream import TRANSPORT_ERRORS, SSEReplyStream
from coaching.engine.usage import TokenCounts

DEFAULT_BASE_URL = "https://api.anthropic.com"

RawStream = anthropic.AsyncStream[anthropic.types.RawMessageStreamEvent]

_log = logging.getLogger(__name__)


class AnthropicClient:
    """A `ModelClient` over the SDK: one per process and base URL, not per turn.

    `context_of` says how many tokens a model takes: replies get no more than a request leaves of them.
    `reuses_connections`: llama.cpp closes one after a stream without saying so, and the next request on it
    fails.
    """

    def __init__(
        self,
        api_key: str = "",
        base_url: str = "",
        *,
        context_of: Callable[[str], int] | None = None,
        http_client: httpx2.AsyncClient | None = None,
        reuses_connections: bool = True,
    ) -> None:
        self._context_of = context_of
        # Never empty, or the SDK searches for a key in other places.
        self._sdk = anthropic.AsyncAnthropic(
            api_key=api_key or "none",
            base_url=base_url or DEFAULT_BASE_URL,
            http_client=http_client or anthropic.DefaultAioHttpClient(),
            default_headers=None if reuses_connections else {"connection": "close"},
            max_retries=0,
        )

    async def aclose(self) -> None:
        await self._sdk.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    @asynccontextmanager
    async def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    ) -> AsyncIterator[ReplyStream]:
        """Send a request and yield its reply as a stream; leaving the block closes the connection.

        Every failure, also while the stream is read, is raised as `UpstreamError`.
        """
        scope = asyncio.timeout(timeouts.total_seconds)
        try:
            async with scope:
                started = time.monotonic()
                stream = await self._open(request, timeouts)
                try:
                    async with aclosing(stream.response.aiter_bytes()) as chunks:
                        words = partial(server_words, request=request)
                        reply = SSEReplyStream(chunks, stream.response.headers, started, words_of=words)
                        if profile_for(request.model).is_claude:
                            yield reply
                        else:
                            yield CleanedReplyStream(
                                reply,
                                request.written_calls,
                                count_prompt=lambda: prompt_tokens(build_params(request)),
                                is_structured=request.output_format is not None,
                            )
                finally:
                    await _close_quietly(stream)
        except TimeoutError:
            if not scope.expired():
                raise
            raise UpstreamError("out_of_time", detail="total timeout", cause="slow") from None

    async def create_batch(self, requests: Mapping[str, ModelRequest]) -> str:
        """Send requests under keys of ours; return the batch's id. Raises `UpstreamError`."""
        rows: list[Any] = [{"custom_id": key, "params": self._params(each)} for key, each in requests.items()]
        with _failures():
            return (await self._sdk.messages.batches.create(requests=rows)).id

    async def batch_results(self, batch_id: str) -> Mapping[str, BatchResult] | None:
        """Return the results of a batch by key; None while it is under way. Raises `UpstreamError`."""
        with _failures():
            batch = await self._sdk.messages.batches.retrieve(batch_id)
            if batch.processing_status != "ended":
                return None
            found = await self._sdk.messages.batches.results(batch_id)
            return {row.custom_id: _batch_result(row.result) async for row in found}

    async def _open(self, request: ModelRequest, timeouts: StreamTimeouts) -> RawStream:
        timeout = httpx2.Timeout(
            timeouts.read_idle_seconds, connect=timeouts.connect_seconds, pool=timeouts.connect_seconds
        )
        body = {**self._params(request), "stream": True}
        try:
            # Like `messages.create`, which would copy the whole history.
            stream: RawStream = await self._sdk.post(
                "/v1/messages",
                content=encoded(body),
                cast_to=anthropic.types.Message,
                options={"timeout": timeout},
                stream=True,
                stream_cls=RawStream,
            )
        except anthropic.APIStatusError as error:
            raise _from_status(error, server_words(error_text(error.body), request)) from error
        except anthropic.APIConnectionError as error:
            raise _unreachable(error) from error
        except anthropic.CredentialsError as error:
            raise UpstreamError("unauthorized", detail=type(error).__name__) from error
        except (anthropic.AnthropicError, *TRANSPORT_ERRORS) as error:
            raise UpstreamError("unavailable", detail=type(error).__name__, is_retryable=True) from error
        except ValueError as error:  # a value that can't be encoded, such as a lone surrogate
            raise UpstreamError("rejected", detail=type(error).__name__) from error
        return stream

    def _params(self, request: ModelRequest) -> dict[str, Any]:
        params = build_params(request)
        if self._context_of is not None:
            params["max_tokens"] = room_for_reply(params, self._context_of(request.model))
        return params


def _batch_result(result: MessageBatchResult) -> BatchResult:
    if result.type != "succeeded":
        return BatchResult()
    message, usage = result.message, result.message.usage
    written = usage.cache_creation
    text = "".join(block.text for block in message.content if block.type == "text")
    return BatchResult(
        text=text if profile_for(message.model).is_claude else cleaned_text(text),
        stop_reason=message.stop_reason or "",
        tokens=TokenCounts(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_creation_5m_tokens=written.ephemeral_5m_input_tokens if written else 0,
            cache_creation_1h_tokens=written.ephemeral_1h_input_tokens if written else 0,
            cache_read_tokens=usage.cache_read_input_tokens or 0,
        ),
    )


@contextmanager
def _failures() -> Iterator[None]:
    """Raise what the SDK raises as `UpstreamError`."""
    try:
        yield
    except anthropic.APIStatusError as error:
        raise _from_status(error) from error
    except (anthropic.AnthropicError, *TRANSPORT_ERRORS) as error:
        raise UpstreamError("unavailable", detail=type(error).__name__, is_retryable=True) from error


def build_params(request: ModelRequest) -> dict[str, Any]:
    """Build the body of a request, with the fields of its model's profile."""
    profile = profile_for(request.model)
    params: dict[str, Any] = {
        "model": request.model,
        "max_tokens": min(request.max_tokens, profile.max_output_tokens),
        "messages": request.messages,
        **profile.request_fields(),
    }
    if request.output_format:
        params["output_config"] = {**params.get("output_config", {}), "format": request.output_format}
    optional = {
        "system": request.system,
        "tools": request.tools,
        "tool_choice": request.tool_choice if request.tools else None,
        "cache_control": request.cache_control if profile.is_claude else None,
    }
    return params | {name: value for name, value in optional.items() if value}


async def _close_quietly(stream: RawStream) -> None:
    try:
        await stream.close()
    except TRANSPORT_ERRORS as error:
        _log.debug("closing a stream failed: %s", type(error).__name__)


def _unreachable(error: anthropic.APIConnectionError) -> UpstreamError:
    """Build the failure of a request without a response: slow only where the server had taken it."""
    reason = error.__cause__ or error
    is_slow = isinstance(error, anthropic.APITimeoutError) and not isinstance(reason, httpx2.ConnectTimeout)
    return UpstreamError(
        "unavailable",
        detail=type(reason).__name__,
        is_retryable=True,
        cause="slow" if is_slow else "server",
    )


def _from_status(error: anthropic.APIStatusError, words: str = "") -> UpstreamError:
    kind, headers = str(error.type or ""), error.response.headers
    return failure_of(error.status_code, kind, headers, body=error.body, words=words)
