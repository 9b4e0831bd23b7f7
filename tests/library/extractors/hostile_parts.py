"""Office files whose parts other than the text are built to cost their reader time or memory."""

import zipfile
from collections.abc import Callable, Mapping

from tests.library.extractors.open_documents import package, paragraph, part, row, sheet
from tests.library.extractors.word import OFFICE, level, numbered, word
from tests.library.extractors.word import paragraph as word_paragraph

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
LIST_STYLE = (
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="i" text:display-levels="9"/>'
    "</text:list-style>"
)


def word_of_lists(levels: int, lists: int) -> bytes:
    form = "".join(level(number, "lowerRoman", "%1%2%3%4%5%6%7%8%9" * 10) for number in range(levels))
    changed = f'<w:lvlOverride w:ilvl="3">{level(3, "decimal", "%4")}</w:lvlOverride>'
    numbers = "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="7"/>{changed}</w:num>' for number in range(lists)
    )
    body = "".join(numbered("A lease", number % 12, number) for number in range(lists))
    return word(body, numbering=f'<w:abstractNum w:abstractNumId="7">{form}</w:abstractNum>{numbers}')


def word_of_sections(count: int) -> bytes:
    return word("<w:p><w:pPr><w:sectPr><w:titlePg/></w:sectPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p>" * count)


def word_of_styles(count: int) -> bytes:
    """Each based on the next."""
    styles = "".join(
        f'<w:style w:styleId="s{number}"><w:basedOn w:val="s{number + 1}"/></w:style>'
        for number in range(count)
    )
    return word(word_paragraph("A lease", '<w:pStyle w:val="s0"/>'), styles=styles)


def word_with_chart(size: int) -> bytes:
    names = f'xmlns:c="{DRAWING}/chart" xmlns:r="{OFFICE}"'
    drawn = f'<w:x {names}><c:chart r:id="xplot"/></w:x>' * 10_000
    plot = f"<c:x {names}><c:ser><c:val>{'<c:pt/>' * (size // 7)}</c:val></c:ser></c:x>"
    return word(word_paragraph("A lease", after=drawn), plot=plot)


def word_of_notes(count: int) -> bytes:
    """Each of few notes is named by all paragraphs."""
    note = "".join(
        f'<w:footnote w:id="{number}">{word_paragraph("n" * 1_000)}</w:footnote>' for number in range(9)
    )
    marks = "".join(f'<w:footnoteReference w:id="{number}"/>' for number in range(9))
    return word(word_paragraph("A lease", after=marks) * count, footnotes=note)


def stored(body: str, objects: Mapping[str, str] | None = None, *, styles: str = "") -> bytes:
    """A text that isn't compressed, so that its density isn't what refuses it."""
    content = part(
        "document-content",
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body>",
    )
    return package("text", {"content.xml": content, **(objects or {})}, compression=zipfile.ZIP_STORED)


def text_of_lists(depth: int, times: int) -> bytes:
    lists = '<text:list text:style-name="L1"><text:list-item>' * depth
    ends = "</text:list-item></text:list>" * depth
    return stored(f"{lists}{paragraph('A lease')}{ends}" * times, styles=LIST_STYLE)


def text_with_objects(count: int, rows: int) -> bytes:
    link = 'xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object'
    shown = "".join(f'<draw:frame><draw:object {link} {number}"/></draw:frame>' for number in range(count))
    content = part(
        "document-content",
        f"<office:body><office:spreadsheet>{sheet('A', row('a') * rows)}</office:spreadsheet></office:body>",
    )
    objects = {f"Object {number}/content.xml": content for number in range(min(count, 900))}
    return stored(f"{paragraph('A lease')}{shown}", objects)


HOSTILE: Mapping[str, tuple[Callable[[], bytes], str, str]] = {
    "word of 3,000 levels in 3,000 lists": (lambda: word_of_lists(3_000, 3_000), "text", ""),
    "word of 20,000 sections": (lambda: word_of_sections(20_000), "", ""),
    "word of 20,000 styles": (lambda: word_of_styles(20_000), "text", ""),
    "word with a chart of 5 megabytes": (lambda: word_with_chart(5_000_000), "", ""),
    "word whose notes are named 20,000 times": (lambda: word_of_notes(20_000), "text", ""),
    "lists in 60 lists": (lambda: text_of_lists(60, 500), "text", ""),
    "lists in 10,000 lists": (lambda: text_of_lists(10_000, 1), "", ""),
    "text with 400 objects": (lambda: text_with_objects(400, 200), "text", ""),
    "text with a large object": (lambda: text_with_objects(1, 100_000), "text", ""),
}  # fmt: skip
