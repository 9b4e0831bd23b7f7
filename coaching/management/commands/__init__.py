"""One command a module; each only calls a service."""
