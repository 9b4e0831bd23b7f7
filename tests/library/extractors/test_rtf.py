"""RTF is read as it is shown: with margins, tables, notes and shapes, in the letters of its fonts."""

import io

import pytest

from coaching.library.extractors import content_types
from coaching.library.extractors.left_out import DELETED, EMBEDDED
from coaching.library.extractors.rtf import MAX_PAGES
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now

HEAD = (
    rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial Cyr;}{\f2\fcharset128 MS;}}"
)


def read(body: bytes, head: bytes = HEAD) -> Extraction:
    return extract_now(io.BytesIO(head + body + b"}"), size=len(head) + len(body) + 1, name="upload")


def test_all_that_a_page_shows_is_read_in_its_place() -> None:
    found = read(
        rb"{\info{\title Lease}{\author Ann}{\creatim\yr2026\mo5\dy4\hr3}{\*\company Smith}}"
        rb"{\header Smith & Co\par}"
        rb"{\*\listtable{\list{\listname x;}}}{\headerf Smith & Co\par}"
        rb"Two rooms{\footnote\pard{\super\chftn} Without\par heating.}, one bath."
        rb"{\*\annotation By whom?}\par"
        rb"{\listtext 1.\tab}First{\v hidden}{\deleted gone}\par"
        rb"\trowd Item\cell Sum\cell\row Deposit\cell 2,400\cell\row"
        rb"{\field{\*\fldinst HYPERLINK x}{\fldrslt here}}"
        rb"{\shp{\*\shpinst{\sp{\sn name}{\sv value}}{\shptxt In a box\par}}"
        rb"{\shprslt{\*\do{\dptxbxtext In a box}}}}"
        rb"{\object{\*\objdata 0102}{\result shown}}\page Page two"
    )
    assert found.content_type == content_types.RTF
    assert found.text == (
        "Smith & Co\nTwo rooms, one bath.\nNote: Without heating.\nComment: By whom?\n1.\tFirst\n"
        "Item | Sum\nDeposit | 2,400\nhereshown\nIn a box\fPage two"
    )
    assert found.hints == {"title": "Lease", "author": "Ann", "created": "2026-05-04"}
    assert found.page_count == 2


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"F\'fcr \'80 5", "Für € 5"),
        (rb"\f1 \'cc\'e8\'f0 \f0 F\'fcr", "Мир Für"),
        (b"\\f2 \\'8d\\'87\r\n\\'8d\\'87{\\plain\\'e9}", "合合é"),
        (rb"\u8364?5 \uc2\u1052\'8c\'8c\uc0\u1080 x", "€5 Миx"),
        (rb"{\uc9\u8364 ?}5", "€5"),
        (rb"It\u8217\rquote s \uc2\u8212\emdash\~x\u8217\par y", "It’s —x’\ny"),
        (rb"\u8217\b It is", "’It is"),
        (rb"{\*}{\loch seen}", "seen"),
        (rb"x \u-10179?\u-8704?", "x 😀"),
        (rb"\ansicpg99999 \'e9 \'zz \bogus1 x", "é zz x"),
    ],
)
def test_letters_are_those_of_their_font_or_number(body: bytes, text: str) -> None:
    assert read(body).text == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"a {\deleted\v0 b\plain c\deleted0 d}{\mvf\plain e}f", "a df"),
        (rb"a\nestcell b\nestcell{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}c", "a | b\nc"),
    ],
)
def test_deleted_text_isnt_read_and_nested_rows_are_lines(body: bytes, text: str) -> None:
    assert read(body).text == text


def test_pages_with_deleted_words_or_embedded_files_are_named() -> None:
    body = (
        rb"one{\deleted  }{\mvf moved}\page \u1?\'02 two{\deleted no{\v or hidden}}"
        rb"{\header{\deleted old}}\page {\object\objemb{\*\objdata 01}{\result shown}}{\pict{\deleted 01}}"
    )
    found = read(body)
    assert found.pages == ("one", "two", "shown")
    assert found.note == f"{EMBEDDED}\n3.\n{DELETED}\n1–2."
    assert read(body.replace(rb"\deleted", b"").replace(rb"\objemb", b"")).note == ""
    ends = read(rb"one{\deleted\cell\par }{\footnote{\object\objemb}}\par two")
    assert (ends.text, ends.note) == ("one\ntwo", f"{EMBEDDED}\n1.")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"a {\upr{Mac ?}{\*\ud{Mac \u960?}}} b", "a Mac π b"),
        (rb"{\upr{x{\*\bkmkstart y}}{\*\ud{z{\*\bkmkstart \u960?}}}}end", "zend"),
        (rb"{\v{\upr{x}{\*\ud{y}}}}end", "end"),
        (rb"{\upr{old}}{\*\ud no}end", "oldend"),
        (rb"{\upr{old}{\*\ud }}end", "oldend"),
        (rb"{\upr{x}{\ud{y}}}end", "yend"),
        (rb"{\upr{x{\upr{v}{\*\ud w}}}{\*\ud{y}}}end", "yend"),
        (rb"{\upr{x}{\*\ud{y{\upr{v}{\*\ud w}}}}}end", "ywend"),
    ],
)
def test_of_a_text_in_two_encodings_the_one_in_unicode_is_read(body: bytes, text: str) -> None:
    assert read(body).text == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"before \\bin5 }}}}}after", "before after"),
        (b"before \\bin-5 after", "before after"),
        (b"before \\bin999999999 after", "before"),
        (b"before }} after \\par end", "before  after\nend"),
        (b"{{{{before", "before"),
        (b"before}\0\0junk", "before"),
        (b"{\\pict " + b"{" * 9 + b"no}", ""),
    ],
)
def test_lengths_and_braces_may_lie(body: bytes, text: str) -> None:
    assert read(body).text == text


def test_a_file_of_many_breaks_has_a_limited_number_of_pages() -> None:
    found = read(rb"a\page " * MAX_PAGES + b"end")
    assert found.page_count == len(found.pages) == MAX_PAGES
    assert found.pages[-1] == "a\nend"


def test_a_day_that_cant_be_is_no_hint() -> None:
    assert read(rb"{\info{\creatim\yr99999999\mo99\dy4}}A lease").hints == {}
