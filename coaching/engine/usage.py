"""The usage of a reply."""

from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens as they are billed. `input_tokens` excludes cache writes and cache reads."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_5m_tokens: int = 0
    cache_creation_1h_tokens: int = 0
    cache_read_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        written = self.cache_creation_5m_tokens + self.cache_creation_1h_tokens
        return self.input_tokens + written + self.cache_read_tokens

    def __add__(self, other: Self) -> Self:
        names = [field.name for field in fields(self)]
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundUsage:
    """The usage of one reply. `model` is the requested one: its price applies."""

    model: str
    tokens: TokenCounts
    first_token_ms: int | None
    duration_ms: int
    round_number: int | None = None
