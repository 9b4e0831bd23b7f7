"""The typefaces come with Sage: unmodified files, their licence, and the same ones in styles and preloads."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

FONTS = Path(settings.BASE_DIR) / "static" / "fonts"
STYLES = (Path(settings.BASE_DIR) / "static" / "css" / "fonts.css").read_text()
_ALL = re.findall(r"@font-face \{(.*?)\n\}", STYLES, re.DOTALL)
FACES = [face for face in _ALL if "url(" in face]
OF_THE_SYSTEM = [face for face in _ALL if "local(" in face]


def test_each_file_is_a_face_and_has_its_licence() -> None:
    files = {path.relative_to(FONTS).as_posix() for path in FONTS.glob("*/*.woff2")}
    assert set(re.findall(r'url\("\.\./fonts/([^"]+)"\)', STYLES)) == files
    assert len(FACES) == len(files) == 8
    for folder in FONTS.iterdir():
        assert "SIL Open Font License, Version 1.1" in (folder / "LICENSE").read_text()
    assert all((FONTS / name).read_bytes()[:4] == b"wOF2" for name in files)


@pytest.mark.django_db
def test_a_page_preloads_the_upright_latin_faces_alone_where_a_browser_has_them(client: Client) -> None:
    assert _preloads(client) == []
    client.cookies["sage_timezone"] = "Europe/Berlin"
    preloads = _preloads(client)
    assert len(preloads) == 2
    assert all("-latin-wght-normal." in address for address in preloads)
    assert sum((FONTS / name).stat().st_size for name in _names(preloads)) < 90_000


def _preloads(client: Client) -> list[str]:
    page = client.get("/accounts/login/").content.decode()
    return re.findall(r'<link rel="preload" as="font" type="font/woff2" crossorigin href="([^"]+)">', page)


def test_a_text_is_shown_before_its_typeface_has_come_in_a_face_as_wide() -> None:
    assert all("font-display: swap;" in face and "unicode-range: " in face for face in FACES)
    sized = {
        _family(face) for face in OF_THE_SYSTEM if "size-adjust: " in face and "ascent-override: " in face
    }
    assert len(sized) == 4
    tokens = (Path(settings.BASE_DIR) / "static" / "css" / "tokens.css").read_text()
    for own in ("Literata", "Source Sans"):
        (stack,) = re.findall(
            rf'--\w+: "?{own}[ 3]*"?, ("As wide as {own}", "DejaVu as wide as {own}"),', tokens
        )
        assert set(stack.strip('"').split('", "')) <= sized


def _family(face: str) -> str:
    return str(re.findall(r'font-family: "([^"]+)"', face)[0])


def _names(addresses: list[str]) -> list[str]:
    """Return the files behind addresses, whose names may carry a hash."""
    return [
        re.sub(r"\.[0-9a-f]{12}(?=\.woff2)", "", address.partition("/fonts/")[2]) for address in addresses
    ]
