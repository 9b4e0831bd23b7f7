"""Exports spans by OTLP over HTTP. Imported only if the extra `otel` is installed and an endpoint is set."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode, Tracer

from coaching.engine.spans import Attributes, open_spans_with

TRACES_PATH = "/v1/traces"


def export_traces(endpoint: str) -> None:
    """Export the spans of this process to the collector at `endpoint`; flush when it ends."""
    provider = TracerProvider(resource=Resource({"service.name": "sage"}))
    exporter = OTLPSpanExporter(endpoint=endpoint.rstrip("/") + TRACES_PATH)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("sage")

    def open_span(name: str, attributes: Attributes) -> AbstractContextManager[object]:
        return _open_span(tracer, name, attributes)

    open_spans_with(open_span)


@contextmanager
def _open_span(tracer: Tracer, name: str, attributes: Attributes) -> Iterator[None]:
    """Open a span; of an exception it records only the type, since the message may contain user text."""
    values = {f"sage.{key}": value for key, value in attributes.items()}
    with tracer.start_as_current_span(
        name, attributes=values, record_exception=False, set_status_on_exception=False
    ) as opened:
        try:
            yield
        except BaseException as error:
            opened.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
