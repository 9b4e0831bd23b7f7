"""The pictures of the documentation: each is on the page that names it, and all of them are small."""

import re

from django.conf import settings

DOCS = settings.BASE_DIR / "docs"
FOLDER = DOCS / "images" / "states"
MAX_BYTES = 1_500_000
IMAGE = re.compile(r'<img src="images/states/([\w-]+)\.webp" alt="([^"]+)" width="\d+">')


def test_each_picture_of_a_state_is_named_on_the_page_of_pictures() -> None:
    shown = IMAGE.findall((DOCS / "pictures.md").read_text())
    kept = {picture.stem for picture in FOLDER.iterdir()}
    assert sorted(name for name, _ in shown) == sorted(kept)
    taken = (settings.BASE_DIR / "tests" / "browser" / "test_pictures.py").read_text()
    assert {name for name in kept if f'"{name}")' not in taken} == set(), "no test takes them"


def test_the_pictures_are_small() -> None:
    pictures = [*FOLDER.iterdir(), *(DOCS / "images").glob("*.png")]
    assert sum(picture.stat().st_size for picture in pictures) < MAX_BYTES
