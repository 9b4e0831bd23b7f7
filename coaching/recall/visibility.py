"""Which messages a search may show."""


def visible(message: str, turn: str = "turn") -> str:
    """Return the condition, over two aliases: neither withdrawn nor hidden, and not of a running turn."""
    return (
        f"{turn}.status <> 'running' AND NOT {turn}.is_withdrawn "
        f"AND coalesce({message}.metadata ->> 'is_hidden', 'false') = 'false'"
    )
