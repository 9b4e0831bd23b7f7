"""Files of office programs that lie about their size, or are built to cost their reader time or memory."""

import struct
import zipfile
from collections.abc import Callable, Mapping

from tests.library.extractors import outlook
from tests.library.extractors.open_documents import (
    NAMESPACES,
    cell,
    document,
    item,
    package,
    paragraph,
    part,
    row,
    sheet,
)

MEGABYTE = 1024 * 1024
LOCKED = "This file is protected by a password."
ROWS_READ = "Sage read only the first 20,000 rows of each sheet."
_MILLION = "1000000"


def locked_text() -> bytes:
    entry = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    manifest = f"<manifest:manifest {NAMESPACES}>{entry}</manifest:manifest>"
    return document("text", paragraph("A lease"), manifest=manifest)


def text_with_an_older_manifest() -> bytes:
    doctype = '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd">'
    manifest = f"{doctype}<manifest:manifest {NAMESPACES}/>"
    return document("text", paragraph("A lease"), manifest=manifest)


def text_with_entities() -> bytes:
    content = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><d {NAMESPACES}>&x;</d>'
    return package("text", {"content.xml": content})


def levels(count: int) -> bytes:
    tables = "<table:table><table:table-row><table:table-cell>" * count
    ends = "</table:table-cell></table:table-row></table:table>" * count
    return document("text", f"{tables}{paragraph('A lease')}{ends}")


def stored_text(piece: str, size: int = 24 * MEGABYTE) -> bytes:
    """A text that isn't compressed, so that its density isn't what refuses it."""
    body = f"<office:body><office:text>{piece * (size // len(piece))}</office:text></office:body>"
    return package("text", {"content.xml": part("document-content", body)}, compression=zipfile.ZIP_STORED)


