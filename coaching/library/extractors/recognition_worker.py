"""Recognises the text of a picture: the module of the processes of `coaching.library.pipeline.recognition`.

Tesseract reads all languages whose data is installed. It is loaded here, so that a process that reads a
picture needs no file.
"""

import io
import os

from PIL import Image

from coaching.library.extractors.recognition_data import data_folder, languages_in

os.environ["OMP_THREAD_LIMIT"] = "1"  # forks have no other threads
import tesserocr

MAX_PIXELS = 8_000_000
MAX_CHARACTERS = 100_000

_folder = data_folder()
if _folder is None:
    raise ImportError("There is no data of any language for Tesseract.")
_tesseract = tesserocr.PyTessBaseAPI(path=str(_folder), lang="+".join(languages_in(_folder)))


def answer(_head: bytes, data: bytes) -> bytes:
    """Return the text of a WebP image, whose size is checked before it is decoded."""
    with Image.open(io.BytesIO(data), formats=("WEBP", "JPEG")) as image:
        if image.width * image.height > MAX_PIXELS:
            raise ValueError("too many pixels")
        _tesseract.SetImage(image.convert("L"))
    text: str = _tesseract.GetUTF8Text()
    return text[:MAX_CHARACTERS].encode("utf-8", "replace")


Image.init()
