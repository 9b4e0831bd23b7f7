"""What a process does before it plays: nothing of Django may be imported sooner."""

import django


def set_up() -> None:
    """Set Django up, with the environment of the process that started this one."""
    django.setup()