def stored_sheet(piece: str, size: int = 24 * MEGABYTE) -> bytes:
    rows = sheet("A", row("A lease") + piece * (size // len(piece)))
    body = f"<office:body><office:spreadsheet>{rows}</office:spreadsheet></office:body>"
    return package(
        "spreadsheet", {"content.xml": part("document-content", body)}, compression=zipfile.ZIP_STORED
    )


PARAGRAPHS_IN_PARAGRAPHS = (
    "<text:p>A lease<draw:frame><draw:text-box>" * 80 + "</draw:text-box></draw:frame></text:p>" * 80
)


def repeated(*, rows: str, columns: str, text: str, sheets: int = 1) -> bytes:
    cells = cell(text, f'table:number-columns-repeated="{columns}"')
    repeated_row = f'<table:table-row table:number-rows-repeated="{rows}">{cells}</table:table-row>'
    return document("spreadsheet", sheet("A", row("A lease") + repeated_row + row("The end")) * sheets)


def table(piece: bytes, size: int = 24 * MEGABYTE) -> bytes:
    """Lines that are found to be a table, and what then follows."""
    return b"a,b,c\n" * 60 + piece * (size // len(piece))


def message_with(changes: Mapping[int, bytes]) -> bytes:
    """A message whose container has other bytes at some places."""
    data = bytearray(outlook.msg())
    for place, new in changes.items():
        data[place : place + len(new)] = new
    return bytes(data)


def directory_of(data: bytes) -> int:
    """Return where a container's directory begins: its first entry is the root's."""
    return data.index("Root Entry".encode("utf-16-le"))


def message_that_contains_itself() -> bytes:
    """The first folder's child is the root."""
    at = directory_of(outlook.msg())
    return message_with({at + 76: struct.pack("<I", 0), at + 128 + 68: struct.pack("<III", 0, 0, 0)})


def message_of_endless_chains() -> bytes:
    """Each sector is followed by itself."""
    data = outlook.msg()
    count = len(data) // 512
    fat = struct.pack(f"<{count}I", *range(count))
    return message_with({len(data) - 512: fat[:512]})


def message_with_long_chain_of_folders() -> bytes:
    folder: outlook.Tree = {"a": b"x"}
    for _ in range(300):
        folder = {"__substg1.0_3701000D": folder}
    return outlook.container({**outlook.message(outlook.text(0x1000, "A lease")), "a": folder})


def message_to_people() -> bytes:
    people = {f"__recip_version1.0_#{number:08X}": outlook.person("Ann", "", 1) for number in range(5_000)}
    return outlook.container({**outlook.message(outlook.text(0x1000, "The keys are ready.")), **people})


def message_with_attachments(count: int) -> bytes:
    return outlook.container(
        outlook.message(outlook.text(0x1000, "A lease"), [outlook.attachment("a.txt", b"x")] * count)
    )


def message_whose_attachments_share_their_bytes() -> bytes:
    """Sixty-one attachments of four megabytes, of which the file holds those of one."""
    large = outlook.attachment("large.bin", b"x" * (4 * MEGABYTE))
    data = bytearray(outlook.container(outlook.message(outlook.text(0x1000, "A lease"), [large])))
    others = [outlook.attachment("large.bin", b"x" * 4_096)] * 60
    more = bytearray(outlook.container(outlook.message(outlook.text(0x1000, "A lease"), [large, *others])))
    name = "__substg1.0_37010102".encode("utf-16-le").ljust(64, b"\0")
    places = [at for at in range(0, len(more), 128) if more[at : at + 64] == name]
    largest = max(places, key=lambda at: struct.unpack_from("<I", more, at + 120)[0])
    for at in places:
        more[at + 116 : at + 128] = more[largest + 116 : largest + 128]
    assert len(more) < 2 * len(data)
    return bytes(more)


def message_in_rtf(rtf: bytes) -> bytes:
    return outlook.container(outlook.message(outlook.binary(0x1009, rtf)))


def rtf_of(piece: bytes) -> bytes:
    return b"{\\rtf1 A lease" + piece * (24 * MEGABYTE // len(piece))


def rtf_that_multiplies() -> bytes:
    """Every two bytes stand for sixteen, of two gigabytes that are promised."""
    packed = (b"\xff" + b"\x00\x0e" * 8) * (MEGABYTE // 8)
    return message_in_rtf(struct.pack("<IIII", len(packed) + 12, 2**31, 0x75465A4C, 0) + packed)


HOSTILE: Mapping[str, tuple[Callable[[], bytes], str, str]] = {
    "locked text": (locked_text, "needs_password", LOCKED),
    "text with an older manifest": (text_with_an_older_manifest, "text", ""),
    "text with entities": (text_with_entities, "refused", "This file contains instructions"),
    "text without content": (lambda: package("text", {"content.xml": ""}), "broken", ""),
    "tables in 80 tables": (lambda: levels(80), "text", ""),
    "tables in 10,000 tables": (lambda: levels(10_000), "", ""),
    "paragraphs in paragraphs": (lambda: stored_text(PARAGRAPHS_IN_PARAGRAPHS), "", ""),
    "a text of empty paragraphs": (lambda: stored_text("<text:p/>"), "", ""),
    "a text of page breaks": (lambda: stored_text("<text:soft-page-break/>"), "", ""),
    "a text of list items": (lambda: stored_text(item(paragraph("a"))), "", ""),
    "a paragraph of blanks": (lambda: stored_text("<text:p>" + "<text:s/>" * 100_000 + "</text:p>"), "", ""),
    "a sheet of rows": (lambda: stored_sheet(row("a"), 4 * MEGABYTE), "text", ROWS_READ),
    "a sheet of empty rows": (lambda: stored_sheet("<table:table-row/>"), "", ""),
    "a row of empty cells": (
        lambda: stored_sheet(f"<table:table-row>{'<table:table-cell/>' * 100_000}</table:table-row>"), "", ""
    ),
    "sheets in sheets": (lambda: stored_sheet(sheet("B", row("a"))), "", ""),
    "a million rows of a million columns": (
        lambda: repeated(rows=_MILLION, columns=_MILLION, text="x"), "text", ROWS_READ
    ),
    "repeated far more often than numbers go": (
        lambda: repeated(rows="9" * 5_000, columns="9" * 5_000, text="x"), "text", ROWS_READ
    ),
    "repeated less than once": (lambda: repeated(rows="-5", columns="²", text="x"), "text", ""),
    "a long cell a million times": (
        lambda: repeated(rows=_MILLION, columns=_MILLION, text="lease " * 100_000), "text", ROWS_READ
    ),
    "a million rows in 500 sheets": (
        lambda: repeated(rows=_MILLION, columns=_MILLION, text="x" * 100, sheets=500), "text", ROWS_READ
    ),
    "a table of one field": (lambda: table(b"a"), "text", "It’s very long"),
    "a table of commas": (lambda: table(b","), "", ""),
    "a table of short rows": (lambda: table(b"a,b\n"), "text", "Sage read only the first 100,000 lines"),
    "a table of empty rows": (lambda: table(b",\n"), "", ""),
    "a table with a quote that never ends": (lambda: table(b'"') + table(b"b\n,", MEGABYTE), "", ""),
    "a table whose field holds the rest": (
        lambda: table(b'"', 1) + b"b\n," * (8 * MEGABYTE), "text", "Sage read only the first 100,000 lines"
    ),
    "a table of quotes": (lambda: table(b'"",'), "", ""),
    "message that contains itself": (message_that_contains_itself, "", ""),
    "message of endless chains": (message_of_endless_chains, "", ""),
    "message without its end": (lambda: outlook.msg()[:-700], "", ""),
    "message in 300 folders": (message_with_long_chain_of_folders, "", ""),
    "message to 5,000 people": (message_to_people, "text", ""),
    "message with 1,000 attachments": (lambda: message_with_attachments(1_000), "text", ""),
    "message whose attachments share their bytes": (
        message_whose_attachments_share_their_bytes, "text", ""
    ),
    "message whose RTF multiplies": (rtf_that_multiplies, "", ""),
    "message of RTF groups": (
        lambda: message_in_rtf(outlook.stored_rtf(b"{\\rtf1 A lease" + b"{\\b" * (MEGABYTE // 4))), "text", ""
    ),
    "message of RTF signs": (
        lambda: message_in_rtf(outlook.stored_rtf(b"{\\rtf1 A lease" + b"\\'e9" * (MEGABYTE // 4))),
        "text", "",
    ),
    "RTF of groups": (lambda: rtf_of(b"{\\b"), "text", "This file is very long"),
    "RTF of surplus ends": (lambda: rtf_of(b"}") + b"\\par", "text", "This file is very long"),
    "RTF of notes": (lambda: rtf_of(b"{\\footnote x"), "text", "This file is very long"),
    "RTF of fonts": (lambda: rtf_of(b"\\f1\\plain\\v0 a"), "text", "This file is very long"),
    "RTF of binary data": (lambda: rtf_of(b"\\bin1 x"), "text", "This file is very long"),
    "RTF of letters by number": (lambda: rtf_of(b"\\u-10179?"), "text", "This file is very long"),
    "message of HTML": (
        lambda: outlook.container(outlook.message(outlook.binary(0x1013, b"<p>A lease" * (MEGABYTE // 6)))),
        "text", "This email is very long",
    ),
    "message of another year": (
        lambda: outlook.container({**outlook.message({}), **outlook.numbers(32, t00390040=2**63 - 1)}),
        "text", "",
    ),
}  # fmt: skip
"""As in `hostile`: the maker, the outcome and how the sentence begins."""
