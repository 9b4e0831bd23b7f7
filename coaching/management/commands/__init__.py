"""One command per module; each only calls a service."""
