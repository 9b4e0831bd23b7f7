"""Pages that are pictures: a model that sees writes down their text, and it counts like other text."""

import base64
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from coaching.files.objects import store_object
from coaching.library.documents.filing import read_again, withhold_document
from coaching.library.documents.findings import call_prefix
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.pipeline import page_reading
from coaching.library.pipeline.batch import Item, Services
from coaching.library.pipeline.claims import claim_uploads
from coaching.library.pipeline.page_reading import MAX_PAGES, PAGES_A_CALL
from coaching.library.pipeline.reading import read_batch
from coaching.library.pipeline.stages.read_pictures import PAGES_A_JOB
from coaching.library.pipeline.stages.read_text import NO_TEXT
from coaching.library.rows.documents import document_with_text
from coaching.library.rows.reading_notes import FROM_PICTURES, PICTURES
from coaching.model_client.connection import ModelConnection
from coaching.models import CallPurpose, Document, DocumentCall, DocumentState
from coaching.people.attempts import AttemptLimit
from coaching.practice import PracticeServer
from coaching.practice.api.errors import ApiError
from coaching.practice.coach.pages import shown_pages, shows_pages, write_down
from coaching.practice.script import Reply
from sessions_app.database import in_database
from tests.jobs.conftest import WorkOff
from tests.library.pipeline.conftest import LEASE
from tests.library.pipeline.truth import TruthfulModel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references")]

TRIES = 4
"""As often a call is sent to a model that is overloaded."""
COLOURS = [
    (red, green, blue) for red in (40, 130, 220) for green in (40, 130, 220) for blue in (40, 130, 220)
]
"""Of pages: what a model "sees" of a page is its colour."""
Text = str


def picture(colour: int, *, kind: str = "PNG") -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (420, 594), COLOURS[colour]).save(written, kind)
    return written.getvalue()


def scanned(*pages: int | Text) -> bytes:
    """Return a PDF whose pages are pictures of these colours, or have these texts."""
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=(420, 594))
    for page in pages:
        if isinstance(page, int):
            canvas.drawImage(ImageReader(io.BytesIO(picture(page))), 0, 0, 420, 594)
        else:
            for line, words in enumerate(page.splitlines()):
                canvas.drawString(20, 560 - 14 * line, words)
        canvas.showPage()
    canvas.save()
    return written.getvalue()


@dataclass
class SeeingModel(TruthfulModel):
    """Writes down the text that belongs to the colour of each picture. `shown` are the pages of each answer.

    Before the answer of this number, `fails_at`, it is overloaded, so many times (`failures`); it refuses
    pages of the colours `refused`.
    """

    words: Mapping[int, str] = field(default_factory=dict)
    shown: list[Sequence[int]] = field(default_factory=list)
    fails_at: int = -1
    failures: int = 0
    refused: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.script = self._read

    def _read(self, body: Mapping[str, Any]) -> Reply | None:
        if not shows_pages(body):
            return None
        numbers = shown_pages(body)
        pictures = [
            block["source"]["data"] for block in body["messages"][0]["content"] if block["type"] == "image"
        ]
        if len(self.shown) == self.fails_at and self.failures:
            self.failures -= 1
            raise ApiError(529)
        colours = [_colour(data) for data in pictures]
        if self.refused.intersection(colours):
            return Reply.of("I can't help with that.", stop_reason="refusal")
        self.shown.append(numbers)
        texts = [self.words.get(colour, "") for colour in colours]
        return write_down(body, dict(zip(numbers, texts, strict=True)))


