"""What each model accepts, shows and costs: one table, and safe defaults for unknown models.

No other code branches on a model's name. A price is valid from its date. The cost of a model without
a price is `None`, which is shown as unknown and never as zero.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from coaching.engine.usage import TokenCounts

ThinkingMode = Literal["unset", "adaptive", "between_tools"]
Effort = Literal["low", "medium", "high"]
NotesShown = Literal["never", "after_first_round", "always"]

_DATED = re.compile(r"-\d{8}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Prices in US dollars per million tokens, from `since` (UTC) on, for prompts over `over_tokens`.

    A change of prices is a new row with its date, and one for each band of long prompts: a band that the
    newest date doesn't list is gone.
    """

    since: date = date.min
    over_tokens: int = -1
    input: Decimal
    output: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    cache_read: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """One model.

    `notes`: when the text of its thinking blocks is progress to show rather than reasoning.
    `is_thinking_bound`: its thinking is valid only while everything before it is unchanged, so an
    open turn is sent again byte for byte.
    `is_claude`: other models get no breakpoint on the request itself, which translating proxies pass on to
    servers that refuse unknown fields.
    `has_sight`: it is shown pictures. Servers of models without it refuse the request.
    `context_tokens` is None where nothing is known of the model.
    """

    model: str
    thinking: ThinkingMode = "unset"
    display: Literal["summarized", "omitted"] | None = None
    effort: Effort | None = None
    notes: NotesShown = "never"
    is_thinking_bound: bool = True
    is_claude: bool = True
    has_sight: bool = True
    context_tokens: int | None = 200_000
    max_output_tokens: int = 64_000
    prices: tuple[Price, ...] = ()

    def request_fields(self) -> dict[str, Any]:
        """Return the fields that every request to this model has; none for an unknown model."""
        fields: dict[str, Any] = {}
        if self.thinking != "unset":
            fields["thinking"] = {"type": self.thinking}
            if self.display and self.thinking == "adaptive":
                fields["thinking"]["display"] = self.display
        if self.effort:
            fields["output_config"] = {"effort": self.effort}
        return fields

    def shows_notes(self, *, is_first_round: bool) -> bool:
        """Whether the thinking of a round is shown as notes."""
        return self.notes == "always" or (self.notes == "after_first_round" and not is_first_round)

    def price(self, *, on: date, prompt_tokens: int) -> Price | None:
        """Return the price of a reply to a prompt of that size on a day; None if unknown."""
        newest = max((price.since for price in self.prices if price.since <= on), default=None)
        bands = [
            price for price in self.prices if price.since == newest and price.over_tokens < prompt_tokens
        ]
        return max(bands, key=lambda price: price.over_tokens, default=None)


BATCH_SHARE = Decimal("0.5")
"""What a request in a batch costs of its price, with every model."""

# In chat the first word must come fast, and text between calls must be visible: `between_tools` skips
# thinking up front and returns those notes unencrypted, so medium effort doesn't delay the first word.
PROFILES: Mapping[str, ModelProfile] = {
    profile.model: profile
    for profile in (
        ModelProfile(
            model="claude-sonnet-5-5",
            thinking="between_tools",
            effort="medium",
            notes="always",
            context_tokens=1_000_000,
            max_output_tokens=128_000,
            prices=(
                Price(
                    input=Decimal(2),
                    output=Decimal(10),
                    cache_write_5m=Decimal("2.5"),
                    cache_write_1h=Decimal(4),
                    cache_read=Decimal("0.2"),
                ),
                Price(
                    since=date(2026, 10, 7),
                    input=Decimal(2),
                    output=Decimal(10),
                    cache_write_5m=Decimal("2.5"),
                    cache_write_1h=Decimal(4),
                    cache_read=Decimal("0.1"),
                ),
            ),
        ),
        ModelProfile(
            model="claude-haiku-5-5",
            thinking="adaptive",
            display="summarized",
            effort="low",
            notes="after_first_round",
            context_tokens=1_000_000,
            max_output_tokens=128_000,
            prices=(
                Price(
                    input=Decimal("0.1"),
                    output=Decimal("0.5"),
                    cache_write_5m=Decimal("0.125"),
                    cache_write_1h=Decimal("0.2"),
                    cache_read=Decimal("0.01"),
                ),
                Price(
                    over_tokens=100_000,
                    input=Decimal("0.5"),
                    output=Decimal("2.5"),
                    cache_write_5m=Decimal("0.625"),
                    cache_write_1h=Decimal(1),
                    cache_read=Decimal("0.05"),
                ),
            ),
        ),
        # The practice model behaves like the current Sonnet, and its scripted answers cost nothing.
        ModelProfile(
            model="sage-practice",
            thinking="between_tools",
            effort="medium",
            notes="always",
            context_tokens=1_000_000,
            max_output_tokens=128_000,
            prices=(
                Price(
                    input=Decimal(0),
                    output=Decimal(0),
                    cache_write_5m=Decimal(0),
                    cache_write_1h=Decimal(0),
                    cache_read=Decimal(0),
                ),
            ),
        ),
        ModelProfile(
            model="claude-haiku-4-5",
            is_thinking_bound=False,
            prices=(
                Price(
                    input=Decimal(1),
                    output=Decimal(5),
                    cache_write_5m=Decimal("1.25"),
                    cache_write_1h=Decimal(2),
                    cache_read=Decimal("0.1"),
                ),
            ),
        ),
    )
}


def profile_for(model: str) -> ModelProfile:
    """Return the profile of a model, dated names included; safe defaults for an unknown one."""
    is_claude = "claude" in model.lower()
    if is_claude:
        return _known(model) or ModelProfile(model=model)
    unknown = ModelProfile(model=model, is_claude=False, has_sight=False, context_tokens=None)
    return _known(model) or unknown


def has_profile(model: str) -> bool:
    """Return whether a model, dated names included, is in the table."""
    return _known(model) is not None


def _known(model: str) -> ModelProfile | None:
    return PROFILES.get(model) or PROFILES.get(_DATED.sub("", model))


def cost_micro_usd(model: str, tokens: TokenCounts, on: date, *, is_batch: bool = False) -> int | None:
    """Return the cost of a reply at the prices of a day, in millionths of a US dollar; None if unknown.

    Only the whole is rounded, so a month of ten thousand replies is off by less than a cent.
    """
    price = profile_for(model).price(on=on, prompt_tokens=tokens.prompt_tokens)
    if price is None:
        return None
    # Dollars per million tokens are millionths of a dollar per token.
    whole = (
        tokens.input_tokens * price.input
        + tokens.output_tokens * price.output
        + tokens.cache_creation_5m_tokens * price.cache_write_5m
        + tokens.cache_creation_1h_tokens * price.cache_write_1h
        + tokens.cache_read_tokens * price.cache_read
    )
    return round(whole * BATCH_SHARE if is_batch else whole)
