"""The numbers that Word writes before paragraphs: they aren't part of their text, but others refer to them.

Word counts per list and level; `numbering.xml` says where a level starts and how it looks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from docx.oxml.ns import qn
from lxml import etree

from coaching.library.extractors.numerals import numeral
from coaching.library.extractors.office import count_of

MAX_LEVEL = 8
MAX_TEXT = 100
MAX_BASES = 20
"""Of a style: each may be based on another."""
_VALUE, _ID, _LEVEL, _ABSTRACT = qn("w:val"), qn("w:numId"), qn("w:ilvl"), qn("w:abstractNumId")
_PROPERTIES, _NUMBERING, _STYLE = qn("w:pPr"), qn("w:numPr"), qn("w:pStyle")


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    form: str
    text: str
    is_legal: bool
    """All numbers are digits."""


class Numbers:
    """Counts the paragraphs of one document, in their order."""

    def __init__(self, numbering: etree._Element | None, styles: etree._Element | None) -> None:
        self._levels: dict[str, Mapping[int, _Level]] = {}
        self._counted_with: dict[str, str] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._styles = dict(_numbered_styles(styles)) if styles is not None else {}
        if numbering is not None:
            self._read(numbering)

    def before(self, paragraph: etree._Element) -> str:
        """Return what stands before a paragraph: its number, `-` for a bullet, or nothing."""
        name, level = self._place(paragraph)
        levels = self._levels.get(name, {})
        if level not in levels:
            return ""
        counts = self._counts.setdefault(self._counted_with[name], {})
        start = self._starts.pop((name, level), None)
        counts[level] = start if start is not None else counts.get(level, levels[level].start - 1) + 1
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        for skipped in range(level):
            counts.setdefault(skipped, levels[skipped].start if skipped in levels else 1)
        if levels[level].form == "bullet":
            return "-"
        return _written(levels, counts, level)

    def _read(self, numbering: etree._Element) -> None:
        forms: dict[str, Mapping[int, _Level]] = {}
        linked: dict[str, str] = {}
        abstracts = list(numbering.iterchildren(qn("w:abstractNum")))
        for abstract in abstracts:
            number = abstract.get(_ABSTRACT, "")
            levels = {_whole(level.get(_LEVEL)): level for level in abstract.iterchildren(qn("w:lvl"))}
            forms[number] = {each: _level(level) for each, level in levels.items() if each <= MAX_LEVEL}
            linked[_value(abstract, qn("w:styleLink"))] = number
        for abstract in abstracts:
            if link := _value(abstract, qn("w:numStyleLink")):
                forms[abstract.get(_ABSTRACT, "")] = forms.get(linked.get(link, ""), {})
        for each in numbering.iterchildren(qn("w:num")):
            self._add(each, forms)

    def _add(self, number: etree._Element, forms: Mapping[str, Mapping[int, _Level]]) -> None:
        """Add a list. Lists of one form count together, except those that begin anew."""
        name, abstract = number.get(_ID, ""), _value(number, _ABSTRACT)
        levels = dict(forms.get(abstract, {}))
        self._counted_with[name] = f"form {abstract}"
        for override in number.iterchildren(qn("w:lvlOverride")):
            level = min(_whole(override.get(_LEVEL)), MAX_LEVEL)
            if (other := override.find(qn("w:lvl"))) is not None:
                levels[level] = _level(other)
            if start := _value(override, qn("w:startOverride")):
                self._starts[name, level] = _whole(start)
                self._counted_with[name] = name
        self._levels[name] = levels

    def _place(self, paragraph: etree._Element) -> tuple[str, int]:
        """Return the list and the level of a paragraph, by itself or by its style."""
        properties = paragraph.find(_PROPERTIES)
        if properties is None:
            return "", 0
        name, level = self._styles.get(_value(properties, _STYLE), ("", 0))
        if (own := properties.find(_NUMBERING)) is not None:
            name = _value(own, _ID) or name
            level = _whole(_value(own, _LEVEL)) or level
        return name, min(level, MAX_LEVEL)


def _numbered_styles(styles: etree._Element) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield each style of paragraphs with a list, which may be that of a style it is based on."""
    stated = {style.get(qn("w:styleId"), ""): _stated(style) for style in styles.iterchildren(qn("w:style"))}
    for name in stated:
        of_list, level, at = "", "", name
        for _ in range(MAX_BASES):
            if at not in stated:
                break
            own_list, own_level, at = stated[at]
            of_list, level = of_list or own_list, level or own_level
        if of_list:
            yield name, (of_list, _whole(level))


def _stated(style: etree._Element) -> tuple[str, str, str]:
    """Return the list and the level that a style states itself, and the style that it is based on."""
    own = style.find(f"{_PROPERTIES}/{_NUMBERING}")
    place = (_value(own, _ID), _value(own, _LEVEL)) if own is not None else ("", "")
    return *place, _value(style, qn("w:basedOn"))


def _level(level: etree._Element) -> _Level:
    return _Level(
        start=_whole(_value(level, qn("w:start"))),
        form=_value(level, qn("w:numFmt")) or "decimal",
        text=_value(level, qn("w:lvlText"))[:MAX_TEXT],
        is_legal=level.find(qn("w:isLgl")) is not None,
    )


def _written(levels: Mapping[int, _Level], counts: Mapping[int, int], level: int) -> str:
    """Return a level's text with its numbers, such as `%1.%2)`."""
    text = levels[level].text
    for each in range(level + 1):
        if f"%{each + 1}" in text and each in levels:
            form = "decimal" if levels[level].is_legal else levels[each].form
            text = text.replace(f"%{each + 1}", numeral(counts.get(each, levels[each].start), form))
    return text.strip()


def _value(element: etree._Element, name: str) -> str:
    child = element.find(name)
    return str(child.get(_VALUE, "")) if child is not None else ""


def _whole(stated: str | None) -> int:
    return count_of(stated, least=0)