def _colour(data: str) -> int:
    with Image.open(io.BytesIO(base64.b64decode(data))) as shown:
        width, height = shown.size
        assert max(width, height) <= 1_568
        seen = shown.convert("RGB").getpixel((width // 2, height // 2))
    assert isinstance(seen, tuple)
    return min(
        range(len(COLOURS)),
        key=lambda each: sum(abs(a - b) for a, b in zip(COLOURS[each], seen, strict=True)),
    )


@pytest.fixture
def model() -> SeeingModel:
    return SeeingModel()


async def upload(user: User, data: bytes, *, name: str = "scan.pdf") -> Document:
    destination = await in_database(lambda: destination_of(user_id=user.pk))
    return await in_database(take_in, user_id=user.pk, name=name, data=data, destination=destination)


async def read_once(user: User) -> bool:
    """Run one job's reading; False where the model couldn't be reached."""
    claim = await in_database(claim_uploads, user_id=user.pk, reader="lane:1")
    assert claim
    models = ModelConnection()
    try:
        return await read_batch(claim, Services(client=models.client))
    finally:
        await models.close()


async def fresh(document: Document) -> Document:
    return await in_database(document_with_text, user_id=document.user_id, document_id=document.pk)


async def test_a_scanned_lease_is_read_filed_and_quoted_with_its_pages(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    middle = "Break clause: the tenant may end this lease on 1 May 2031 by six months' notice."
    model.words = {0: LEASE, 1: middle, 2: "Signed as a deed [signature]"}
    fact = {"name": "Break", "value": "1 May 2031", "quote": middle, "page": 1}
    model.types, model.said = {"scan.pdf": "lease"}, {"scan.pdf": {"key_facts": [fact]}}
    uploaded = await upload(user, scanned(0, 1, 2))
    await work_off()
    document = await fresh(uploaded)
    assert (document.state, document.file_type, document.page_count) == (DocumentState.FILED, "lease", 3)
    assert document.text.text.split("\f") == [LEASE.strip(), middle, "Signed as a deed [signature]"]
    facts = [(each["value"], each["page"]) for each in document.key_facts]
    assert ("bakery and shop", 1) in facts
    assert any("1 May 2031" in value and page == 2 for value, page in facts)
    assert document.reading_note == f"{FROM_PICTURES}\n1–3."
    assert model.shown == [[1, 2, 3]]


async def test_of_a_mixed_document_only_the_pictures_are_shown(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    model.words = {4: "Annex A: the keys of both doors"}
    uploaded = await upload(user, scanned(LEASE, 4, "The end of this lease of premises", 5))
    await work_off()
    document = await fresh(uploaded)
    pages = document.text.text.split("\f")
    assert pages[1] == "Annex A: the keys of both doors"
    assert "Harbour Estates" in pages[0]
    assert (pages[2], pages[3]) == ("The end of this lease of premises", "")
    assert (model.shown, document.reading_note) == ([[2, 4]], f"{FROM_PICTURES}\n2.")
    assert "Annex A" in json.dumps([each.body for each in practice.requests[1:]])


async def test_what_was_read_before_an_outage_is_not_paid_for_again(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    colours = range(PAGES_A_CALL + 2)
    model.words = {colour: f"This is page {colour + 1} of the lease of premises." for colour in colours}
    model.fails_at, model.failures = 1, TRIES
    uploaded = await upload(user, scanned(*colours))
    assert not await read_once(user)
    assert (model.failures, (await fresh(uploaded)).state) == (0, "queued")
    await read_once(user)
    document = await fresh(uploaded)
    assert model.shown == [[1, 2, 3, 4], [5, 6]]
    assert document.text.text.split("\f") == list(model.words.values())
    calls = await in_database(lambda: list(DocumentCall.of(user.pk).filter(purpose=CallPurpose.PAGES)))
    assert [(call.request, call.answer, call.documents) for call in calls] == [("", "", [document.pk])] * 2


async def test_a_text_is_whole_before_anything_else_gets_it(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    """A summary of a scan waits for its last page, and so does a conversation."""
    colours = [*range(PAGES_A_JOB + 1)]
    model.words = {colour: f"This is page {colour + 1} of the lease of premises." for colour in colours}
    uploaded = await upload(user, scanned("A cover page that was typed", *colours))
    assert await read_once(user)
    half = await fresh(uploaded)
    assert (half.state, half.text.text, len(half.text.page_texts)) == ("queued", "", PAGES_A_JOB)
    assert await in_database(call_prefix, half, "summary") == ""
    await work_off()
    whole = await fresh(uploaded)
    assert (len(whole.text.text.split("\f")), whole.state) == (len(colours) + 1, "review")


async def test_where_a_model_gives_no_answer_about_pages_each_is_shown_alone_and_again_if_asked(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    model.words = {0: "The first page of a lease.", 1: "The second page.", 2: "The third page."}
    model.refused = {1}
    uploaded = await upload(user, scanned(0, 1, 2))
    await work_off()
    document = await fresh(uploaded)
    assert model.shown == [[1], [3]]
    assert document.reading_note == f"{PICTURES}\n2.\n{FROM_PICTURES}\n1, 3."
    model.refused = set()
    await in_database(read_again, user_id=user.pk, document_id=document.pk)
    await work_off()
    document = await fresh(uploaded)
    assert model.shown == [[1], [3], [2]]
    assert (document.text.text.split("\f"), document.reading_note) == (
        list(model.words.values()),
        f"{FROM_PICTURES}\n1–3.",
    )


async def test_blank_pages_are_no_text(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    uploaded = await upload(user, scanned(0, 1))
    await work_off()
    document = await fresh(uploaded)
    assert (document.state, document.reason, document.reading_note) == ("review", NO_TEXT, "")
    assert model.shown == [[1, 2]]


async def test_a_photo_with_a_few_words_is_still_known_by_its_picture(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    model.words = {7: "EXIT"}
    photo = await upload(user, picture(7, kind="JPEG"), name="street.jpg")
    for _ in range(2):
        await work_off()
        content = practice.requests[-1].body["messages"][0]["content"]
        assert [block["type"] for block in content].count("image") == 1
        await in_database(read_again, user_id=user.pk, document_id=photo.pk)
    assert (await fresh(photo)).text.text == "EXIT"
    assert model.shown == [[1]]


@pytest.mark.slow  # 42 pages are drawn
async def test_pages_beyond_the_limit_are_named_as_unread(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    model.words = {0: "A page of a long scan."}
    uploaded = await upload(user, scanned(*[0] * (MAX_PAGES + 2)))
    await work_off()
    document = await fresh(uploaded)
    assert (
        document.reading_note
        == f"{PICTURES}\n{MAX_PAGES + 1}–{MAX_PAGES + 2}.\n{FROM_PICTURES}\n1–{MAX_PAGES}."
    )
    assert (len(model.shown), document.text.pages_read) == (
        MAX_PAGES // PAGES_A_CALL,
        list(range(1, MAX_PAGES + 1)),
    )


async def test_a_photo_without_text_stays_a_picture_and_one_of_a_letter_gets_its_text(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    model.words = {3: LEASE}
    photo = await upload(user, picture(7, kind="JPEG"), name="dog.jpg")
    letter = await upload(user, picture(3), name="letter.png")
    await work_off()
    assert (await fresh(photo)).text.text == ""
    found = await fresh(letter)
    assert (found.text.text, found.reading_note) == (LEASE.strip(), f"{FROM_PICTURES}\n1.")
    asked = [each.body["messages"][0]["content"] for each in practice.requests]
    classified = [content for content in asked if not content[1].get("text", "").startswith("[page ")]
    shown = [
        block["source"]["data"] for content in classified for block in content if block["type"] == "image"
    ]
    assert len(set(shown)) == 1, "only that of the photo, however often it is read"


async def test_a_withheld_scan_is_shown_to_nobody(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    uploaded = await upload(user, scanned(0, 1))
    await in_database(withhold_document, user_id=user.pk, document_id=uploaded.pk, is_withheld=True)
    await work_off()
    document = await fresh(uploaded)
    assert (document.state, model.shown, practice.requests) == (DocumentState.REVIEW, [], [])


async def test_a_model_without_sight_gets_no_picture(
    user: User, practice: PracticeServer, model: SeeingModel, work_off: WorkOff
) -> None:
    with override_settings(SAGE_CLASSIFY_MODEL="a-local-model"):
        scan, photo = await upload(user, scanned(0)), await upload(user, picture(1), name="photo.png")
        await work_off()
    assert (
        await fresh(scan)
    ).reason == "Its pages are pictures, which Sage can’t read. Upload a version with text."
    assert (await fresh(photo)).reason.startswith("This is an image, and the AI model can’t look at images.")
    assert practice.requests == []


async def test_pages_that_arent_recognised_dont_count(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_reading, "_recognised_pages", AttemptLimit(attempts=1, seconds=60))
    kept = await store_object(user_id=user.pk, data=b"no picture")
    item = Item(document=Document(user=user, storage_key=kept.key, size=kept.size))
    claim: Any = None
    assert await page_reading._by_recognition(claim, item, [1, 2], claim) == {1: None, 2: None}
    assert page_reading.may_recognise(user.pk)
