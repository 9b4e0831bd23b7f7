"""Pages that are pictures, where no model sees: Tesseract reads them here, if it is installed."""

import io
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from PIL import Image, ImageDraw, ImageFont

from coaching.library.extractors.recognition_data import FOLDER_VARIABLE, is_installed, languages_in
from coaching.library.jobs.reading import resume_waiting
from coaching.library.pipeline import page_reading
from coaching.library.pipeline.recognition import recognise_now
from coaching.library.pipeline.stages.read_pictures import PAGES_OF_DAY
from coaching.library.rows.reading_notes import FROM_PICTURES
from coaching.models import DocumentState
from coaching.people.attempts import AttemptLimit
from coaching.practice import PracticeServer
from sessions_app.database import in_database
from tests.groups import require_recognition
from tests.jobs.conftest import WorkOff
from tests.library.pipeline.test_read_pictures import fresh, upload

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("references"),
    pytest.mark.slow,
]

NOTICE = """\
TENANCY TERMINATION NOTICE

Notice is hereby given to terminate the tenancy of 12 Quay Street.
The tenancy ends on 31 March 2027. The rent is EUR 1,450.00 a month.
Please return the deposit to the landlord's account.
"""


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    require_recognition(monkeypatch)


def scan(text: str, *, pages: int = 1) -> bytes:
    """Return a PDF whose pages are pictures of a text."""
    page = Image.new("L", (1_240, 1_754), 255)
    font = ImageFont.load_default(size=30)
    ImageDraw.Draw(page).multiline_text((100, 120), text, fill=20, font=font, spacing=16)
    written = io.BytesIO()
    page.save(written, "PDF", resolution=150, save_all=True, append_images=[page] * (pages - 1))
    return written.getvalue()


async def test_a_scan_is_read_and_its_words_are_found(
    user: User, practice: PracticeServer, work_off: WorkOff
) -> None:
    with override_settings(IS_PRACTICE_MODEL=True):  # which doesn't see
        uploaded = await upload(user, scan(NOTICE, pages=2))
        await work_off()
    document = await fresh(uploaded)
    first, second = document.text.text.split("\f")
    assert first.split() == second.split() == NOTICE.split()
    assert document.reading_note == f"{FROM_PICTURES}\n1–2."
    assert document.file_type == "tenancy-termination"


async def test_over_a_persons_pages_of_a_day_a_scan_waits_and_goes_on_by_itself(
    user: User, practice: PracticeServer, work_off: WorkOff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_reading, "_recognised_pages", AttemptLimit(attempts=2, seconds=60))
    with override_settings(IS_PRACTICE_MODEL=True):
        first = await upload(user, scan(NOTICE))
        await work_off()
        second = await upload(user, scan(f"{NOTICE} Once more.", pages=5))
        await work_off()
        assert (await fresh(first)).file_type == "tenancy-termination"
        waiting = await fresh(second)
        assert (waiting.state, waiting.reason) == (DocumentState.WAITING, PAGES_OF_DAY)
        assert await in_database(resume_waiting) == 0, "as long as there is no room"
        monkeypatch.setattr(page_reading, "_recognised_pages", AttemptLimit(attempts=9, seconds=60))
        assert await in_database(resume_waiting) == 1
        await work_off()
    document = await fresh(second)
    assert document.state != DocumentState.WAITING
    assert document.reading_note == f"{FROM_PICTURES}\n1–5."


def test_a_picture_that_is_none_has_no_text() -> None:
    assert recognise_now(b"RIFF\x00\x00\x00\x00WEBPVP8 " + bytes(2_000)) is None


def test_languages_are_those_whose_data_is_installed(tmp_path: Path) -> None:
    for name in ("osd", "fra", "eng", "deu"):
        (tmp_path / f"{name}.traineddata").touch()
    assert languages_in(tmp_path) == ["eng", "deu", "fra"]


def test_without_the_library_nothing_is_recognised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert find_spec("tesserocr")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert not is_installed()
