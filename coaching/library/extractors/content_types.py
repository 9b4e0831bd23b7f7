"""The content types that Sage reads, and their names for people.

A web process imports this: it loads none of the libraries that read documents.
"""

from pathlib import PurePath

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT, ODS, ODP = (
    f"application/vnd.oasis.opendocument.{name}" for name in ("text", "spreadsheet", "presentation")
)
HTML, EML, MSG = "text/html", "message/rfc822", "application/vnd.ms-outlook"
TXT, MD, VTT, SRT = "text/plain", "text/markdown", "text/vtt", "application/x-subrip"
CSV = "text/csv"
JPEG, PNG, GIF, WEBP, TIFF, BMP = (f"image/{name}" for name in ("jpeg", "png", "gif", "webp", "tiff", "bmp"))
IMAGES = frozenset({JPEG, PNG, GIF, WEBP, TIFF, BMP})

NAMES = {
    PDF: "a PDF", DOCX: "a Word document", XLSX: "an Excel workbook", PPTX: "a PowerPoint presentation",
    ODT: "an OpenDocument text", ODS: "an OpenDocument spreadsheet", ODP: "an OpenDocument presentation",
    CSV: "a table", HTML: "a web page", EML: "an e-mail", MSG: "an Outlook message", TXT: "plain text",
    MD: "plain text", VTT: "a transcript", SRT: "a transcript", **dict.fromkeys(IMAGES, "an image"),
}  # fmt: skip
"""For people."""

_EXTENSIONS = {
    ".pdf": PDF, ".docx": DOCX, ".docm": DOCX, ".xlsx": XLSX, ".xlsm": XLSX, ".pptx": PPTX, ".pptm": PPTX,
    ".odt": ODT, ".ott": ODT, ".ods": ODS, ".ots": ODS, ".odp": ODP, ".otp": ODP, ".csv": CSV, ".tsv": CSV,
    ".tab": CSV, ".html": HTML, ".htm": HTML, ".eml": EML, ".msg": MSG, ".txt": TXT, ".md": MD,
    ".markdown": MD, ".vtt": VTT, ".srt": SRT, ".jpg": JPEG, ".jpeg": JPEG, ".png": PNG, ".gif": GIF,
    ".webp": WEBP, ".tif": TIFF, ".tiff": TIFF, ".bmp": BMP,
}  # fmt: skip
_SIGNATURES = (
    (b"\xff\xd8\xff", JPEG),
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
)
_BMP_HEADERS = frozenset({12, 40, 52, 56, 64, 108, 124})
"""The sizes of the header after the file's own, whose two letters begin many texts."""


def image_type(data: bytes) -> str:
    """Return the content type of an image; empty for anything else."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return WEBP
    if data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _BMP_HEADERS:
        return BMP
    return next((content_type for start, content_type in _SIGNATURES if data.startswith(start)), "")


def wrong_name(name: str, content_type: str) -> str:
    """Return a sentence if a file's name promises another type than its content has."""
    extension = PurePath(name).suffix.lower()
    promised = _EXTENSIONS.get(extension)
    is_form_of_text = promised == TXT and content_type in (MD, CSV)
    if promised is None or NAMES[promised] == NAMES[content_type] or is_form_of_text:
        return ""
    return f"Its name ends in {extension}, but it is {NAMES[content_type]}."
