"""Amounts of money in words, the same on every page."""

from decimal import ROUND_HALF_UP, Decimal

UNKNOWN = "not known"
_MICRO_USD = 1_000_000
_CENT = Decimal("0.01")
_SMALLEST = Decimal("0.0001")


def dollars(micro_usd: int | None) -> str:
    """Return an amount in dollars and cents; an unknown one, and one below a cent, never becomes zero."""
    if micro_usd is None:
        return UNKNOWN
    if 0 < micro_usd < _MICRO_USD / 100:
        return "under $0.01"
    return f"${(Decimal(micro_usd) / _MICRO_USD).quantize(_CENT, ROUND_HALF_UP):,}"


def small_dollars(micro_usd: int | None) -> str:
    """Return what one call or one turn cost, to a hundredth of a cent."""
    if micro_usd is None:
        return UNKNOWN
    if 0 < micro_usd < _MICRO_USD / 10_000:
        return "under $0.0001"
    return f"${(Decimal(micro_usd) / _MICRO_USD).quantize(_SMALLEST, ROUND_HALF_UP):,}"
