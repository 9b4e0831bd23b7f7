"""What a model server says of itself: asked once per process, and again after a failure.

Only a server at `ANTHROPIC_BASE_URL` is asked, at the addresses that llama.cpp and Ollama have in addition
to the Messages API. Nothing is asked of Anthropic and of the practice model. No answer is no error: the
server is then taken for an unknown one that may be far away.
"""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import PurePath
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

import structlog
from django.conf import settings

ServerKind = Literal["anthropic", "practice", "llama.cpp", "ollama", "other"]

PROBE_SECONDS = 2.0
"""For each of at most four requests; a server that doesn't take the first one gets no other."""
SILENT_SECONDS = 15.0
MAX_ANSWER_BYTES = 4 << 20  # llama.cpp's contains the chat template, Ollama's the licence
UNSTATED_OLLAMA_TOKENS = 4_096
"""What Ollama loads a model with on most machines, however much the model could read."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """A model server as it describes itself; `context_tokens` is None where it doesn't say.

    `has_tools` is whether the model's template renders tools, None where the server doesn't say.
    """

    kind: ServerKind
    model: str
    context_tokens: int | None = None
    has_sight: bool = False
    has_batches: bool = False
    has_tools: bool | None = None

    @property
    def is_local(self) -> bool:
        """Whether it runs the model itself, on a machine of its own: slow, and one request at a time."""
        return self.kind in ("llama.cpp", "ollama")


@dataclass(slots=True)
class _Probed:
    server: ModelServer
    asked_at: float
    is_reached: bool
    is_doubtful: bool = False

    def is_good(self, silent_seconds: float) -> bool:
        return (self.is_reached and not self.is_doubtful) or time.monotonic() - self.asked_at < silent_seconds


_probed: dict[tuple[str, str], _Probed] = {}
_asking = threading.Lock()


def model_server(*, silent_seconds: float = SILENT_SECONDS) -> ModelServer:
    """Return the server of `SAGE_MODEL`. May wait for it, a few seconds at most: not for event loops.

    One that couldn't be reached isn't asked again for `silent_seconds`.
    """
    model, url = settings.SAGE_MODEL, settings.ANTHROPIC_BASE_URL
    if settings.IS_PRACTICE_MODEL:
        return ModelServer(kind="practice", model=model, has_sight=True, has_batches=True)
    if not url or _is_anthropic(url):
        return ModelServer(kind="anthropic", model=model, has_sight=True, has_batches=True)
    with _asking:
        known = _probed.get((url, model))
        if known is None or not known.is_good(silent_seconds):
            known = _probed[url, model] = _ask_again(known, url, model, settings.ANTHROPIC_API_KEY)
        return known.server


def known_server() -> ModelServer | None:
    """Return the server as it was last probed, without waiting; None before that."""
    if settings.IS_PRACTICE_MODEL or not settings.ANTHROPIC_BASE_URL:
        return model_server()
    known = _probed.get((settings.ANTHROPIC_BASE_URL, settings.SAGE_MODEL))
    return known.server if known else None


def is_local_server() -> bool:
    """Return whether the server is known to be a local one, without waiting."""
    server = known_server()
    return server is not None and server.is_local


def probed_context_tokens() -> int | None:
    """Return how much a local server says that the model can read, without waiting; None otherwise."""
    server = known_server()
    return server.context_tokens if server is not None and server.is_local else None


def doubt_server(*, silent_seconds: float = SILENT_SECONDS) -> None:
    """Ask the server again, in a thread: a request to it failed, so it may be another one by now."""
    known = _probed.get((settings.ANTHROPIC_BASE_URL, settings.SAGE_MODEL))
    if known is not None:
        known.is_doubtful = True
        if not known.is_good(silent_seconds):
            ask = partial(model_server, silent_seconds=silent_seconds)
            threading.Thread(target=ask, name="ask the model's server", daemon=True).start()


def _ask_again(known: _Probed | None, url: str, model: str, api_key: str) -> _Probed:
    """Probe a server; while it can't be reached, what it said before holds."""
    try:
        server, is_reached = probe(url, model, api_key), True
    except (OSError, HTTPException) as error:
        logger.info("model_server_not_probed", error=type(error).__name__)
        server, is_reached = known.server if known else ModelServer(kind="other", model=model), False
    else:
        logger.info("model_server_probed", kind=server.kind, context_tokens=server.context_tokens)
    return _Probed(server=server, asked_at=time.monotonic(), is_reached=is_reached)


