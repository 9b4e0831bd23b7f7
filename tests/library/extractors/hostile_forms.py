"""PDFs and TIFFs whose fields, annotations, data or pages are built to harm what reads them."""

import io
import struct
import zlib
from collections.abc import Callable, Mapping

from PIL import Image

from tests.library.extractors import forms
from tests.library.extractors.hostile import MEGABYTE
from tests.library.extractors.pdf_objects import written_pdf

_ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
_DECLARED = f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e0 "lolololol">{_ENTITIES}]>'
_WIDGET = b"<< /Type /Annot /Subtype /Widget /FT /Tx /Rect [0 0 9 9] /T (f%d) /V (value %d) >>"


def _form(fields: bytes, annotations: bytes, *objects: bytes, box: bytes = b"[0 0 600 800]") -> bytes:
    """Return a form whose objects begin with number 4."""
    return written_pdf(
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields %s >> >>" % fields,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox %s /Annots %s >>" % (box, annotations),
        *objects,
    )


def fields_that_contain_themselves() -> bytes:
    field = b"<< /Type /Annot /Subtype /Widget /FT /Tx /Rect [0 0 9 9] /T (a) /Kids %s /Parent %d 0 R >>"
    both = b"[4 0 R 5 0 R]"
    return _form(both, both, field % (both, 5), field % (both, 4))


def many_fields() -> bytes:
    references = b"[%s]" % b" ".join(b"%d 0 R" % number for number in range(4, 60_004))
    return _form(references, references, *(_WIDGET % (number, number) for number in range(60_000)))


def deep_fields() -> bytes:
    """A chain of 20,000 fields, each in the one before, and the widget at its end."""
    links = [b"<< /T (a) /Kids [%d 0 R] /Parent %d 0 R >>" % (n + 1, max(4, n - 1)) for n in range(4, 20_004)]
    last = b"<< /Type /Annot /Subtype /Widget /FT /Tx /Rect [0 0 9 9] /T (z) /V (end) /Parent 20003 0 R >>"
    return _form(b"[4 0 R]", b"[20004 0 R]", *links, last)


def large_values() -> bytes:
    value = b"<< /Type /Annot /Subtype /Widget /FT /Tx /Rect [0 0 9 9] /T (f%d) /V (%s) >>"
    fields = (value % (number, b"word " * MEGABYTE) for number in range(4))
    return _form(b"[4 0 R 5 0 R 6 0 R 7 0 R]", b"[4 0 R 5 0 R 6 0 R 7 0 R]", *fields)


def one_widget_many_times() -> bytes:
    return _form(b"[4 0 R]", b"[%s]" % (b"4 0 R " * 1_000_000), _WIDGET % (1, 1))


def many_options() -> bytes:
    options = b" ".join(b"(option %d)" % number for number in range(200_000))
    field = (
        b"<< /Type /Annot /Subtype /Widget /FT /Ch /Ff 2097152 /Rect [0 0 9 9] /T (o) /Opt [%s] /V [%s] >>"
    )
    return _form(b"[4 0 R]", b"[4 0 R]", field % (options, options))


def page_of_a_billion_points() -> bytes:
    return _form(b"[4 0 R]", b"[4 0 R]", _WIDGET % (1, 1), box=b"[-1000000000 0 1e38 99999999999999999999]")


def data_with_entities() -> bytes:
    return forms.pdf_with_xfa(_DECLARED.encode() + forms.DATASETS.replace("Mia", "&e9;").encode())


def data_that_unpacks_to_much() -> bytes:
    packer = zlib.compressobj(1)
    block = b"<a>" * MEGABYTE
    packed = b"".join(packer.compress(block) for _ in range(80)) + packer.flush()
    return forms.pdf_with_xfa(packed, filters=b"/Filter /FlateDecode")


def deep_data() -> bytes:
    inner = "<a>" * 100_000 + "x" + "</a>" * 100_000
    return forms.pdf_with_xfa(forms.DATASETS.replace("Mia Groß", inner).encode())


def tiff(*sizes: tuple[int, int]) -> bytes:
    written = io.BytesIO()
    first, *others = [Image.new("L", size, 200) for size in sizes]
    first.save(written, "TIFF", save_all=True, append_images=others)
    return written.getvalue()


def _with_next(data: bytes, following: int) -> bytes:
    """Return a TIFF of one page whose directory names another place as the next page's."""
    at = struct.unpack_from("<I", data, 4)[0]
    count = struct.unpack_from("<H", data, at)[0]
    return data[: at + 2 + 12 * count] + struct.pack("<I", following) + data[at + 6 + 12 * count :]


def tiff_that_begins_again() -> bytes:
    data = tiff((100, 100))
    return _with_next(data, struct.unpack_from("<I", data, 4)[0])


def tiff_of_many_pages() -> bytes:
    """100,000 directories, which share one small image."""
    data = tiff((100, 100))
    at = struct.unpack_from("<I", data, 4)[0]
    length = 6 + 12 * struct.unpack_from("<H", data, at)[0]
    directory = data[at : at + length - 4]
    start = len(data) + len(data) % 2
    rest = b"".join(directory + struct.pack("<I", start + length * number) for number in range(1, 100_000))
    return _with_next(data, start) + b"\0" * (start - len(data)) + rest + directory + bytes(4)


def tiff_with_a_huge_page() -> bytes:
    """The second page claims 60,000 pixels a side."""
    data = bytearray(tiff((100, 100), (101, 101)))
    at = struct.unpack_from("<I", data, 4)[0]
    at = struct.unpack_from("<I", data, at + 2 + 12 * struct.unpack_from("<H", data, at)[0])[0]
    for number in range(struct.unpack_from("<H", data, at)[0]):
        tag = at + 2 + 12 * number
        if struct.unpack_from("<H", data, tag)[0] in (256, 257):
            data[tag + 2 : tag + 12] = struct.pack("<HII", 4, 1, 60_000)
    return bytes(data)


HOSTILE_FORMS: Mapping[str, tuple[Callable[[], bytes], str, str]] = {
    "fields that contain themselves": (fields_that_contain_themselves, "", ""),
    "60,000 fields": (many_fields, "", ""),
    "20,000 fields in each other": (deep_fields, "", ""),
    "values of megabytes": (large_values, "", ""),
    "one widget a million times": (one_widget_many_times, "", ""),
    "a choice of 200,000": (many_options, "", ""),
    "stamp that draws itself": (
        lambda: forms.pdf_with_shown("/Subtype /Stamp", drawn=b"/A Do " * 100),
        "text",
        "",
    ),
    "page of a billion points": (page_of_a_billion_points, "", ""),
    "form data with entities": (data_with_entities, "text", ""),
    "form data of 240 MB": (data_that_unpacks_to_much, "", ""),
    "form data of 100,000 levels": (deep_data, "text", ""),
    "tiff that begins again": (tiff_that_begins_again, "no_text", "This is an image"),
    "tiff of 100,000 pages": (tiff_of_many_pages, "no_text", "This is an image"),
    "tiff with a huge page": (tiff_with_a_huge_page, "no_text", "This is an image"),
}
"""As `HOSTILE`."""
