"""Everything that is read of the library, one module a subject. Nothing here writes."""
