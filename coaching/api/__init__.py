"""The HTTP interface for programs. It has no rules of its own: services of the pages do the work."""
