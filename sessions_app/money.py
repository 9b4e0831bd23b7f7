"""Amounts of money in words, the same on every page."""

from decimal import ROUND_HALF_UP, Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext

_MICRO_USD = 1_000_000
_CENT = Decimal("0.01")
_SMALLEST = Decimal("0.0001")


def dollars(micro_usd: int | None) -> str:
    """Return an amount in dollars and cents; an unknown one, and one below a cent, never becomes zero."""
    if micro_usd is None:
        return gettext("not known")
    if 0 < micro_usd < _MICRO_USD / 100:
        return gettext("under %(amount)s") % {"amount": _written(_CENT)}
    return _written((Decimal(micro_usd) / _MICRO_USD).quantize(_CENT, ROUND_HALF_UP))


def small_dollars(micro_usd: int | None) -> str:
    """Return what one call or one turn cost, to a hundredth of a cent."""
    if micro_usd is None:
        return gettext("not known")
    if 0 < micro_usd < _MICRO_USD / 10_000:
        return gettext("under %(amount)s") % {"amount": _written(_SMALLEST)}
    return _written((Decimal(micro_usd) / _MICRO_USD).quantize(_SMALLEST, ROUND_HALF_UP))


def _written(dollars: Decimal) -> str:
    return gettext("$%(amount)s") % {"amount": number_format(dollars, force_grouping=True)}
