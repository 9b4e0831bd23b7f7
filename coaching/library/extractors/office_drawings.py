"""The words of charts, diagrams (SmartArt) and metafiles, which are parts of their own in a package."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from lxml import etree

from coaching.library.extractors.metafiles import Metafiles
from coaching.library.extractors.office import count_of, joined_cells

MAX_BYTES = 4 * 1024 * 1024
"""A larger part isn't read."""
MAX_SERIES = 50
MAX_POINTS = 1_000
"""Of each series of a chart."""
LONG_NUMBER = 15
_DRAWING, _CHARTS, _DIAGRAMS = (
    f"{{http://schemas.openxmlformats.org/drawingml/2006/{name}}}" for name in ("main", "chart", "diagram")
)
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TEXT, _PARAGRAPH = f"{_DRAWING}t", f"{_DRAWING}p"
_CHART, _DIAGRAM = f"{_CHARTS}chart", f"{_DIAGRAMS}relIds"
_PICTURE, _OLDER_PICTURE = f"{_DRAWING}blip", "{urn:schemas-microsoft-com:vml}imagedata"
_REFERENCES = {
    _CHART: f"{_RELATED}id",
    _DIAGRAM: f"{_RELATED}dm",
    _PICTURE: f"{_RELATED}embed",
    _OLDER_PICTURE: f"{_RELATED}id",
}
"""The attribute that names the part."""

Parts = Callable[[str], tuple[str, bytes]]
"""Returns the name and the content of the part with an id. Raises `KeyError`."""


class Drawings:
    """Reads the charts, diagrams and metafiles of one document, each once."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._metafiles = Metafiles()

    def lines(self, element: etree._Element, parts: Parts) -> Iterator[str]:
        """Yield the lines of what is drawn below an element."""
        for drawn in element.iter(*_REFERENCES):
            try:
                name, content = parts(drawn.get(_REFERENCES[str(drawn.tag)], ""))
            except (KeyError, ValueError):  # it is missing, or outside the document
                continue
            if name in self._read or len(content) > MAX_BYTES:
                continue
            self._read.add(name)
            if drawn.tag in (_PICTURE, _OLDER_PICTURE):
                yield from self._metafiles.lines(content)
                continue
            try:
                root = etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))
            except etree.XMLSyntaxError:
                continue
            yield from _chart(root) if drawn.tag == _CHART else paragraphs(root)


def paragraphs(root: etree._Element) -> Iterator[str]:
    """Yield the paragraphs of what is drawn, or of the part of a diagram that has its words."""
    for paragraph in root.iter(_PARAGRAPH):
        text = " ".join("".join(each.text or "" for each in paragraph.iter(_TEXT)).split())
        if text:
            yield text


def _chart(root: etree._Element) -> Iterator[str]:
    """Yield the titles, and a table of the series: a column each."""
    for title in root.iter(f"{_CHARTS}title"):
        yield from paragraphs(title)
    columns: list[Mapping[int, str]] = []
    names: list[str] = []
    rows: dict[int, str] = {}
    for series in islice(root.iter(f"{_CHARTS}ser"), MAX_SERIES):
        names.append(_name(series))
        rows |= {**_points(series, "xVal"), **_points(series, "cat"), **rows}
        columns.append({**_points(series, "yVal"), **_points(series, "val")})
    if any(names):
        yield joined_cells(["", *names])
    for number in sorted(set(rows).union(*columns)):
        yield joined_cells([rows.get(number, ""), *(column.get(number, "") for column in columns)])


def _name(series: etree._Element) -> str:
    text = series.find(f"{_CHARTS}tx")
    values = text.iter(f"{_CHARTS}v") if text is not None else ()
    return " ".join(" ".join(value.text or "" for value in values).split())


def _points(series: etree._Element, name: str) -> dict[int, str]:
    """Return the values of a part of a series, by their numbers."""
    part = series.find(f"{_CHARTS}{name}")
    if part is None:
        return {}
    points = part.iter(f"{_CHARTS}pt")
    return {
        count_of(point.get("idx"), least=0): _rounded(" ".join((point.findtext(f"{_CHARTS}v") or "").split()))
        for point in islice(points, MAX_POINTS)
    }


def _rounded(value: str) -> str:
    """Return 4.4000000000000004, as Office stores it, as 4.4."""
    try:
        return f"{float(value):.10g}" if len(value) > LONG_NUMBER else value
    except ValueError:
        return value
