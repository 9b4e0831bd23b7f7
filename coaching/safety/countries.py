"""Countries and their time zones (`countries.tsv`). Pure. No IP address is looked up."""

from collections.abc import Mapping
from pathlib import Path

ANYWHERE = ""

_ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("countries.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
COUNTRY_NAMES: Mapping[str, str] = {code: name for code, name, _ in _ROWS}
"""Names by ISO 3166 code, in alphabetical order."""
_COUNTRY_OF_ZONE = {zone: code for code, _, zones in _ROWS for zone in zones.split()}


def country_of_timezone(name: str) -> str:
    """Return the country code of a time zone; `ANYWHERE` for one without a country ("UTC")."""
    return _COUNTRY_OF_ZONE.get(name, ANYWHERE)


def known_country(code: object) -> str:
    """Return the code if the country exists, otherwise `ANYWHERE`."""
    return code if isinstance(code, str) and code in COUNTRY_NAMES else ANYWHERE
