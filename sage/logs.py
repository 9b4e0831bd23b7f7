"""Structured logs: ids and facts, no user text.

JSON lines, or readable lines on a terminal. Messages, file names, query strings and exception messages may
contain what a person wrote, so none are logged. Messages of our own exceptions are: they are written for the
log.
"""

import logging
import re
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from uuid import UUID

import structlog
from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware
from structlog.typing import EventDict, Processor, WrappedLogger

OUR_PACKAGES = ("coaching.", "sessions_app.", "sage.")
UNLOGGED_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


class RequestLogMiddleware(RequestMiddleware):
    """Binds a request id and logs each request by route and ids, never by path."""

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        """Log the request and its response, except for probes, which come every second."""
        if request.path_info in UNLOGGED_PATHS:
            return self.get_response(request)
        return super().__call__(request)

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Return method and route; of the arguments only ids."""
        match = request.resolver_match
        if match is None:
            return f"{request.method} -"
        ids = [f"{name}={value}" for name, value in match.kwargs.items() if isinstance(value, UUID | int)]
        return " ".join([f"{request.method} /{match.route}", *ids])


class WordlessArguments(logging.Filter):
    """Replaces exceptions in a record's arguments by their type: libraries often log `str(exc)`."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                _name_of(value) if isinstance(value, BaseException) else value for value in record.args
            )
        return True


class WordlessMessages(logging.Filter):
    """Removes users' text from library messages: paths, which contain file names, and exceptions."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if isinstance(request, HttpRequest):
            _describe_refusal(record, request)
        elif record.name == "asyncio" and isinstance(record.msg, str):
            plain = _PLAIN_WORDS.match(record.msg)
            record.msg = plain[0].strip() if plain else ""
        elif isinstance(record.msg, str) and record.msg.startswith("Traceback "):
            record.msg = _without_words(record.msg)
        return True


_PLAIN_WORDS = re.compile(r"(?:[A-Za-z]+ ?)+")


def _describe_refusal(record: logging.LogRecord, request: HttpRequest) -> None:
    """Describe a refused request by its route; of a CSRF reason only the fixed part is kept."""
    reason = ""
    if record.name == "django.security.DisallowedHost":
        # Anybody can send one, so it is no error of Sage.
        reason = " (its host isn't in ALLOWED_HOSTS)"
        record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
    if record.name == "django.security.csrf" and isinstance(record.args, tuple) and record.args:
        reason = f" ({str(record.args[0]).partition(' - ')[0]})"
    record.msg = f"request refused{reason}: {RequestLogMiddleware.format_request(request)}"
    record.args = ()


def _without_words(printed: str) -> str:
    """Return a printed traceback without source lines and exception messages."""
    *lines, last = printed.rstrip().splitlines()
    places = [line for line in lines if line.startswith("  File ")]
    return "\n".join([*places, last.partition(":")[0]])


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedError:
    """An error as it was logged. `event` may be a library's sentence."""

    event: str
    logger: str
    level: str
    ids: Mapping[str, str]
    error: BaseException | None


_reporters: list[Callable[[LoggedError], None]] = []
_IDS = ("request", "request_id", "session_id", "turn_id", "user_id")


def report_errors_to(reporter: Callable[[LoggedError], None]) -> None:
    """Pass every error that is logged from now on to `reporter`, too."""
    _reporters.append(reporter)


def report_error(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Pass an error to the reporters and return the event unchanged."""
    if _reporters and event.get("level") in {"error", "critical"}:
        logged = LoggedError(
            event=str(event.get("event", "")),
            logger=str(event.get("logger", "")),
            level="fatal" if event["level"] == "critical" else "error",
            ids={name: str(event[name]) for name in _IDS if name in event},
            error=_error_in(event.get("exc_info")),
        )
        for reporter in _reporters:
            reporter(logged)
    return event


def render_exception(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace `exc_info` by types and code locations of the exception chain."""
    error = _error_in(event.pop("exc_info", None))
    if error is not None:
        event["exception"] = _chain_of(error)
    return event


def _error_in(given: object) -> BaseException | None:
    if given is True:
        given = sys.exc_info()
    if isinstance(given, tuple):
        given = given[1]
    return given if isinstance(given, BaseException) else None


def drop_words(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Drop fields added by libraries that aren't ids."""
    for key in ("user_agent", "ip", "positional_args"):
        event.pop(key, None)
    return event


_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    report_error,
    render_exception,
    drop_words,
]
"""Processors for our events and those of libraries."""
_QUIET = {"level": "WARNING"}
_LOGGERS: dict[str, Any] = {
    "django": {"handlers": [], "level": "WARNING", "propagate": True},
    # It logs paths; `RequestLogMiddleware` logs the same requests by route.
    "django.request": {"level": "CRITICAL"},
    "django.server": _QUIET,
    "daphne": _QUIET,
    "asyncio": _QUIET,
    "boto3": _QUIET,
    "botocore": _QUIET,
    "httpx2": _QUIET,  # a line per request to the model, before its first token
    "psycopg.pool": _QUIET,
    "procrastinate": _QUIET,
    # Two lines for each request, and arguments of calls that a program got wrong.
    "mcp": {"level": "ERROR"},
    "procrastinate.worker": {"level": "INFO"},
}


def build_logging(*, is_terminal: bool) -> dict[str, Any]:
    """Build Django's LOGGING and configure structlog to use it."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    renderer: Processor = (
        structlog.dev.ConsoleRenderer() if is_terminal else structlog.processors.JSONRenderer()
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"arguments": {"()": WordlessArguments}, "messages": {"()": WordlessMessages}},
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            }
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "structured",
                "filters": ["messages", "arguments"],
            }
        },
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": _LOGGERS,
    }


def _chain_of(error: BaseException) -> list[str]:
    lines: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        lines.append(_message_of(current))
        lines.extend(_places_of(current.__traceback__))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return lines


def _message_of(error: BaseException) -> str:
    is_ours = type(error).__module__.startswith(OUR_PACKAGES)
    return f"{_name_of(error)}: {error}" if is_ours else _name_of(error)


def _name_of(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _places_of(trace: TracebackType | None) -> list[str]:
    return [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
