"""PDFs that are written object by object, without a library."""


def written_pdf(*objects: bytes) -> bytes:
    """Return a PDF with these objects, the first of which is the catalogue."""
    text, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Root 1 0 R /Size %d >>\nstartxref\n%d\n%%%%EOF" % (size, len(text))
    return bytes(text) + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer
