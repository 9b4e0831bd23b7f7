"""The library for operators. `coaching.apps` imports it with the admin."""

from coaching.library.admin import references, tables

__all__ = ["references", "tables"]
