"""The numbers of list items and headings, which OpenDocument leaves to the program that shows them.

They are written into the tree, as an attribute of each item and heading.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lxml import etree

from coaching.library.extractors.numerals import numeral
from coaching.library.extractors.office import count_of
from coaching.library.extractors.opendocument import (
    ITEM,
    LIST,
    NUMBER,
    STYLE_NAME,
    H,
    P,
    qualified,
)

MAX_LEVEL = 10
MAX_AFFIX = 20
"""Characters before and after a number."""
_LIST_STYLE, _OUTLINE = qualified("text:list-style"), qualified("text:outline-style")
_NUMBERED = qualified("text:list-level-style-number"), qualified("text:outline-level-style")
_FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_ID = "{http://www.w3.org/XML/1998/namespace}id"

Counts = dict[int, int]


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    form: str
    shown: int
    """How many levels' numbers are shown."""
    before: str
    after: str


@dataclass(slots=True)
class _List:
    style: str
    counts: Counts = field(default_factory=dict)


_Styles = Mapping[str, Mapping[int, _Level]]


def add_numbers(content: etree._Element, styles: etree._Element | None) -> None:
    """Write its number into each item and heading of a document that has one."""
    of_styles = dict(_styles(styles)) if styles is not None else {}
    known = {**of_styles, **dict(_styles(content))}
    counted: dict[str, Counts] = {}
    headings: Counts = {}
    open_lists: list[_List] = []
    for event, element in etree.iterwalk(content, events=("start", "end"), tag=[LIST, ITEM, H]):
        if element.tag == LIST and event == "end":
            open_lists.pop()
        elif element.tag == LIST:
            open_lists.append(_opened(element, open_lists, counted))
        elif event == "end":
            continue
        elif element.tag == ITEM and open_lists:
            if any(child.tag in (P, H) for child in element):
                _count(element, open_lists[-1].counts, known.get(open_lists[-1].style), len(open_lists))
        elif element.tag == H and not open_lists and element.get(qualified("text:is-list-header")) != "true":
            level = count_of(element.get(qualified("text:outline-level")))
            _count(element, headings, known.get(_OUTLINE), level)


def _opened(element: etree._Element, outer: list[_List], counted: dict[str, Counts]) -> _List:
    """Return a list that begins, which may go on where another one has ended."""
    style = element.get(STYLE_NAME) or (outer[-1].style if outer else "")
    if outer:
        outer[-1].counts.pop(len(outer) + 1, None)
        return _List(style, outer[-1].counts)
    followed = element.get(qualified("text:continue-list"))
    if followed is None and element.get(qualified("text:continue-numbering")) == "true":
        followed = f"style {style}"
    counts = counted.get(followed, {}) if followed is not None else {}
    counted[f"style {style}"] = counts
    if name := element.get(_ID):
        counted[name] = counts
    return _List(style, counts)


def _count(element: etree._Element, counts: Counts, levels: Mapping[int, _Level] | None, level: int) -> None:
    if not levels or level not in levels:
        return
    start = element.get(qualified("text:start-value"))
    counts[level] = count_of(start, least=0) if start else counts.get(level, levels[level].start - 1) + 1
    for deeper in [each for each in counts if each > level]:
        del counts[deeper]
    style = levels[level]
    shown = [each for each in range(max(1, level - style.shown + 1), level + 1) if each in levels]
    numbers = (numeral(counts.get(each, levels[each].start), levels[each].form) for each in shown)
    joined = ".".join(filter(None, numbers)) if style.form != "none" else ""
    element.set(NUMBER, f"{style.before}{joined}{style.after}".strip() if joined else "")


def _styles(root: etree._Element) -> Iterator[tuple[str, Mapping[int, _Level]]]:
    """Yield the levels with numbers of each list style, and of headings."""
    for style in root.iter(_LIST_STYLE, _OUTLINE):
        name = _OUTLINE if style.tag == _OUTLINE else style.get(qualified("style:name"), "")
        levels = {
            count_of(level.get(qualified("text:level"))): _level(level) for level in style.iter(*_NUMBERED)
        }
        yield name, {number: level for number, level in levels.items() if number <= MAX_LEVEL}


def _level(level: etree._Element) -> _Level:
    return _Level(
        start=count_of(level.get(qualified("text:start-value")), least=0) or 1,
        form=_FORMS.get(level.get(qualified("style:num-format"), ""), "none"),
        shown=count_of(level.get(qualified("text:display-levels"))),
        before=level.get(qualified("style:num-prefix"), "")[:MAX_AFFIX],
        after=level.get(qualified("style:num-suffix"), "")[:MAX_AFFIX],
    )
