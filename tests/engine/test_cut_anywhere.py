"""What models without a profile write shows the same wherever it is cut, and the next request is clean.

The SDK's client reads it from a transport in memory, network read by network read.
"""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import httpx2
import pytest

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.events import RoundBoundary, RoundRestarted, TextDelta
from coaching.engine.json_text import without_fence
from coaching.engine.messages import ModelRequest, StoredMessage, build_api_messages
from coaching.engine.tools import Toolset
from tests.engine.upstream import SAVED_FIELDS, WORDS, Bench, Upstream, end, event, start, stored, words

CALL = '{"name": "save_file", "arguments": {"path": "a.md"}}'
SENTENCE = "I am here with you today, my friend. "
FENCED = f"```\n<tool_call>{CALL}</tool_call>\n```\nThat is a call."
ASKED, GO_ON = (StoredMessage(role="user", content=text) for text in ("Hello", "Go on"))
TAGS = ("<think", "</think", "[THINK", "<tool_call", "<|", "</s>", "[INST", "_of_turn", "<｜")
SCHEMA = {"type": "object", "properties": {"level": {"type": "string"}}, "required": ["level"]}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a reply comes to: its text, the note below it, how many calls ran."""

    text: str
    note: str | None = None
    ran: int = 0


class Memory(httpx2.AsyncBaseTransport):
    """A server in memory: each request gets the next reply, whose parts are reads of their own."""

    def __init__(self) -> None:
        self.replies: list[Sequence[str]] = []
        self.bodies: list[dict[str, Any]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(json.loads(await request.aread()))
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=_Reads(self.replies.pop(0)))


class _Reads(httpx2.AsyncByteStream):
    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield start() + words(0, is_closed=False)
        for part in self._parts:
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": part})
        yield event("content_block_stop", index=0) + end("end_turn")


@dataclass
class Local:
    """A model of somebody's own, and the engine."""

    server: Memory
    client: AnthropicClient

    async def show(self, *parts: str, then: str = "Saved.", **more: Any) -> tuple[Shown, StoredMessage]:
        """Return what a reply in parts comes to, and what history keeps of it."""
        bench = self._bench()
        self.server.replies = [parts, [then]]
        request = _request(bench, [ASKED], **more)
        result = await bench.part(request=request, runs_written=lambda: True)
        assert result.outcome == "completed"
        shown = Shown(text=_seen(bench), note=result.user_message, ran=len(bench.ran))
        return shown, _without_ids(stored(bench))

    async def next_request(self, answer: StoredMessage) -> str:
        """Return the messages of the next turn's request as JSON."""
        bench = self._bench()
        self.server.replies = [["Yes."]]
        await bench.part(request=_request(bench, [ASKED, answer, GO_ON]))
        assert _seen(bench) == "Yes."
        return json.dumps(self.server.bodies[-1]["messages"], ensure_ascii=False)

    def _bench(self) -> Bench:
        bench = Bench(upstream=Upstream(), client=self.client)
        bench.tool("save_file")
        return bench


def _request(bench: Bench, history: list[StoredMessage], **more: Any) -> ModelRequest:
    return ModelRequest(
        model="local-model",
        max_tokens=1_000,
        tools=Toolset(bench.tools).definitions(),
        messages=build_api_messages(history, SAVED_FIELDS),
        **more,
    )


def _without_ids(message: StoredMessage) -> StoredMessage:
    """Return a message whose calls have numbers for ids, which are new for each call in text."""
    calls = tuple(replace(each, tool_use_id=f"toolu_{at}") for at, each in enumerate(message.calls))
    return replace(message, calls=calls)


def _seen(bench: Bench) -> str:
    """Return the text that a page has in the end."""
    rounds = [""]
    for item in bench.events:
        match item:
            case TextDelta(text):
                rounds[-1] += text
            case RoundBoundary():
                rounds.append("")
            case RoundRestarted():
                rounds[-1] = ""
    return "".join(rounds)


def _cuts(written: str) -> Iterator[Sequence[str]]:
    yield list(written)
    for at in range(1, len(written)):
        yield written[:at], written[at:]


