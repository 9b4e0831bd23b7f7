"""The formats that are read, and how a file's format is found out."""

from collections.abc import Mapping

from coaching.legacy.importers.chatgpt import ChatGptAdapter
from coaching.legacy.importers.claude import ClaudeAdapter
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.sage import SageAdapter
from coaching.legacy.importers.sentences import gettext_noop
from coaching.legacy.importers.things import Adapter, Format, NotImportable

ADAPTERS: Mapping[Format, Adapter] = {
    adapter.format: adapter for adapter in (SageAdapter(), ChatGptAdapter(), ClaudeAdapter())
}
NAMES: Mapping[Format, str] = {"sage": "Sage", "chatgpt": "ChatGPT", "claude": "Claude"}
LOOKED_AT = 20
"""The first items may be damaged."""

UNKNOWN = gettext_noop(
    "Sage found no conversations it can read in this file. You can import the conversations.json or the "
    "whole ZIP from ChatGPT or Claude, or an export from the earlier Sage."
)
OTHER = "This isn’t an export of {name}. Leave the format out, and Sage finds it out by itself."


class Recognition:
    """Finds the reader of a file by its first items. Raises `NotImportable` where none fits."""

    def __init__(self, wanted: Format | None = None) -> None:
        self.adapter: Adapter | None = None
        self._wanted: Format | None = wanted
        self._fitting = [adapter for adapter in ADAPTERS.values() if wanted in (None, adapter.format)]
        self._seen = 0

    def look_at(self, item: Item) -> None:
        """Take the next item."""
        if self.adapter is None:
            self.adapter = next((each for each in self._fitting if each.recognises(item)), None)
            self._seen += 1
            if self._seen == LOOKED_AT:
                self.found()

    def found(self) -> Adapter:
        """Return the reader that was found."""
        if self.adapter is None:
            wanted = self._wanted
            raise NotImportable(UNKNOWN if wanted is None else OTHER.format(name=NAMES[wanted]))
        return self.adapter
