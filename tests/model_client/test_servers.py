"""What is asked of a model server about itself, over real sockets.

llama.cpp's answers are as its server gave them (October 2026); Ollama's are as its documentation shows them.
"""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import override_settings

from coaching.model_client.servers import (
    doubt_server,
    is_local_server,
    known_server,
    model_server,
    probe,
    probed_context_tokens,
)
from coaching.practice.server import PracticeServer

PROPS = {
    "default_generation_settings": {"n_ctx": 8192, "params": {"n_predict": -1}},
    "total_slots": 1,
    "model_alias": "SmolLM2-135M-Instruct.Q4_1",
    "model_path": "/models/SmolLM2-135M-Instruct.Q4_1.gguf",
    "modalities": {"vision": False, "video": False, "audio": False},
    "chat_template_caps": {"supports_tools": False, "supports_system_role": True},
    "build_info": "b11549",
}
SHOWN = {
    "parameters": "temperature 0.7\nnum_ctx                        16384",
    "capabilities": ["completion", "vision", "tools"],
    "model_info": {"general.architecture": "gemma3", "gemma3.context_length": 131072},
}
NO_SHOWN_LIMIT = {**SHOWN, "parameters": "temperature 0.7", "capabilities": ["completion"]}


class Answers:
    """A server that answers each path with an object, and anything else with a 404."""

    def __init__(self, answers: Mapping[str, Any], *, name: str = "test") -> None:
        self.answers, self.name = dict(answers), name
        self.asked: list[str] = []
        self.url = ""


@contextmanager
def answering(answers: Mapping[str, Any], *, name: str = "test") -> Iterator[Answers]:
    said = Answers(answers, name=name)

    class Handler(BaseHTTPRequestHandler):
        def version_string(self) -> str:
            return said.name

        def do_GET(self) -> None:
            said.asked.append(self.path)
            found = said.answers.get(self.path)
            body = json.dumps(found if found is not None else {"error": "not found"}).encode()
            self.send_response(200 if found is not None else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    said.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield said
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def local() -> Iterator[None]:
    """The model is one of a server on this machine."""
    with (
        answering({"/props": PROPS}) as server,
        override_settings(IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL=server.url, SAGE_MODEL="own"),
    ):
        assert model_server().is_local
        yield


def test_llama_cpp_says_its_model_context_sight_and_tools() -> None:
    with answering({"/props": PROPS}, name="llama.cpp") as server:
        found = probe(server.url, "any-name")
    assert (found.kind, found.model, found.context_tokens) == (
        "llama.cpp",
        "SmolLM2-135M-Instruct.Q4_1",
        8192,
    )
    assert (found.is_local, found.has_sight, found.has_batches, found.has_tools) == (
        True,
        False,
        False,
        False,
    )


def test_llama_cpp_that_hides_its_properties_is_local_with_an_unknown_context() -> None:
    with answering({}, name="llama.cpp") as server:
        found = probe(server.url, "own")
    assert (found.kind, found.is_local, found.model, found.context_tokens) == ("llama.cpp", True, "own", None)


@pytest.mark.parametrize(
    ("shown", "running", "tokens"),
    [
        (SHOWN, {"models": []}, 16_384),
        (SHOWN, {"models": [{"name": "own", "model": "own", "context_length": 32_768}]}, 32_768),
        (SHOWN, {"models": [{"name": "other", "model": "other", "context_length": 32_768}]}, 16_384),
        # What the model could read isn't what Ollama loads it with: the rest is cut without a word.
        (NO_SHOWN_LIMIT, {}, 4_096),
    ],
)
def test_ollamas_context_is_what_the_model_is_loaded_with(
    shown: Mapping[str, Any], running: Mapping[str, Any], tokens: int
) -> None:
    answers = {"/api/version": {"version": "0.13.0"}, "/api/show": shown, "/api/ps": running}
    with answering(answers) as server:
        found = probe(server.url, "own")
    assert (found.kind, found.is_local, found.context_tokens) == ("ollama", True, tokens)
    assert found.has_sight is ("vision" in shown["capabilities"])
    assert found.has_tools is ("tools" in shown["capabilities"])


@pytest.mark.parametrize(
    "answers", [{}, {"/props": {"a": 1}}, {"/props": [], "/api/version": {"version": "1"}}]
)
def test_any_other_server_is_not_local_and_has_batches_only_where_it_lists_them(
    answers: Mapping[str, Any],
) -> None:
    with answering(answers) as server:
        found = probe(server.url, "own")
        server.answers["/v1/messages/batches?limit=1"] = {"data": []}
        assert probe(server.url, "own").has_batches
    assert (found.kind, found.is_local, found.has_batches, found.has_tools) == ("other", False, False, None)


async def test_the_practice_model_is_never_local_by_whatever_address() -> None:
    with override_settings(IS_PRACTICE_MODEL=True):
        assert (model_server().kind, is_local_server(), probed_context_tokens()) == ("practice", False, None)
    async with PracticeServer(tokens_per_second=0) as practice:
        found = await asyncio.to_thread(probe, practice.url, "own")
    assert (found.kind, found.is_local) == ("other", False)


@override_settings(IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL="")
def test_anthropic_is_not_probed() -> None:
    assert model_server().kind == "anthropic"
    with override_settings(ANTHROPIC_BASE_URL="https://api.anthropic.com"):
        assert (model_server().kind, probed_context_tokens()) == ("anthropic", None)


def test_a_server_is_probed_once_and_again_after_a_failure() -> None:
    with (
        answering({"/props": PROPS}) as server,
        override_settings(IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL=server.url, SAGE_MODEL="own"),
    ):
        assert (known_server(), is_local_server()) == (None, False)
        assert (model_server().context_tokens, probed_context_tokens()) == (8192, 8192)
        assert (len(server.asked), is_local_server()) == (1, True)
        server.answers["/props"] = {**PROPS, "default_generation_settings": {"n_ctx": 32_768}}
        doubt_server(silent_seconds=0)
        assert (model_server(silent_seconds=0).context_tokens, probed_context_tokens()) == (32_768, 32_768)
        assert len(server.asked) == 2


def test_what_a_server_said_holds_while_it_cannot_be_reached() -> None:
    with answering({"/props": PROPS}) as server:
        settings = override_settings(IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL=server.url, SAGE_MODEL="own")
        with settings:
            assert model_server().context_tokens == 8192
    with settings:
        doubt_server(silent_seconds=0)
        assert (
            model_server(silent_seconds=0).context_tokens,
            probed_context_tokens(),
            is_local_server(),
        ) == (
            8192,
            8192,
            True,
        )
    with override_settings(IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL=server.url, SAGE_MODEL="new"):
        assert (model_server().kind, probed_context_tokens()) == ("other", None)
