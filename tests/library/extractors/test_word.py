"""What Word shows besides the text of paragraphs is read with it: numbers, notes, comments, margins."""

import io
from collections.abc import Mapping

import pytest
from docx import Document

from coaching.library.extractors.left_out import DELETED, EMBEDDED
from coaching.library.extractors.numerals import numeral
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now
from tests.library.extractors.word import OFFICE, level, numbered, paragraph, word


def read(data: bytes) -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name="upload")


LEVELS = (
    level(0, "decimal", "%1."),
    level(1, "lowerLetter", "%1.%2"),
    level(2, "upperRoman", "(%3)"),
    level(3, "bullet", "o"),
    level(4, "lowerRoman", "%3.%5", "<w:isLgl/>"),
)
FORM = f'<w:abstractNum w:abstractNumId="7">{"".join(LEVELS)}</w:abstractNum>'
ANEW = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
LISTS = (
    f'{FORM}<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    f'<w:num w:numId="2"><w:abstractNumId w:val="7"/>{ANEW}</w:num>'
)


def test_clauses_have_their_numbers() -> None:
    body = [
        numbered("Rent", 0),
        numbered("Due on the first", 1),
        numbered("or the day after", 1),
        numbered("in part", 2),
        numbered("a point", 3),
        numbered("legal", 4),
        paragraph("Between them"),
        numbered("Deposit", 0),
        numbered("Elsewhere", 0, of_list=2),
        numbered("Ends", 0),
        numbered("straight to a part", 2),
        numbered("no such list", 0, of_list=9),
    ]
    assert read(word("".join(body), numbering=LISTS)).text.split("\n") == [
        "1. Rent",
        "1.a Due on the first",
        "1.b or the day after",
        "(I) in part",
        "- a point",
        "1.1 legal",
        "Between them",
        "2. Deposit",
        "5. Elsewhere",
        "3. Ends",
        "(I) straight to a part",
        "no such list",
    ]


@pytest.mark.parametrize(
    "numbering",
    [
        LISTS.replace('w:val="1"', 'w:val="x"').replace('w:ilvl="0"', 'w:ilvl="-1"'),
        LISTS.replace("%1.", "%1" * 100_000),
        f"{LISTS}<w:num/><w:abstractNum/><w:num w:numId='3'><w:lvlOverride/></w:num>",
        "",
    ],
)
def test_odd_numbers_lose_no_text(numbering: str) -> None:
    body = "".join(numbered(f"Clause {number}", number % 12) for number in range(2_000))
    found = read(word(body, numbering=numbering))
    assert found.outcome == "text"
    assert found.text.count("Clause") == 2_000
    assert len(found.text) < 500_000


def test_notes_and_comments_follow_their_paragraph_once() -> None:
    marks = "".join(
        f'<w:{name}Reference w:id="2"/>' for name in ("footnote", "endnote", "comment", "footnote")
    )
    parts: Mapping[str, str] = {
        f"{name}s": f'<w:{name} w:id="2">{paragraph(f"The {name}.")}</w:{name}>'
        for name in ("footnote", "endnote", "comment")
    }
    body = paragraph("The rent is £1,200.", after=marks) + paragraph("The end.", after=marks)
    assert read(word(body, **parts)).text.split("\n") == [
        "The rent is £1,200.",
        "Note: The footnote.",
        "Note: The endnote.",
        "Comment: The comment.",
        "The end.",
    ]


def test_margins_of_first_pages_and_their_tables_are_read() -> None:
    document = Document()
    section = document.sections[0]
    section.different_first_page_header_footer = True
    section.first_page_header.paragraphs[0].text = "Smith & Co"
    section.header.add_table(1, 1, section.page_width).cell(0, 0).text = "Page two and on"  # type: ignore[arg-type]
    document.add_paragraph("The rent is £1,200.")
    written = io.BytesIO()
    document.save(written)
    assert read(written.getvalue()).text.split("\n") == [
        "Page two and on",
        "Smith & Co",
        "The rent is £1,200.",
    ]


def test_a_diagram_and_a_chart_are_read_once_where_they_stand() -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006"
    names = (
        f'xmlns:a="{drawing}/main" xmlns:c="{drawing}/chart" xmlns:d="{drawing}/diagram" xmlns:r="{OFFICE}"'
    )
    drawn = f'<w:x {names}><d:relIds r:dm="xdata"/><c:chart r:id="xplot"/><c:chart r:id="none"/></w:x>'
    points = "".join(f'<c:pt idx="{number}"><c:v>4.4000000000000004</c:v></c:pt>' for number in range(1_500))
    plot = f"<c:x {names}><c:ser><c:tx><c:v>Rent</c:v></c:tx><c:val>{points}</c:val></c:ser></c:x>"
    found = read(
        word(
            (paragraph("Before", after=drawn) + paragraph("After", after=drawn)) * 500,
            data=f"<a:p {names}><a:t>First step</a:t></a:p>",
            plot=plot,
        )
    )
    lines = found.text.split("\n")
    assert lines[:4] == ["Before", "First step", " | Rent", " | 4.4"]
    assert (lines.count("First step"), lines.count("After"), lines.count(" | Rent")) == (1, 500, 1)
    assert found.text.count("4.4") == 1_000


def test_pages_with_deleted_words_or_embedded_files_are_named() -> None:
    deleted = "<w:del><w:r><w:delText>no rent</w:delText></w:r></w:del>"
    blank = "<w:del><w:r><w:delText> </w:delText></w:r></w:del>"
    broken = '<w:br w:type="page"/>'
    file = '<x:OLEObject xmlns:x="urn:schemas-microsoft-com:office:office" Type="Embed"/>'
    cells = f"<w:tbl><w:tr><w:tc><w:p>{deleted}</w:p></w:tc></w:tr></w:tbl>"
    body = [
        paragraph("The rent", after=f"{blank}<w:moveFrom><w:t>moved</w:t></w:moveFrom>"),
        paragraph("", "<w:pStyle w:val='Heading1'/>", after=f"{broken}{deleted}"),
        numbered("", 0).replace("<w:t></w:t>", deleted),
        cells,
        paragraph("is due.", after=f"{broken}{file}{file.replace('Embed', 'Link')}"),
    ]
    found = read(word("".join(body), numbering=LISTS))
    assert found.pages == ("The rent", "is due.", "")
    assert found.note == f"{EMBEDDED}\n3.\n{DELETED}\n2."


@pytest.mark.parametrize(
    ("number", "form", "written"),
    [
        (4, "lowerRoman", "iv"),
        (1_999, "upperRoman", "MCMXCIX"),
        (4_000, "upperRoman", "4000"),
        (28, "lowerLetter", "bb"),
        (0, "upperLetter", "0"),
        (781, "lowerLetter", "781"),
        (7, "decimalZero", "07"),
        (22, "ordinal", "22nd"),
        (113, "ordinal", "113th"),
        (3, "none", ""),
        (3, "unheard-of", "3"),
    ],
)
def test_numbers_are_written_in_their_form(number: int, form: str, written: str) -> None:
    assert numeral(number, form) == written
