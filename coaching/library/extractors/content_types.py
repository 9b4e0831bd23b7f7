"""The content types that Sage reads, and their names for people.

A web process imports this: it loads none of the libraries that read documents.
"""

from pathlib import PurePath

from coaching.library.extractors.extracted import gettext_noop

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT, ODS, ODP = (
    f"application/vnd.oasis.opendocument.{name}" for name in ("text", "spreadsheet", "presentation")
)
HTML, EML, MSG, RTF = "text/html", "message/rfc822", "application/vnd.ms-outlook", "application/rtf"
TXT, MD, VTT, SRT = "text/plain", "text/markdown", "text/vtt", "application/x-subrip"
CSV = "text/csv"
JPEG, PNG, GIF, WEBP, TIFF, BMP = (f"image/{name}" for name in ("jpeg", "png", "gif", "webp", "tiff", "bmp"))
IMAGES = frozenset({JPEG, PNG, GIF, WEBP, TIFF, BMP})
M4A, MP3, WAV, OGG, WEBM = (f"audio/{name}" for name in ("mp4", "mpeg", "wav", "ogg", "webm"))
RECORDINGS = frozenset({M4A, MP3, WAV, OGG, WEBM})

WRONG_NAME = gettext_noop("Its name suggests another type of file. By its content it is:")
"""One of `NAMES` follows in a line of its own."""
_PLAIN_TEXT, _TRANSCRIPT = gettext_noop("plain text."), gettext_noop("a transcript.")
NAMES = {
    PDF: gettext_noop("a PDF."),
    DOCX: gettext_noop("a Word document."),
    XLSX: gettext_noop("an Excel workbook."),
    PPTX: gettext_noop("a PowerPoint presentation."),
    ODT: gettext_noop("an OpenDocument text."),
    ODS: gettext_noop("an OpenDocument spreadsheet."),
    ODP: gettext_noop("an OpenDocument presentation."),
    RTF: gettext_noop("a text in RTF."),
    CSV: gettext_noop("a table."),
    HTML: gettext_noop("a web page."),
    EML: gettext_noop("an email."),
    MSG: gettext_noop("an Outlook message."),
    **dict.fromkeys([TXT, MD], _PLAIN_TEXT),
    **dict.fromkeys([VTT, SRT], _TRANSCRIPT),
    **dict.fromkeys(IMAGES, gettext_noop("an image.")),
    **dict.fromkeys(RECORDINGS, gettext_noop("a recording.")),
}

_EXTENSIONS = {
    ".pdf": PDF, ".docx": DOCX, ".docm": DOCX, ".xlsx": XLSX, ".xlsm": XLSX, ".pptx": PPTX, ".pptm": PPTX,
    ".odt": ODT, ".ott": ODT, ".ods": ODS, ".ots": ODS, ".odp": ODP, ".otp": ODP, ".csv": CSV, ".tsv": CSV,
    ".tab": CSV, ".html": HTML, ".htm": HTML, ".eml": EML, ".msg": MSG, ".rtf": RTF, ".txt": TXT, ".md": MD,
    ".markdown": MD, ".vtt": VTT, ".srt": SRT, ".jpg": JPEG, ".jpeg": JPEG, ".png": PNG, ".gif": GIF,
    ".webp": WEBP, ".tif": TIFF, ".tiff": TIFF, ".bmp": BMP, ".m4a": M4A, ".mp3": MP3, ".wav": WAV,
    ".ogg": OGG, ".oga": OGG, ".webm": WEBM,
}  # fmt: skip
_SIGNATURES = (
    (b"\xff\xd8\xff", JPEG),
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
)
_MP3_FRAMES = (b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xfa")
_M4A_BRANDS = (b"M4A ", b"M4B ")
_BMP_HEADERS = frozenset({12, 40, 52, 56, 64, 108, 124})
"""The sizes of the header after the file's own, whose two letters begin many texts."""


def image_type(data: bytes) -> str:
    """Return the content type of an image; empty for anything else."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return WEBP
    if data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _BMP_HEADERS:
        return BMP
    return next((content_type for start, content_type in _SIGNATURES if data.startswith(start)), "")


def recording_type(data: bytes, name: str) -> str:
    """Return the content type of a recording; empty for anything else. Videos may begin like some."""
    if data.startswith(b"RIFF") and data[8:12] == b"WAVE":
        return WAV
    if data.startswith(b"OggS"):
        return OGG
    if data.startswith(b"ID3") or data[:2] in _MP3_FRAMES:
        return MP3
    if data[4:8] == b"ftyp" and (data[8:12] in _M4A_BRANDS or name.lower().endswith(".m4a")):
        return M4A
    return WEBM if data.startswith(b"\x1aE\xdf\xa3") and name.lower().endswith(".webm") else ""


def wrong_name(name: str, content_type: str) -> str:
    """Return a sentence if a file's name promises another type than its content has."""
    promised = _EXTENSIONS.get(PurePath(name).suffix.lower())
    is_form_of_text = promised == TXT and content_type in (MD, CSV)
    if promised is None or NAMES[promised] == NAMES[content_type] or is_form_of_text:
        return ""
    return f"{WRONG_NAME}\n{NAMES[content_type]}"
