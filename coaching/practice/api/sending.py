"""Sends the answer to a request: as a stream at its pace, or as one message, with its fault."""

import time
from dataclasses import dataclass

import orjson
from aiohttp import web

from coaching.practice.api.delivery import Delivery, Gates, Pace, break_connection, stay_silent
from coaching.practice.api.errors import ApiError
from coaching.practice.api.exchange import Exchange
from coaching.practice.api.faulty_stream import spoil_frames
from coaching.practice.api.records import ReceivedRequest, RequestLog
from coaching.practice.api.responses import bytes_response, json_response, stream_response
from coaching.practice.api.wire import stream_frames, whole_message
from coaching.practice.script import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Sends answers. `pace` and `chunk_characters` are for replies that say neither."""

    gates: Gates
    pace: Pace
    chunk_characters: int
    log: RequestLog

    async def send(
        self,
        request: web.Request,
        record: ReceivedRequest,
        exchange: Exchange,
        request_id: str,
        *,
        is_streamed: bool,
    ) -> web.StreamResponse:
        """Send an answer that no fault has replaced before."""
        send = self._stream if is_streamed else self._whole
        return await send(request, record, exchange, request_id)

    async def _stream(
        self, request: web.Request, record: ReceivedRequest, exchange: Exchange, request_id: str
    ) -> web.StreamResponse:
        response = stream_response(request_id)
        delivery = Delivery(request, response, self.gates, self._pace_of(exchange.reply))
        frames = stream_frames(exchange.answer, exchange.reply.chunk_characters or self.chunk_characters)
        await delivery.open()
        record.answered_at = time.monotonic()
        self.log.notify()
        if exchange.fault is not None and exchange.fault.kind == "slow_start":
            await stay_silent(exchange.fault.seconds)
        try:
            await delivery.run(spoil_frames(exchange.fault, frames, exchange.answer))
        finally:
            if delivery.is_over:
                record.stop_reason = exchange.answer.stop_reason
        return response

    async def _whole(
        self, request: web.Request, record: ReceivedRequest, exchange: Exchange, request_id: str
    ) -> web.StreamResponse:
        """Answer with one JSON message; a stream fault cuts it in the middle."""
        message = whole_message(exchange.answer)
        response = json_response(message, request_id)
        fault = exchange.fault
        if fault is not None and fault.kind == "stall":
            await stay_silent(fault.seconds)
        elif fault is not None and fault.kind in {"cut", "reset"}:
            break_connection(request, is_reset=fault.kind == "reset")
        elif fault is not None and fault.kind in {"broken_json", "end_early"}:
            text = orjson.dumps(message)
            response = bytes_response(text[: len(text) // 2], request_id)
        elif fault is not None and fault.kind == "error_event":
            raise ApiError(fault.status, fault.message)
        record.stop_reason = exchange.answer.stop_reason
        return response

    def _pace_of(self, reply: Reply) -> Pace:
        rate, first = reply.tokens_per_second, reply.first_token_seconds
        return Pace(
            tokens_per_second=self.pace.tokens_per_second if rate is None else rate,
            first_token_seconds=self.pace.first_token_seconds if first is None else first,
        )
