"""The formats that are read, and how a file's format is found out."""

from collections.abc import Iterator, Mapping
from itertools import islice

from django.utils.translation import gettext_noop

from coaching.legacy.importers.chatgpt import ChatGptAdapter
from coaching.legacy.importers.claude import ClaudeAdapter
from coaching.legacy.importers.sage import SageAdapter
from coaching.legacy.importers.source import Source
from coaching.legacy.importers.things import Adapter, NotImportable, Thing
from coaching.models import ImportFormat

ADAPTERS: Mapping[ImportFormat, Adapter] = {
    adapter.format: adapter for adapter in (SageAdapter(), ChatGptAdapter(), ClaudeAdapter())
}
LOOKED_AT = 20
"""The first items may be damaged."""

UNKNOWN = gettext_noop(
    "Sage found no conversations it can read in this file. You can import the conversations.json or the "
    "whole ZIP from ChatGPT or Claude, or an export from the earlier Sage."
)
OTHER = "This isn’t an export of {name}. Leave the format out, and Sage finds it out by itself."


def find_adapter(source: Source, wanted: ImportFormat | None = None) -> Adapter:
    """Return the reader of a file. Raises `NotImportable` where none fits, or the wanted one doesn't."""
    fitting = [adapter for adapter in ADAPTERS.values() if wanted in (None, adapter.format)]
    for item in islice(source.items(), LOOKED_AT):
        for adapter in fitting:
            if adapter.recognises(item):
                return adapter
    raise NotImportable(UNKNOWN if wanted is None else OTHER.format(name=wanted.label))


def read_things(source: Source, adapter: Adapter) -> Iterator[Thing]:
    """Yield what a file holds. Raises `NotImportable`."""
    for item in source.items():
        yield from adapter.read(item)
