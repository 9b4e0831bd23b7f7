"""Text from bytes in any common encoding."""

import codecs
import re
from collections.abc import Iterable

from charset_normalizer import from_bytes

SAMPLE_BYTES = 64 * 1024
MAX_FOREIGN = 0.25
"""Western text has at most this share of letters outside ASCII."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_QUADRATIC = ("idna", "punycode")
"""Encodings of names, which take quadratic time."""
_COMMON = [
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "koi8_r",
    "cp932", "euc_jp", "gb18030", "big5", "euc_kr", "cp874",
]  # fmt: skip
_WESTERN = re.compile(r"[\u00a0£§©«®°±²³´·»¼½¾¿¡À-ÖØ-öø-ÿŒœŠšŽžŸƒ–—‘’‚“”„†‡•…‰‹›€™]*")
# Within a word these are letters of another code page.
_MISREAD = re.compile(r"[a-zA-Z][¡£¥³¹¿²¼½¾][a-zA-Z]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_LETTERS = re.compile(r"[^\W\d_]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


def decode(data: bytes, declared: str = "") -> str:
    """Return bytes as text, by their mark, the declared encoding, or what they look like."""
    text = _decode_certain(data, declared)
    return data.decode(_guess(data), "replace") if text is None else text


def _decode_certain(data: bytes, declared: str) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    for encoding in ("utf-8", declared):
        try:
            if encoding and codecs.lookup(encoding).name in _QUADRATIC:
                continue
            if encoding and not (encoding == "utf-8" and _zeros(data)):
                return data.decode(encoding)
        except (ValueError, LookupError):  # also of a name with zeros
            continue
    return None


def as_utf8_if_wide(data: bytes) -> bytes:
    """Return UTF-16 as UTF-8, so that patterns of ASCII match; anything else as it is."""
    return decode(data).encode("utf-8", "replace") if _is_wide(data) else data


def decode_alike(texts: Iterable[tuple[bytes, str]]) -> list[str]:
    """Return texts of one document, each with its declared encoding. The encoding is guessed once at most."""
    guessed = ""
    decoded = []
    for data, declared in texts:
        text = _decode_certain(data, declared)
        if text is None:
            guessed = guessed or _guess(data)
            text = data.decode(guessed, "replace")
        decoded.append(text)
    return decoded


def is_text(text: str) -> bool:
    """Say whether decoded bytes are text and no binary format: control characters are rare in it."""
    sample = text[:SAMPLE_BYTES]
    return len(_CONTROLS.findall(sample)) + sample.count("\ufffd") <= 1 + len(sample) // 50


def _zeros(data: bytes) -> int:
    return data[:SAMPLE_BYTES].count(0)


def _is_wide(data: bytes) -> bool:
    return _zeros(data) > len(data[:SAMPLE_BYTES]) // 4


def _guess(data: bytes) -> str:
    sample = data[:SAMPLE_BYTES]
    if _is_wide(sample):
        return "utf-16-le" if sample[1::2].count(0) > sample[0::2].count(0) else "utf-16-be"
    western = sample.decode("cp1252", "replace")
    foreign = "".join(_FOREIGN.findall(western))
    # Short western texts are guessed wrong.
    is_western = _WESTERN.fullmatch(foreign) and not _MISREAD.search(western)
    if is_western and len(foreign) <= MAX_FOREIGN * len(_LETTERS.findall(western)):
        return "cp1252"
    best = from_bytes(sample, cp_isolation=_COMMON).best()
    return best.encoding if best else "cp1252"
