"""What programs show of OpenDocument besides the text of paragraphs is read with it."""

import io
import zipfile

import pytest

from coaching.library.extractors.left_out import DELETED, EMBEDDED
from coaching.library.extractors.odp import MAX_REPEATED
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now
from tests.library.extractors.open_documents import boxed, document, paragraph, part, row, sheet

LINK = 'xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object 1"'
OBJECT = f"<draw:frame><draw:object {LINK}/></draw:frame>"


def read(data: bytes) -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name="upload")


def level(number: int, form: str, more: str = "") -> str:
    return f'<text:list-level-style-number text:level="{number}" style:num-format="{form}" {more}/>'


LEVELS = (
    level(1, "1", 'style:num-suffix="."'),
    level(2, "a", 'style:num-prefix="(" style:num-suffix=")"'),
    level(3, "I", 'text:display-levels="3" text:start-value="4"'),
    '<text:list-level-style-bullet text:level="4"/>',
    level(5, ""),
)
STYLES = f'<text:list-style style:name="L1">{"".join(LEVELS)}</text:list-style>'


def listed(*items: str, attributes: str = 'text:style-name="L1"') -> str:
    return f"<text:list {attributes}>{''.join(items)}</text:list>"


def item(content: str, attributes: str = "") -> str:
    return f"<text:list-item {attributes}>{content}</text:list-item>"


def nested(*items: str) -> str:
    return listed(*items, attributes="")


def test_items_have_their_numbers() -> None:
    deep = nested(item(paragraph("a point") + nested(item(paragraph("no number")))))
    inner = nested(item(paragraph("in part") + deep), item(paragraph("in full")))
    body = [
        listed(
            item(paragraph("Rent")),
            item(
                paragraph("Due")
                + nested(item(paragraph("on the first") + inner), item(paragraph("or later")))
            ),
            item(nested(item(paragraph("only a part")))),
        ),
        listed(item(paragraph("Anew"))),
        listed(item(paragraph("Goes on")), attributes='text:style-name="L1" text:continue-numbering="true"'),
        listed(item(paragraph("Ninth"), 'text:start-value="9"')),
        listed(item(paragraph("No style")), attributes=""),
    ]
    assert read(document("text", "".join(body), styles=STYLES)).text.split("\n") == [
        "1. Rent",
        "2. Due",
        "(a) on the first",
        "2.a.IV in part",
        "- a point",
        "no number",
        "2.a.V in full",
        "(b) or later",
        "(a) only a part",
        "1. Anew",
        "2. Goes on",
        "9. Ninth",
        "- No style",
    ]


def test_headings_have_their_numbers() -> None:
    levels = "".join(
        f'<text:outline-level-style text:level="{number}" style:num-format="1" '
        f'text:display-levels="{number}"/>'
        for number in (1, 2)
    )
    headings = "".join(
        f'<text:h text:outline-level="{number}" {more}>{text}</text:h>'
        for number, text, more in (
            (1, "Rent", ""),
            (2, "Amount", ""),
            (2, "Contents", 'text:is-list-header="true"'),
            (2, "Day", ""),
            (1, "Deposit", ""),
            (3, "Unnumbered", ""),
        )
    )
    outline = f"<text:outline-style>{levels}</text:outline-style>"
    assert read(document("text", headings, margins=outline)).text.split("\n") == [
        "# 1 Rent",
        "# 1.1 Amount",
        "# Contents",
        "# 1.2 Day",
        "# 2 Deposit",
        "# Unnumbered",
    ]


@pytest.mark.parametrize(
    ("style", "item_attributes"),
    [
        ('text:start-value="x"', 'text:start-value="-1"'),
        (f'style:num-prefix="{"long" * 50_000}"', 'text:start-value="99999999999999999999"'),
        (f'text:display-levels="{10**12}"', ""),
    ],
)
def test_odd_numbers_lose_no_text(style: str, item_attributes: str) -> None:
    styles = f'<text:list-style style:name="L1">{level(1, "1", style)}</text:list-style>'
    items = [item(paragraph(f"Clause {number}"), item_attributes) for number in range(2_000)]
    found = read(document("text", listed(*items), styles=styles))
    assert found.text.count("Clause") == 2_000
    assert len(found.text) < 200_000


def with_object(data: bytes, content: str) -> bytes:
    written = io.BytesIO(data)
    with zipfile.ZipFile(written, "a") as package:
        package.writestr("Object 1/content.xml", content)
    return written.getvalue()


def embedded(rows: str) -> str:
    body = f"<office:body><office:spreadsheet>{sheet('A', rows)}</office:spreadsheet></office:body>"
    return part("document-content", body)


def test_an_embedded_sheet_is_read_once_where_it_stands() -> None:
    text = document("text", f"{paragraph('Before')}<text:p>{OBJECT * 1_000}</text:p>{paragraph('After')}")
    assert read(with_object(text, embedded(row("Rent", "900")))).text == "Before\nRent | 900\nAfter"


@pytest.mark.parametrize(
    "content",
    [
        "<damaged",
        part("document-content", ""),
        embedded("<table:table-row><table:table-cell><table:table>" * 70),
        embedded(
            "<table:table-row><table:table-cell><table:table>" * 70
            + "</table:table></table:table-cell></table:table-row>" * 70
        ),
    ],
)
def test_an_odd_object_costs_only_itself(content: str) -> None:
    assert read(with_object(document("text", f"{OBJECT}{paragraph('A lease')}"), content)).text == "A lease"