def probe(url: str, model: str, api_key: str = "") -> ModelServer:
    """Ask a server what it is. Raises `OSError` or `HTTPException` where it can't be reached."""
    server = _Server(url, api_key)
    said = server.ask("/props")
    if isinstance(said.get("default_generation_settings"), dict):
        return _llama_cpp(said)
    if server.name.startswith("llama.cpp"):  # it wants a key, or hides this
        return ModelServer(kind="llama.cpp", model=model)
    if isinstance(server.ask("/api/version").get("version"), str):
        shown = server.ask("/api/show", {"model": model})
        if isinstance(shown.get("model_info"), dict):
            return _ollama(model, shown, server.ask("/api/ps"))
    has_batches = isinstance(server.ask("/v1/messages/batches?limit=1").get("data"), list)
    return ModelServer(kind="other", model=model, has_batches=has_batches)


def _llama_cpp(props: Mapping[str, Any]) -> ModelServer:
    alias, path = props.get("model_alias"), props.get("model_path")
    senses, template = props.get("modalities"), props.get("chat_template_caps")
    return ModelServer(
        kind="llama.cpp",
        model=str(alias or PurePath(str(path or "")).stem),
        context_tokens=_tokens(props["default_generation_settings"].get("n_ctx")),
        has_sight=isinstance(senses, dict) and senses.get("vision") is True,
        has_tools=bool(template.get("supports_tools")) if isinstance(template, dict) else None,
    )


def _ollama(model: str, shown: Mapping[str, Any], running: Mapping[str, Any]) -> ModelServer:
    able = shown.get("capabilities")
    able = able if isinstance(able, list) else None
    return ModelServer(
        kind="ollama",
        model=model,
        context_tokens=_ollama_tokens(model, shown, running),
        has_sight=able is not None and "vision" in able,
        has_tools=None if able is None else "tools" in able,
    )


def _ollama_tokens(model: str, shown: Mapping[str, Any], running: Mapping[str, Any]) -> int:
    """Return the context that the model is loaded with, or will be: what it could read is more."""
    models = running.get("models")
    for each in models if isinstance(models, list) else ():
        is_it = isinstance(each, dict) and model in (each.get("name"), each.get("model"))
        if is_it and (loaded := _tokens(each.get("context_length"))):
            return loaded
    for line in str(shown.get("parameters") or "").splitlines():
        name, _, value = line.partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return int(value)
    trained = [
        tokens
        for key, value in shown["model_info"].items()
        if str(key).endswith(".context_length") and (tokens := _tokens(value))
    ]
    return min([*trained, UNSTATED_OLLAMA_TOKENS])


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _is_anthropic(url: str) -> bool:
    host = (urlsplit(url).hostname or "").lower()
    return host == "anthropic.com" or host.endswith(".anthropic.com")


class _Server:
    """JSON over HTTP, one connection a request. `name` is what the last answer says of the server."""

    def __init__(self, url: str, api_key: str) -> None:
        self._url: SplitResult = urlsplit(url)
        self._headers = {"x-api-key": api_key} if api_key else {}
        self.name = ""

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Return the object that is answered with status 200, otherwise an empty one."""
        connect = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        connection = connect(self._url.hostname or "", self._url.port, timeout=PROBE_SECONDS)
        try:
            connection.request(
                "GET" if body is None else "POST",
                self._url.path.rstrip("/") + path,
                body=None if body is None else json.dumps(body),
                headers={**self._headers, "content-type": "application/json"},
            )
            answer = connection.getresponse()
            self.name = answer.getheader("server", "")
            text = answer.read(MAX_ANSWER_BYTES)
        finally:
            connection.close()
        if answer.status != 200:
            return {}
        try:
            said = json.loads(text)
        except ValueError:
            return {}
        return said if isinstance(said, dict) else {}
