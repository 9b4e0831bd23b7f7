"""The product's practice model: reachable by this process only, and stateless."""

import aiohttp
import psutil
from django.test import override_settings

from coaching.model_client.connection import ModelConnection
from coaching.practice.api.records import RequestLog
from coaching.practice.server import PracticeServer
from tests.practice.conftest import HEADERS, request_body


def open_ports() -> set[int]:
    """Return the ports on which this process listens."""
    listening = psutil.Process().net_connections("tcp")
    return {item.laddr.port for item in listening if item.status == psutil.CONN_LISTEN}


@override_settings(IS_PRACTICE_MODEL=True)
async def test_the_products_practice_model_answers_nobody_without_the_key_of_this_start() -> None:
    before = open_ports()
    connection = ModelConnection()
    try:
        await connection.client()
        (port,) = open_ports() - before
        async with aiohttp.ClientSession() as session:
            for path in ("/v1/messages", "/v1/messages/count_tokens"):
                url = f"http://127.0.0.1:{port}{path}"
                answer = await session.post(url, json=request_body(), headers=HEADERS)
                assert (answer.status, (await answer.json())["error"]["type"]) == (
                    401,
                    "authentication_error",
                )
    finally:
        await connection.close()


async def test_the_right_key_is_answered_and_no_body_is_kept_unless_a_test_asks() -> None:
    headers = {**HEADERS, "x-api-key": "of-this-start"}
    for keeps_bodies in (False, True):
        async with (
            PracticeServer(tokens_per_second=0, api_key="of-this-start", keeps_bodies=keeps_bodies) as server,
            aiohttp.ClientSession() as session,
        ):
            answer = await session.post(f"{server.url}/v1/messages", json=request_body(), headers=headers)
            assert answer.status == 200
            (record,) = server.requests
        assert bool(record.body) is keeps_bodies


def test_only_the_newest_requests_are_remembered_by_number_and_by_bytes() -> None:
    log = RequestLog(kept=3, kept_bytes=1000)
    for number in range(1, 6):
        log.keep_body(log.open("/"), {"number": number}, 300)
    assert [record.number for record in log.all()] == [3, 4, 5]
    log.keep_body(log.open("/"), {"number": 6}, 600)
    assert [record.number for record in log.all()] == [5, 6]
    log.keep_body(log.open("/"), {"number": 7}, 5000)
    assert [record.number for record in log.all()] == [7]
