"""Whether XML has a document type, as the parsers of Office packages see it.

python-docx and python-pptx parse with lxml, openpyxl with lxml and expat, and the two accept different
encodings and white space. So both are asked, each by its own events; a search for bytes would miss UTF-16.
"""

from collections.abc import Callable
from enum import Enum
from xml.parsers import expat

from lxml import etree


class Doctype(Enum):
    """What comes before the root element. `PLAIN` only names a type; `SUBSET` can declare entities."""

    NONE = "none"
    PLAIN = "plain"
    SUBSET = "subset"
    UNKNOWN = "unknown"
    """Not XML, or cut off before its root element."""


def find_doctype(data: bytes) -> Doctype:
    """Return the document type of XML that may be cut off. Nothing is loaded, no entity is replaced."""
    by_expat, by_lxml = _by_expat(data), _by_lxml(data)
    if by_lxml is Doctype.SUBSET and by_expat is Doctype.PLAIN:
        return Doctype.PLAIN  # lxml doesn't say what a document type holds
    return max(by_expat, by_lxml, key=_SEVERITY.index)


_SEVERITY = (Doctype.UNKNOWN, Doctype.NONE, Doctype.PLAIN, Doctype.SUBSET)


class _DecidedError(Exception):
    """Ends a parser that has seen enough."""


class _Target:
    """What lxml calls while it parses."""

    found = Doctype.UNKNOWN

    def doctype(self, _name: str, _public_id: str | None, _system: str | None) -> None:
        self.found = Doctype.SUBSET
        raise _DecidedError

    def start(self, _tag: str, _attributes: object) -> None:
        self.found = Doctype.NONE
        raise _DecidedError

    def close(self) -> None:
        """Nothing was built."""


def _by_lxml(data: bytes) -> Doctype:
    target = _Target()
    parser: etree.XMLParser[etree._Element] = etree.XMLParser(
        target=target, resolve_entities=False, no_network=True, load_dtd=False
    )
    _ended(lambda: etree.fromstring(data, parser))
    return target.found


def _by_expat(data: bytes) -> Doctype:
    found = Doctype.UNKNOWN

    def start_doctype(_name: str, _system: str | None, _public_id: str | None, has_subset: int) -> None:
        nonlocal found
        found = Doctype.SUBSET if has_subset else Doctype.PLAIN
        raise _DecidedError

    def start(_tag: str, _attributes: object) -> None:
        nonlocal found
        found = Doctype.NONE
        raise _DecidedError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = start_doctype
    parser.StartElementHandler = start
    _ended(lambda: parser.Parse(data, False))
    return found


def _ended(parse: Callable[[], object]) -> None:
    try:
        parse()
    except (_DecidedError, etree.XMLSyntaxError, expat.ExpatError, ValueError, LookupError):
        return
