"""Small Word documents with the parts that Word writes besides their text.

The libraries of other types take a third of a second to import: `files` has those.
"""

import io
import zipfile

from docx import Document

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
"""The names of the parts' relationships."""


def docx() -> bytes:
    document = Document()
    document.sections[0].header.paragraphs[0].text = "Smith & Co"
    document.add_heading("Lease of 12 High Street", 1)
    document.add_paragraph("The rent is £1,200 a month.")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Deposit", "£2,400"
    document.add_page_break()  # type: ignore[no-untyped-call]
    document.add_paragraph("Signed by both parties.")
    document.core_properties.title = "Lease"
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def word(body: str, **parts: str) -> bytes:
    """Return a document with further parts, such as footnotes."""
    written = io.BytesIO()
    replaced = {f"word/{name}.xml" for name in ("numbering", *parts)}
    with zipfile.ZipFile(io.BytesIO(docx())) as old, zipfile.ZipFile(written, "w") as new:
        for member in old.infolist():
            content = old.read(member).decode("utf-8", "replace")
            if member.filename == "word/document.xml":
                content = f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
            elif member.filename == "word/_rels/document.xml.rels":
                related = "".join(_relationship(name) for name in parts)
                kept = content.replace("/relationships/numbering", "/relationships/other")
                content = kept.replace("</Relationships>", f"{related}</Relationships>")
            elif member.filename == "[Content_Types].xml":
                typed = "".join(_content_type(name) for name in parts if name != "numbering")
                content = content.replace("</Types>", f"{typed}</Types>")
            if member.filename not in replaced:
                new.writestr(member.filename, content)
        for name, content in {"numbering": "", **parts}.items():
            new.writestr(f"word/{name}.xml", f'<w:{name} xmlns:w="{WORD}">{content}</w:{name}>')
    return written.getvalue()


def _relationship(name: str) -> str:
    return f'<Relationship Id="x{name}" Type="{OFFICE}/{name}" Target="{name}.xml"/>'


def _content_type(name: str) -> str:
    kind = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{name}+xml"
    return f'<Override PartName="/word/{name}.xml" ContentType="{kind}"/>'


def paragraph(text: str, properties: str = "", *, after: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t>{after}</w:r></w:p>"


def numbered(text: str, level: int, of_list: int = 1) -> str:
    place = f'<w:ilvl w:val="{level}"/><w:numId w:val="{of_list}"/>'
    return paragraph(text, f"<w:numPr>{place}</w:numPr>")


def level(number: int, form: str, text: str, more: str = "") -> str:
    said = f'<w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{number}">{said}</w:lvl>'