@pytest.fixture
async def local() -> AsyncIterator[Local]:
    server = Memory()
    http_client = httpx2.AsyncClient(transport=server)
    async with AnthropicClient("key", "http://model.test", http_client=http_client) as client:
        yield Local(server, client)


REPLIES = {
    "<think>A greeting.\n</think>\nHello": Shown(text="Hello"),
    "So: <Reasoning>Hm.</reasoning>Hello": Shown(text="So: Hello"),
    "[THINK]Hm.[/THINK]Hello": Shown(text="Hello"),
    "They greet me.\n</think>\n\nHello": Shown(text="Hello"),
    "I should greet them </think>Hello": Shown(text="Hello"),
    "<think>\nIt is a tag.\n\nIt hides.": Shown(text="It is a tag.\n\nIt hides."),
    "Write <think> first and </think> last.": Shown(text="Write <think> first and </think> last."),
    "<think>\n": Shown(text="", note=WORDS.nothing_said),
    "<|im_start|>assistant\nHello<|im_end|>": Shown(text="Hello"),
    "Hello<|im_end|>\n<|im_start|>user\nHi": Shown(text="Hello"),
    "Gern 😊 <|im_end|>\n<|im_start|>user\nHi": Shown(text="Gern 😊 "),
    "Here it is <|eot_id|>more": Shown(text="Here it is "),
    "Hello<end_of_turn>\n<start_of_turn>user": Shown(text="Hello"),
    "Hello <|end|><|user|>Hi": Shown(text="Hello "),
    "Bye.</s>[INST] x [/INST]": Shown(text="Bye."),
    "Hello<｜end▁of▁sentence｜><｜User｜>Hi": Shown(text="Hello"),
    "Turns end with <|im_end|> or </s> there.": Shown(text="Turns end with <|im_end|> or </s> there."),
    f"Yes.\n<tool_call>{CALL}</tool_call>": Shown(text="Yes.\nSaved.", ran=1),
    f"<tool_call>{CALL}</tool_call>Done": Shown(text="Done"),
    FENCED: Shown(text=FENCED),
    "Breathe in, breathe out.\n" * 6: Shown(text="Breathe in, breathe out.\n" * 6),
}
GOOD = '{"level": "none"}'
FORMAT = {"type": "json_schema", "schema": SCHEMA}
PROSE = "The level is none."
ANSWERS = {
    PROSE: 1,
    GOOD: 0,
    '<think>The level.</think>{"level": "<none>"}': 0,
    '```json\n{"level": "none"}\n```<|im_end|>': 0,
}
"""How often each is asked for again as a structured answer."""


@pytest.mark.slow
@pytest.mark.parametrize(("written", "expected"), REPLIES.items(), ids=map(repr, REPLIES))
async def test_a_reply_shows_the_same_wherever_it_is_cut(local: Local, written: str, expected: Shown) -> None:
    shown, kept = await local.show(written)
    assert shown == expected
    for parts in _cuts(written):
        assert await local.show(*parts) == (shown, kept), parts
    following = await local.next_request(kept)
    assert [tag for tag in TAGS if tag in following] == [tag for tag in TAGS if tag in expected.text]


@pytest.mark.slow
async def test_seventeen_thousand_characters_of_repetition_end_at_the_fourth_sentence(local: Local) -> None:
    written = SENTENCE * 460
    said = (SENTENCE * 4).strip()
    for parts in [[written], *islice(_cuts(written), len(said) + 10)]:
        shown, kept = await local.show(*parts)
        assert shown == Shown(text=said, note=WORDS.repeated_itself), parts
    assert (await local.next_request(kept)).count(SENTENCE.strip()) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("written", "again"), ANSWERS.items())
async def test_prose_for_json_is_asked_for_once_more_wherever_it_is_cut(
    local: Local, written: str, again: int
) -> None:
    for parts in _cuts(written):
        local.server.bodies.clear()
        shown, _ = await local.show(*parts, then=GOOD, output_format=FORMAT)
        (first,), *others = (body["messages"] for body in local.server.bodies)
        assert len(others) == again
        assert json.loads(without_fence(shown.text))["level"].strip("<>") == "none"
        for (other,) in others:
            assert other["content"][:-1] == first["content"]
            assert PROSE not in other["content"][-1]["text"]
