"""The data of an XFA form: values that no page of the PDF shows. Only the packet with the data is read."""

import ctypes
from collections.abc import Iterator

import pypdfium2
import pypdfium2.raw as pdfium
from lxml import etree

from coaching.library.extractors.doctype import Doctype, find_doctype

PACKET = "datasets"
MAX_PACKETS = 50
MAX_BYTES = 2_000_000
MAX_VALUES = 5_000
MAX_VALUE_CHARACTERS = 5_000
"""Longer ones are pictures in base64."""

_DATA = "{http://www.xfa.org/schema/xfa-data/1.0/}data"


def form_data(document: pypdfium2.PdfDocument) -> tuple[tuple[str, str], ...]:
    """Return the names and values in the form's order; nothing for data that isn't plain XML."""
    for number in range(min(pdfium.FPDF_GetXFAPacketCount(document), MAX_PACKETS)):
        if _name(document, number) == PACKET:
            return tuple(_values(_content(document, number)))
    return ()


def _values(data: bytes) -> Iterator[tuple[str, str]]:
    if find_doctype(data) is not Doctype.NONE:
        return
    parser: etree.XMLParser[etree._Element] = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return
    found = root if root.tag == _DATA else root.find(f".//{_DATA}")
    left = MAX_VALUES
    for element in () if found is None else found.iter():
        value = (element.text or "").strip()
        if len(element) or not value or len(value) > MAX_VALUE_CHARACTERS or not isinstance(element.tag, str):
            continue
        yield etree.QName(element).localname, value
        left -= 1
        if not left:
            return


def _name(document: pypdfium2.PdfDocument, number: int) -> str:
    buffer = ctypes.create_string_buffer(64)
    size = pdfium.FPDF_GetXFAPacketName(document, number, buffer, len(buffer))
    return buffer.value.decode("latin-1") if 0 < size <= len(buffer) else ""


def _content(document: pypdfium2.PdfDocument, number: int) -> bytes:
    size = ctypes.c_ulong()
    if not pdfium.FPDF_GetXFAPacketContent(document, number, None, 0, size) or size.value > MAX_BYTES:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    pdfium.FPDF_GetXFAPacketContent(document, number, buffer, size.value, size)
    return bytes(buffer)[: size.value]
