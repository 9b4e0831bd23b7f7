"""Starts the configured monitoring: errors to Sentry, traces to an OpenTelemetry collector.

Both are optional extras and are imported only if their address is set. They send no message text, paths, file
names or values of variables.
"""

from collections.abc import Callable
from contextlib import nullcontext
from importlib.util import find_spec

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string

from coaching.engine.spans import span
from coaching.recall.encoder import has_packages
from sage.logs import UNLOGGED_PATHS
from sage.middleware import Steps, middleware

EXTRAS = (
    ("SENTRY_DSN", "sentry_dsn", "sentry", "sentry_sdk", "sage.error_reports.report_errors"),
    (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "otlp_endpoint",
        "otel",
        "opentelemetry.exporter.otlp.proto.http",
        "sage.traces.export_traces",
    ),
)
"""The variable, its field, the extra, the extra's module, and the function called with the address."""

WITHOUT_EXTRA = "is set and does nothing: install the extra with `uv sync --extra {extra}`."


def start_telemetry(warn: Callable[[str], None]) -> None:
    """Start what is configured; pass a line to `warn` for each setting without effect."""
    for name, field, extra, module, starter in EXTRAS:
        address = getattr(settings.ENVIRONMENT, field)
        if not address:
            continue
        if is_installed(module):
            import_string(starter)(address)
        else:
            warn(f"{name} {WITHOUT_EXTRA.format(extra=extra)}")
    if settings.SAGE_EMBEDDING_MODEL and not has_packages():
        warn(f"SAGE_EMBEDDING_MODEL {WITHOUT_EXTRA.format(extra='semantic')}")


def is_installed(module: str) -> bool:
    """Return whether a module can be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@middleware
def trace_requests(request: HttpRequest) -> Steps:
    """Open a span for each request, named by method only: a path may contain a file name."""
    is_probe = request.path_info in UNLOGGED_PATHS
    with nullcontext() if is_probe else span("request", method=request.method or ""):
        return (yield)
