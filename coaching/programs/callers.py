"""The program that sends a request, as every way in for programs knows it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from coaching.models import Scope


class NotKnown(Exception):
    """A missing, malformed, expired or revoked token, or a disabled account: all are answered alike."""


class ScopeMissing(Exception):
    """The program is known, but may not do this."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        super().__init__(f"This needs a token with the scope “{scope.value}”.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A program, and the person whom it acts for.

    `key` identifies the token, or the client and its person; it is counted and looked up by it. `name` is
    shown to the person wherever something of the program's is.
    """

    user_id: int
    key: str
    name: str
    scopes: frozenset[Scope]
    expires_at: datetime

    def check_scope(self, scope: Scope) -> None:
        """Raise `ScopeMissing` unless the program has the scope."""
        if scope not in self.scopes:
            raise ScopeMissing(scope)


def known_scopes(names: Collection[str]) -> frozenset[Scope]:
    """Return scopes by their names. What a later version may have stored is left out."""
    return frozenset(Scope(name) for name in names if name in Scope.values)
