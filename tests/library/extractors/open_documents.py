"""Small OpenDocument files, with the markup that LibreOffice writes."""

import io
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape

_NAMES = {
    "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style", "meta": "meta",
    "presentation": "presentation", "fo": "xsl-fo-compatible", "manifest": "manifest",
}  # fmt: skip
NAMESPACES = " ".join(
    [
        *(
            f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
            for prefix, name in _NAMES.items()
        ),
        'xmlns:dc="http://purl.org/dc/elements/1.1/"',
    ]
)
META = (
    "<office:meta><dc:title>Lease</dc:title><meta:initial-creator>Ann</meta:initial-creator>"
    "<meta:creation-date>2026-05-04T10:00:00</meta:creation-date></office:meta>"
)


def part(name: str, content: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?><office:{name} {NAMESPACES}>{content}</office:{name}>'


def package(kind: str, members: Mapping[str, str], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}", zipfile.ZIP_STORED)
        for name, content in members.items():
            archive.writestr(name, content)
    return written.getvalue()


def document(kind: str, body: str, *, styles: str = "", margins: str = "", manifest: str = "") -> bytes:
    name = {"text-template": "text"}.get(kind, kind)
    content = (
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{name}>{body}</office:{name}></office:body>"
    )
    masters = f"<office:master-styles>{margins}</office:master-styles>"
    return package(
        kind,
        {
            "content.xml": part("document-content", content),
            "styles.xml": part("document-styles", masters),
            "meta.xml": part("document-meta", META),
            "META-INF/manifest.xml": manifest or f"<manifest:manifest {NAMESPACES}/>",
        },
    )


def paragraph(text: str) -> str:
    return f"<text:p>{escape(text)}</text:p>"


def cell(text: str, attributes: str = "") -> str:
    return f"<table:table-cell {attributes}>{paragraph(text) if text else ''}</table:table-cell>"


def row(*texts: str, attributes: str = "") -> str:
    return f"<table:table-row {attributes}>{''.join(map(cell, texts))}</table:table-row>"


def sheet(name: str, rows: str) -> str:
    return f'<table:table table:name="{escape(name)}">{rows}</table:table>'


def boxed(text: str, attributes: str = "") -> str:
    return f"<draw:frame {attributes}><draw:text-box>{paragraph(text)}</draw:text-box></draw:frame>"


def item(content: str) -> str:
    return f"<text:list><text:list-item>{content}</text:list-item></text:list>"


def odt() -> bytes:
    header = f"<style:header>{paragraph('Smith & Co')}</style:header>"
    deletion = f"<text:deletion>{paragraph('The rent is £900.')}</text:deletion>"
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        f"{paragraph('Without heating.')}</text:note-body></text:note>"
    )
    comment = f"<office:annotation><dc:creator>Bob</dc:creator>{paragraph('By whom?')}</office:annotation>"
    header_rows = f"<table:table-header-rows>{row('Item', 'Sum')}</table:table-header-rows>"
    body = [
        f"<text:tracked-changes><text:changed-region>{deletion}</text:changed-region></text:tracked-changes>",
        "<text:h>Lease of<text:s text:c='3'/>12 High Street</text:h>",
        f"<text:p>The rent is <text:span>£1,200</text:span>{note} a month.</text:p>",
        item(paragraph("Two rooms") + item(paragraph("One bath"))),
        f"<table:table>{header_rows}{row('Deposit', '£2,400')}</table:table>",
        f"<text:p>{boxed('In a box')}</text:p>",
        f'<text:p text:style-name="P1">Signed by {comment}both<text:line-break/>parties.',
        "<text:soft-page-break/>Page three</text:p>",
    ]
    styles = '<style:style style:name="P1"><style:paragraph-properties fo:break-before="page"/></style:style>'
    margins = f"<style:master-page>{header}</style:master-page>" * 2
    return document("text", "".join(body), styles=styles, margins=margins)


def ods() -> bytes:
    dated = '<table:table-cell office:value-type="date" office:date-value="2026-06-01"/>'
    comment = f"<office:annotation>{paragraph('Why?')}</office:annotation>"
    rent = f"<table:table-cell>{comment}{paragraph('1.200,50 €')}</table:table-cell>"
    blank = '<table:table-cell table:number-columns-repeated="16384"/>'
    twice = cell("free", 'table:number-columns-repeated="2"')
    rows = [
        row("Unit", "Rent", "From"),
        f"<table:table-row>{cell('1a')}{rent}{dated}{blank}</table:table-row>",
        f"<table:table-row>{twice}<table:covered-table-cell/>{cell('2b')}</table:table-row>",
        f'<table:table-row table:number-rows-repeated="1048573">{blank}</table:table-row>',
    ]
    return document("spreadsheet", sheet("Rents", "".join(rows)) + sheet("Notes", row("Unit 2 is empty.")))


def odp() -> bytes:
    title = boxed("Offer", 'presentation:class="title"')
    body = f"<draw:g><draw:custom-shape>{paragraph('Two floors')}</draw:custom-shape></draw:g>"
    table = f"<draw:frame><table:table>{row('Rent', '900')}</table:table></draw:frame>"
    number = boxed("1", 'presentation:class="page-number"')
    notes = boxed("Mention the parking.", 'presentation:class="notes"')
    page = (
        f"{title}{body}{table}{number}<presentation:notes><draw:page-thumbnail/>{notes}</presentation:notes>"
    )
    return document("presentation", f"<draw:page>{page}</draw:page><draw:page>{boxed('Thanks')}</draw:page>")