def test_footers_and_numbers_stand_on_each_slide_and_long_footers_on_the_first() -> None:
    def shape(content: str, kind: str = "") -> str:
        return f"<draw:frame {kind}><draw:text-box><text:p>{content}</text:p></draw:text-box></draw:frame>"

    number = "<text:page-number>&lt;number&gt;</text:page-number>"
    used = 'draw:master-page-name="M" presentation:use-footer-name="f"'
    slides = f"<draw:page {used}>{shape(f'Slide {number}')}</draw:page>" * 2
    declared = '<presentation:footer-decl presentation:name="f">Confidential</presentation:footer-decl>'
    shapes = (
        shape("Smith &amp; Co"),
        shape(number),
        shape("Click to edit", 'presentation:class="title"'),
        shape("Leases", 'presentation:class="footer"'),
    )
    master = f'<style:master-page style:name="M">{"".join(shapes)}</style:master-page>'
    unused = f'<style:master-page style:name="N">{shape("Unused")}</style:master-page>'
    found = read(document("presentation", f"{declared}{slides}", margins=f"{master}{unused}"))
    below = "Smith & Co\nLeases\nConfidential"
    assert found.pages == (f"Slide 1\n1\n{below}", f"Slide 2\n2\n{below}")
    long = declared.replace("Confidential", "Terms " * MAX_REPEATED)
    first, second = read(document("presentation", f"{long}{slides}", margins=f"{master}{unused}")).pages
    assert ("Terms" in first, "Terms" in second) == (True, False)


def test_dates_have_their_century_and_times_their_seconds() -> None:
    def stated(kind: str, value: str, shown: str) -> str:
        return f'<table:table-cell office:{kind}-value="{value}">{paragraph(shown)}</table:table-cell>'

    cells = (
        stated("date", "2076-11-19T17:46:39.998", "19 Nov 76, 17:46"),
        stated("date", "2026-06-01T00:00:00", "1/6/26"),
        stated("date", "2026-06-01", "1 June 2026"),
        stated("time", "PT00H27M09.003S", "00:27"),
        stated("time", "PT09H27M09S", "09:27"),
        stated("time", "PT09H27M09S", "9:27:09 AM"),
        stated("time", "PT08H30M00S", "8:30 in the morning"),
        stated("time", "PT1H", "1 hour"),
    )
    found = read(document("spreadsheet", sheet("A", f"<table:table-row>{''.join(cells)}</table:table-row>")))
    shown = "2076-11-19 17:46:39 | 2026-06-01 | 1 June 2026 | 00:27:09 | 09:27:09"
    shown += " | 9:27:09 AM | 8:30 in the morning | 1 hour"
    assert found.text == f"Sheet: A\n{shown}"


def test_slides_have_the_numbers_that_they_show() -> None:
    shown = "<style:drawing-page-properties presentation:display-page-number='true'/>"
    style = f"<style:style style:name='dp1'>{shown}</style:style>"
    number = "<draw:text-box><text:p><text:page-number>1</text:page-number></text:p></draw:text-box>"

    def master(name: str, kind: str) -> str:
        shape = f"<draw:frame {kind}>{number}</draw:frame>"
        return f'<style:master-page style:name="{name}">{shape}</style:master-page>'

    masters = master("always", "") + master("asked", 'presentation:class="page-number"')
    slides = "".join(
        f'<draw:page draw:master-page-name="{name}" draw:style-name="{look}"/>'
        for name, look in (("always", "dp2"), ("asked", "dp1"), ("asked", "dp2"))
    )
    found = read(document("presentation", slides, styles=style, margins=masters))
    assert found.pages == ("1", "2", "")


def test_pages_with_deleted_words_or_embedded_files_are_named() -> None:
    empty = "<text:list-item><text:p><text:change text:change-id='c1'/></text:p></text:list-item>"
    embedded = "<text:p><draw:frame><draw:object-ole/></draw:frame></text:p>"
    by = "<office:change-info><dc:creator>Ann</dc:creator></office:change-info>"
    regions = (
        f"<text:changed-region text:id='c1'><text:deletion>{by}{paragraph('no rent')}</text:deletion>"
        f"</text:changed-region><text:changed-region text:id='c2'><text:deletion>{by}<text:p> </text:p>"
        "<text:p/></text:deletion></text:changed-region>"
    )
    body = [
        f"<text:tracked-changes>{regions}</text:tracked-changes>",
        f"<text:list><text:list-item>{paragraph('The rent')}</text:list-item>{empty}</text:list>",
        "<text:h><text:change text:change-id='c1'/></text:h>",
        "<text:p><text:soft-page-break/>is due.<text:change text:change-id='c2'/></text:p>",
        f"{embedded}<office:annotation>{embedded}</office:annotation><table:table><table:table-row>",
        f"<table:table-cell/><table:table-cell>{embedded}</table:table-cell></table:table-row></table:table>",
    ]
    found = read(document("text", "".join(body)))
    assert found.pages == ("- The rent", "is due.")
    assert found.note == f"{EMBEDDED}\n2.\n{DELETED}\n1."
    slide = "<draw:page><draw:frame><draw:object-ole/></draw:frame></draw:page>"
    assert (
        read(document("presentation", f"<draw:page>{boxed('Offer')}</draw:page>{slide}")).note
        == f"{EMBEDDED}\n2."
    )
