"""Pictures, without the libraries of the other types, which take long to import."""

import io

from PIL import Image


def image(kind: str, *, size: tuple[int, int] = (2_000, 1_000), mode: str = "RGB") -> bytes:
    written = io.BytesIO()
    Image.new(mode, size).save(written, kind)
    return written.getvalue()
