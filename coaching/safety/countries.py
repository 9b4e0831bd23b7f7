"""Countries: their names, and which one a time zone says that somebody is in (`countries.tsv`). Pure.

Nobody's address is looked up anywhere: a time zone is what the person's own browser or settings say.
"""

from collections.abc import Mapping
from pathlib import Path

ANYWHERE = ""

_ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("countries.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
COUNTRY_NAMES: Mapping[str, str] = {code: name for code, name, _ in _ROWS}
"""Names by ISO 3166 code, in their alphabetical order."""
_COUNTRY_OF_ZONE = {zone: code for code, _, zones in _ROWS for zone in zones.split()}


def country_of_timezone(name: str) -> str:
    """Return the code of the country that a time zone is in; `ANYWHERE` where it says none ("UTC")."""
    return _COUNTRY_OF_ZONE.get(name, ANYWHERE)


def known_country(code: object) -> str:
    """Return the code if there is such a country, else `ANYWHERE`."""
    return code if isinstance(code, str) and code in COUNTRY_NAMES else ANYWHERE
