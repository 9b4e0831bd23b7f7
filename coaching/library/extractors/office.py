"""What the three Office formats share: the properties of a package."""

from datetime import datetime
from typing import Protocol


class Properties(Protocol):
    title: str
    author: str
    created: datetime | None


def package_hints(properties: Properties) -> dict[str, str]:
    """Return title, author and creation day, as far as they are stated."""
    created = properties.created
    stated = {
        "title": properties.title or "",
        "author": properties.author or "",
        "created": created.date().isoformat() if created else "",
    }
    return {name: text for name, text in stated.items() if text}
