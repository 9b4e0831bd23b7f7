"""The type of a file by its content. Its name only decides between forms of text, and is checked."""

import io
import re
import struct
import zipfile

import olefile
import puremagic

from coaching.library.extractors.archive import open_archive
from coaching.library.extractors.content_types import (
    CSV,
    DOCX,
    EML,
    HTML,
    MD,
    MSG,
    ODP,
    ODS,
    ODT,
    PDF,
    PPTX,
    RTF,
    SRT,
    TXT,
    VTT,
    XLSX,
    image_type,
    recording_type,
)
from coaching.library.extractors.decoding import decode, is_text
from coaching.library.extractors.delimiters import table_delimiter
from coaching.library.extractors.extracted import LOCKED, Unread, gettext_noop

_MARKDOWN = (".md", ".markdown")
_TABLES = (".csv", ".tsv", ".tab")
_BLANK = b"\0 \t\r\n\f\v"
_PDF_SEARCHED = 1_024
_MEMBERS = {"word/document.xml": DOCX, "xl/workbook.xml": XLSX, "ppt/presentation.xml": PPTX}
_MAIN_PARTS = {
    b"wordprocessingml.document.main": DOCX,
    b"spreadsheetml.sheet.main": XLSX,
    b"presentationml.presentation.main": PPTX,
}
_OPEN_DOCUMENTS = {
    b"opendocument.text": ODT,
    b"opendocument.spreadsheet": ODS,
    b"opendocument.presentation": ODP,
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MESSAGE_PROPERTIES = "__properties_version1.0"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_SAMPLE = 16 * 1024
# Possessive: alternatives that were tried once aren't tried again, which would take exponential time.
_HTML_START = re.compile(
    r"(?:\s+|<!--(?:(?!-->).)*+-->|<\?xml[^>]*+>)*+<(?:!doctype html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_SRT_START = re.compile(r"\s*+\d++[^\S\n]*+\n\s*+\d{1,2}:\d\d:\d\d[,.]\d{1,3}\s++-->")
_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[ \t]?.*(?:\n[ \t].*)*\n")
_MAIL_HEADERS = {"from", "to", "date", "subject", "received", "message-id", "mime-version", "return-path"}
_MAILBOX_LINE = ("From ", ">From ")
_MARKDOWN_SIGNS = re.compile(r"^(?:#{1,6} \S|```|\[[^\]\n]+\]: )", re.MULTILINE)

USABLE = gettext_noop("Save it as PDF, DOCX, XLSX, PPTX or text, and upload that.")
EMPTY = gettext_noop("This file is empty.")
DAMAGED = gettext_noop("This file is damaged: parts of it are missing.")
ARCHIVE = gettext_noop("Sage doesn’t open archives. Upload the files in it instead.")
OPEN_DOCUMENT = gettext_noop("Sage can’t read this kind of OpenDocument file.")
OLD_OFFICE = gettext_noop("Sage can’t read Office formats from before 2007.")
OTHER_IMAGE = gettext_noop("Sage can’t read this kind of image, but it can read JPEG and PNG.")
AUDIO = gettext_noop("Sage can’t read audio files of this kind.")
VIDEO = gettext_noop("Sage can’t read videos.")
UNKNOWN = gettext_noop("Sage doesn’t know this kind of file.")
_MEDIA = {"audio": AUDIO, "video": VIDEO, "image": OTHER_IMAGE}


def find_type(data: bytes, name: str) -> str:
    """Return the content type. Raises `Unread` for what Sage doesn't read."""
    if not data.strip(_BLANK):
        raise Unread("refused", EMPTY)
    if b"%PDF-" in data[:_PDF_SEARCHED]:
        return PDF
    if content_type := image_type(data) or recording_type(data, name):
        return content_type
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_archive(data)
    if data.startswith(_OLE):
        return _in_container(data)
    return _kind_of_text(data, name)


def _in_archive(data: bytes) -> str:
    with open_archive(data, may_name_types=True) as archive:
        members = set(archive.namelist())
        for member, content_type in _MEMBERS.items():
            if member in members:
                return content_type
        if "[Content_Types].xml" in members:
            return _by_declared_parts(archive)
        if "mimetype" in members and "content.xml" in members:
            return _open_document(_first_bytes(archive, "mimetype"))
    raise Unread("refused", ARCHIVE)


def _open_document(declared: bytes) -> str:
    """Return the type, also of a template."""
    for kind, content_type in _OPEN_DOCUMENTS.items():
        if kind in declared:
            return content_type
    raise Unread("refused", f"{OPEN_DOCUMENT}\n{USABLE}" if b"opendocument" in declared else ARCHIVE)


def _by_declared_parts(archive: zipfile.ZipFile) -> str:
    """Return the type of a package whose main part has another name than usual."""
    declared = _first_bytes(archive, "[Content_Types].xml")
    for main, content_type in _MAIN_PARTS.items():
        if main in declared:
            return content_type
    raise Unread("broken", DAMAGED)


def _first_bytes(archive: zipfile.ZipFile, member: str) -> bytes:
    try:
        with archive.open(member) as opened:
            return opened.read(_SAMPLE)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError):
        raise Unread("broken", DAMAGED) from None


def _in_container(data: bytes) -> str:
    """Return the type of an Outlook message; the older Office formats are such containers, too."""
    if _MESSAGE_PROPERTIES.encode("utf-16-le") in data and _is_message(data):
        return MSG
    if _ENCRYPTED_PACKAGE in data:
        raise Unread("needs_password", LOCKED)
    raise Unread("refused", f"{OLD_OFFICE}\n{USABLE}")


def _kind_of_text(data: bytes, name: str) -> str:
    if data.startswith(b"{\\rtf"):
        return RTF
    text = decode(data[:_SAMPLE]).lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not is_text(text):
        raise Unread("refused", f"{_unread_kind(data)}\n{USABLE}")
    if text.startswith("WEBVTT"):
        return VTT
    if _SRT_START.match(text):
        return SRT
    if _HTML_START.match(text):
        return HTML
    if _is_mail(text):
        return EML
    return _form_of_text(text, name.lower())


def _is_message(data: bytes) -> bool:
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            return bool(container.exists(_MESSAGE_PROPERTIES))
    except (OSError, ValueError, IndexError, struct.error):
        raise Unread("broken", DAMAGED) from None


def _form_of_text(text: str, name: str) -> str:
    if name.endswith(_TABLES):
        return CSV
    if name.endswith(_MARKDOWN) or len(_MARKDOWN_SIGNS.findall(text)) >= 2:
        return MD
    whole_lines, _, _ = text.rpartition("\n")
    return CSV if table_delimiter(whole_lines) else TXT


def _is_mail(text: str) -> bool:
    """Say whether the text begins with an e-mail's headers: a sender and two others."""
    found: set[str] = set()
    # In mailboxes a line of another form precedes the headers.
    at = text.find("\n") + 1 if text.startswith(_MAILBOX_LINE) else 0
    while header := _HEADER.match(text, at):
        found.add(header[1].lower())
        at = header.end()
    return "from" in found and len(found & _MAIL_HEADERS) >= 3


def _unread_kind(data: bytes) -> str:
    """Return a sentence on a format that Sage doesn't read."""
    if data[4:12] in (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftypavif"):
        return OTHER_IMAGE
    try:
        found = puremagic.magic_string(data[:_SAMPLE])
    except (puremagic.PureError, ValueError):
        found = []
    kinds = (match.mime_type.split("/")[0] for match in found)
    return next((_MEDIA[kind] for kind in kinds if kind in _MEDIA), UNKNOWN)
