"""Which extractor reads which content type. Only the process that reads documents imports it."""

from collections.abc import Callable, Mapping

from coaching.library.extractors import (
    content_types,
    csv,
    docx,
    eml,
    html,
    image,
    md,
    msg,
    odp,
    ods,
    odt,
    pdf,
    pptx,
    recording,
    rtf,
    srt,
    txt,
    vtt,
    xlsx,
)
from coaching.library.extractors.extracted import Extracted

Extractor = Callable[[bytes], Extracted]

EXTRACTORS: Mapping[str, Extractor] = {
    content_types.PDF: pdf.extract,
    content_types.DOCX: docx.extract,
    content_types.XLSX: xlsx.extract,
    content_types.PPTX: pptx.extract,
    content_types.ODT: odt.extract,
    content_types.ODS: ods.extract,
    content_types.ODP: odp.extract,
    content_types.CSV: csv.extract,
    content_types.HTML: html.extract,
    content_types.EML: eml.extract,
    content_types.MSG: msg.extract,
    content_types.RTF: rtf.extract,
    content_types.TXT: txt.extract,
    content_types.MD: md.extract,
    content_types.VTT: vtt.extract,
    content_types.SRT: srt.extract,
    content_types.JPEG: image.extract,
    content_types.PNG: image.extract,
    content_types.GIF: image.extract,
    content_types.WEBP: image.extract,
    content_types.TIFF: image.extract,
    content_types.BMP: image.extract,
    **dict.fromkeys(content_types.RECORDINGS, recording.extract),
}
"""By content type, as `detection.find_type` finds it."""
