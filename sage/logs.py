"""Structured logs: ids and facts, never words.

JSON lines where nobody reads along, readable lines on a terminal. A message, a file name, a query string or
the text of an exception may hold what a person wrote; none of them is let through. The text of our own
exceptions is: they are written for the log.
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
UNLOGGED_PATHS = frozenset({"/healthz", "/readyz"})


class RequestLogMiddleware(RequestMiddleware):
    """Binds a request id and logs each request by its route and ids, never by its path."""

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        """Log the request around its answer, except for probes: they come every second and touch nothing."""
        if request.path_info in UNLOGGED_PATHS:
            return self.get_response(request)
        return super().__call__(request)

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Name the request by method and route; of the arguments only ids are told."""
        match = request.resolver_match
        if match is None:
            return f"{request.method} -"
        ids = [f"{name}={value}" for name, value in match.kwargs.items() if isinstance(value, UUID | int)]
        return " ".join([f"{request.method} /{match.route}", *ids])


class WordlessArguments(logging.Filter):
    """Replaces exceptions among a record's arguments by their type: libraries like to log `str(exc)`."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through, without the words of foreign exceptions."""
        if isinstance(record.args, tuple):
            record.args = tuple(
                _name_of(value) if isinstance(value, BaseException) else value for value in record.args
            )
        return True


class WordlessMessages(logging.Filter):
    """Takes people's words out of what libraries say.

    Django names the path of a request that it refuses, and paths are names that people give to files; asyncio
    and Daphne print what an exception said.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through, with what is known to be ours or the library's."""
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
    """Name a refused request by its route; of the reason for a CSRF failure only the fixed part is said."""
    reason = ""
    if record.name == "django.security.csrf" and isinstance(record.args, tuple) and record.args:
        reason = f" ({str(record.args[0]).partition(' - ')[0]})"
    record.msg = f"request refused{reason}: {RequestLogMiddleware.format_request(request)}"
    record.args = ()


def _without_words(printed: str) -> str:
    """Return a printed traceback without source lines and without what the exception said."""
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
    """Have each error that is logged from now on given to `reporter` too."""
    _reporters.append(reporter)


def report_error(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Give an error to whoever reports errors; the event itself stays as it is."""
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
    """Replace `exc_info` by types and places of the chain of exceptions."""
    error = _error_in(event.pop("exc_info", None))
    if error is not None:
        event["exception"] = _chain_of(error)
    return event


def _error_in(given: object) -> BaseException | None:
    """Return the exception that `exc_info` means."""
    if given is True:
        given = sys.exc_info()
    if isinstance(given, tuple):
        given = given[1]
    return given if isinstance(given, BaseException) else None


def drop_words(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Drop what libraries add and what isn't an id."""
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
"""What each event goes through, ours and those of libraries."""
_QUIET = {"level": "WARNING"}
_LOGGERS: dict[str, Any] = {
    "django": {"handlers": [], "level": "WARNING", "propagate": True},
    # Names paths; `RequestLogMiddleware` logs the same requests by route.
    "django.request": {"level": "CRITICAL"},
    "django.server": _QUIET,
    "daphne": _QUIET,
    "asyncio": _QUIET,
    "boto3": _QUIET,
    "botocore": _QUIET,
    "httpx2": _QUIET,  # a line for each request to the model, before its first word is passed on
    "psycopg.pool": _QUIET,
    "procrastinate": _QUIET,
    "procrastinate.worker": {"level": "INFO"},
}


def build_logging(*, is_terminal: bool) -> dict[str, Any]:
    """Build Django's LOGGING and configure structlog to go through it."""
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
        lines.append(_told(current))
        lines.extend(_places_of(current.__traceback__))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return lines


def _told(error: BaseException) -> str:
    is_ours = type(error).__module__.startswith(OUR_PACKAGES)
    return f"{_name_of(error)}: {error}" if is_ours else _name_of(error)


def _name_of(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _places_of(trace: TracebackType | None) -> list[str]:
    return [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
