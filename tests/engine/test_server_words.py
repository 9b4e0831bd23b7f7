"""What a server says about a failure stands in the log, without words of people and without keys."""

import pytest

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.server_words import MAX_CHARACTERS, error_text, server_words
from coaching.practice.faults.fault import Fault
from coaching.practice.server import PracticeServer

SAID = "My sister Annegret found the café on Lindenstraße 4711 and told nobody about the tokens."
REQUEST = ModelRequest(
    model="claude-sonnet-5-5",
    max_tokens=100,
    system=[{"type": "text", "text": "Her name is Brunhilde."}],
    messages=[{"role": "user", "content": SAID}],
)


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ("prompt is too long: 214563 tokens > 200000 maximum", None),
        ("the slot context shift is disabled", None),
        ("messages.3.content.0.text: Field required", None),
        ("model runner has unexpectedly stopped, CUDA out of memory", None),
        ("invalid text 'My sister Annegret found the'", "invalid text '…'"),
        ("near 'and told nobody about the tokens'", "near '…'"),
        ("Her is not She, but My", "… is not She, but …"),
        ("bad name: Brunhilde, ANNEGRET", "bad name: …"),
        (r"bad: caf\u00e9 and Lindenstra\u00dfe", "bad: … and …"),
        ("cut at 'Annegr'", "cut at '…'"),
        ("number 4711 is not 12", "number … is not 12"),
        ("Incorrect API key provided: sk-abc", "Incorrect API key provided: …"),
        ("key 8f14e45fceea167a5a36dedd4bea2543", "key …"),
        ("one\ntwo\x1b[31m\u202ethree", "one two[31mthree"),
        (None, ""),
        ({"a": 1}, ""),
    ],
)
def test_the_servers_words_are_kept_and_those_of_people_hidden(text: object, logged: str | None) -> None:
    assert server_words(text, REQUEST) == (text if logged is None else logged)


def test_a_long_text_is_shortened() -> None:
    shown = server_words("overloaded " * 1000, REQUEST)
    assert len(shown) == MAX_CHARACTERS
    assert shown.endswith("…")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"type": "error", "error": {"type": "api_error", "message": "a"}}, "a"),
        ({"error": "a"}, "a"),
        ({"message": "a"}, "a"),
        ({"detail": "a"}, "a"),
        ({"detail": [{"loc": ["body"], "msg": "a"}, {"msg": "b"}, 3]}, "a; b"),
        ({"detail": {"error": {"message": "a"}}}, "a"),
        ("a", "a"),
        (None, None),
        ([], []),
    ],
)
def test_errors_of_several_servers_are_read(body: object, text: object) -> None:
    assert error_text(body) == text


@pytest.mark.parametrize(
    "fault", [Fault(kind="status", status=500), Fault(kind="error_event", status=500)], ids=lambda f: f.kind
)
async def test_a_failure_names_what_the_server_said(fault: Fault) -> None:
    message = "cannot decode the batch near 'Annegret found the café'"
    async with PracticeServer(tokens_per_second=0) as server:
        server.faults.push(Fault(kind=fault.kind, status=fault.status, message=message))
        async with AnthropicClient("practice", server.url) as client:
            with pytest.raises(UpstreamError) as failed:
                await read(client)
    assert "cannot decode the batch near '…'" in str(failed.value)


async def read(client: AnthropicClient) -> None:
    async with client.stream(REQUEST) as stream:
        async for _ in stream:
            pass
