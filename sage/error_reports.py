"""Reports logged errors to Sentry. Imported only if the extra `sentry` is installed and its DSN is set.

No integrations: they would collect requests, cookies, queries and local variables. Only errors in the log are
sent, with the fields that `_allowed` keeps.
"""

import re
from functools import partial
from typing import Any, cast

import sentry_sdk
from sentry_sdk.types import Event, Hint
from sentry_sdk.utils import event_from_exception

from sage.ending import at_end
from sage.logs import LoggedError, report_errors_to

FLUSH_SECONDS = 2.0
_FIELDS = ("event_id", "timestamp", "platform", "level", "logger", "message", "tags", "sdk", "environment")
_FRAME_FIELDS = ("filename", "function", "module", "lineno", "in_app")
_EVENT_NAME = re.compile(r"[a-z0-9_]+")


def report_errors(dsn: str) -> None:
    """Send every error that is logged to Sentry from now on; flush when the process ends."""
    sentry_sdk.init(
        dsn=dsn,
        default_integrations=False,
        auto_enabling_integrations=False,
        auto_session_tracking=False,
        include_local_variables=False,
        include_source_context=False,
        max_breadcrumbs=0,
        max_request_body_size="never",
        send_client_reports=False,
        send_default_pii=False,
        server_name="sage",
        before_send=_allowed,
    )
    at_end(partial(sentry_sdk.flush, timeout=FLUSH_SECONDS))
    report_errors_to(_report)


def _report(logged: LoggedError) -> None:
    event: Event = {}
    hint: Hint = {}
    if logged.error is not None:
        event, hint = event_from_exception(logged.error, client_options=sentry_sdk.get_client().options)
    event["level"] = cast("Any", logged.level)
    event["logger"] = logged.logger
    # Libraries log sentences that may contain paths and exception messages; our events are names.
    event["message"] = logged.event if _EVENT_NAME.fullmatch(logged.event) else logged.logger
    event["tags"] = dict(logged.ids)
    sentry_sdk.capture_event(event, hint)


def _allowed(event: Event, _hint: Hint) -> Event:
    """Keep only names, ids, types of exceptions and code locations."""
    found = cast("dict[str, Any]", event)
    allowed = {name: found[name] for name in _FIELDS if name in found}
    if values := (found.get("exception") or {}).get("values"):
        allowed["exception"] = {"values": [_type_and_places(value) for value in values]}
    return cast("Event", allowed)


def _type_and_places(value: dict[str, Any]) -> dict[str, Any]:
    frames = (value.get("stacktrace") or {}).get("frames") or []
    return {
        "type": value.get("type"),
        "module": value.get("module"),
        "stacktrace": {
            "frames": [{name: frame[name] for name in _FRAME_FIELDS if name in frame} for frame in frames]
        },
    }
