"""An email's attachments become documents of their own, within limits, and are read like any other."""

import io
from email.message import EmailMessage

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from PIL import Image

from coaching.library.documents.filing import delete_document, read_again, withhold_document
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.extractors import content_types
from coaching.library.pages.documents import ALL_WITHHELD
from coaching.library.pipeline import attachments
from coaching.library.pipeline.attachments import NO_ROOM, TOO_DEEP, TOO_MANY, take_attachments
from coaching.library.pipeline.extracted import AttachedFile
from coaching.library.rows.documents import document_with_text
from coaching.models import Document, DocumentState
from sessions_app.database import in_database
from tests.jobs.conftest import WorkOff
from tests.library.extractors import images, outlook
from tests.library.pipeline.conftest import LEASE, PAYSLIP, fresh

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("references", "practice")]


def mail(*attached: tuple[str, bytes | EmailMessage], subject: str = "Papers") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "jg@example.org", "ada@example.org", subject
    message["Date"] = "Mon, 01 Jun 2026 10:00:00 +0200"
    message.set_content(f"Here are the papers about {subject}.")
    for name, content in attached:
        if isinstance(content, EmailMessage):
            message.add_attachment(content)
        else:
            message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return message


def photo() -> bytes:
    """A picture whose place isn't stored, so that it is stored with other bytes than the email has."""
    exif = Image.Exif()
    exif[0x0110] = "Camera"
    written = io.BytesIO()
    Image.new("RGB", (60, 40), "teal").save(written, "JPEG", exif=exif)
    return written.getvalue()


async def upload(user: User, name: str, data: bytes, *, is_withheld: bool = False) -> Document:
    destination = await in_database(lambda: destination_of(user_id=user.pk))
    return await in_database(
        take_in,
        user_id=user.pk,
        name=name,
        data=data,
        destination=destination,
        is_withheld=is_withheld,
    )


async def attached_to(*emails: Document) -> list[Document]:
    ids = [email.pk for email in emails]
    return await in_database(lambda: list(Document.unscoped.filter(part_of__in=ids).order_by("id")))


async def test_attachments_are_documents_that_name_their_email_and_are_filed(
    user: User, work_off: WorkOff, client: Client
) -> None:
    logo = images.image("PNG", size=(20, 20))
    message = mail(
        ("lease.txt", LEASE.encode()),
        ("pay.txt", PAYSLIP.encode()),
        ("again.txt", LEASE.encode()),
        ("photo.jpg", photo()),
    )
    message.add_attachment(logo, maintype="image", subtype="png", filename="logo.png", disposition="inline")
    message.add_attachment(b"signed", maintype="application", subtype="pkcs7-signature", filename="smime.p7s")
    email = await upload(user, "papers.eml", message.as_bytes())
    await work_off()
    lease, payslip, picture = await attached_to(email)
    assert picture.name == "photo.jpg"
    assert [(each.name, each.state, each.file_type) for each in (lease, payslip)] == [
        ("lease.txt", DocumentState.FILED, "lease"),
        ("pay.txt", DocumentState.FILED, "payslip"),
    ]
    assert (lease.client_id, lease.batch, lease.user_id) == (email.client_id, email.batch, user.pk)

    await in_database(client.force_login, user)
    page = (await in_database(client.get, f"/library/documents/{email.pk}/")).content.decode()
    assert f'href="/library/documents/{lease.pk}/"' in page
    assert f'href="/library/documents/{payslip.pk}/"' in page
    assert (
        f'href="/library/documents/{email.pk}/"'
        in (await in_database(client.get, f"/library/documents/{lease.pk}/")).content.decode()
    )

    await in_database(read_again, user_id=user.pk, document_id=email.pk)
    await work_off()
    assert len(await attached_to(email)) == 3
    await in_database(delete_document, user_id=user.pk, document_id=email.pk)
    (lease,) = await fresh(lease)
    assert (lease.part_of_id, lease.state) == (None, DocumentState.FILED)


async def test_an_email_inside_another_brings_its_attachments_up_to_a_depth(
    user: User, work_off: WorkOff
) -> None:
    message = mail(("pay.txt", PAYSLIP.encode()), subject="level 0")
    for level in range(1, attachments.MAX_DEPTH + 2):
        message = mail(("", message), subject=f"level {level}")
    found = [await upload(user, "papers.eml", message.as_bytes())]
    await work_off()
    for level in reversed(range(1, attachments.MAX_DEPTH + 1)):
        found = await attached_to(*found)
        assert [(each.name, each.content_type) for each in found] == [
            (f"level {level}.eml", content_types.EML)
        ]
    (last,) = await attached_to(*found)
    assert (last.state, last.reason, last.storage_key) == (DocumentState.REFUSED, TOO_DEEP, None)


async def test_a_message_of_outlook_brings_its_attachments(user: User, work_off: WorkOff) -> None:
    def embedded(name: str, *attached: outlook.Tree) -> outlook.Tree:
        inner = outlook.message(outlook.text(0x1000, LEASE), attached, header_bytes=24, subject=name)
        return {
            **outlook.text(0x3001, name),
            "__substg1.0_3701000D": inner,
            **outlook.numbers(8, t37050003=5),
        }

    payslip = outlook.attachment("Löhne.txt", PAYSLIP.encode())
    message = outlook.message(
        outlook.text(0x1000, "Papers"),
        [outlook.attachment("pay.txt", PAYSLIP.encode()), embedded("The lease", embedded("Wages", payslip))],
    )
    email = await upload(user, "papers.msg", outlook.container(message))
    await work_off()
    found, lease = await attached_to(email)
    assert (found.name, found.file_type) == ("pay.txt", "payslip")
    assert (lease.name, lease.content_type) == ("The lease.eml", content_types.EML)
    text = await in_database(lambda: document_with_text(user_id=user.pk, document_id=lease.pk).text.text)
    assert text.startswith(
        "From: Jürgen Groß <jg@example.org>\nTo: Mia <mia@example.org>\nCc: ann@example.org"
    )
    assert "Subject: The lease\nAttachments: Wages.eml" in text
    assert LEASE.strip() in text
    (wages,) = await attached_to(lease)
    (again,) = await attached_to(wages)
    assert (again.name, again.state) == ("Löhne.txt", DocumentState.DUPLICATE)


async def test_what_is_not_taken_is_named_with_the_reason(user: User, work_off: WorkOff) -> None:
    names = [(f"{number}.txt", b"A note %d" % number) for number in range(52)]
    email = await upload(user, "papers.eml", mail(*names, ("nothing.txt", b"")).as_bytes())
    await work_off()
    attached = await attached_to(email)
    left_out = [(each.name, each.reason) for each in attached if each.state == DocumentState.REFUSED]
    assert len(attached) == 53
    assert left_out == [("50.txt", TOO_MANY), ("51.txt", TOO_MANY), ("nothing.txt", TOO_MANY)]


async def test_attachments_count_in_the_quota_and_a_withheld_email_withholds_them(
    user: User, work_off: WorkOff
) -> None:
    message = mail(("pay.txt", PAYSLIP.encode()))
    email = await upload(user, "papers.eml", message.as_bytes(), is_withheld=True)
    await work_off()
    (payslip,) = await attached_to(email)
    assert payslip.is_withheld
    other = AttachedFile(name="other.txt", size=5, data=b"other")
    with override_settings(SAGE_MAX_FILES=2):
        await in_database(take_attachments, email, [other, other])
    _, refused = await attached_to(email)
    assert (refused.name, refused.state, refused.reason) == ("other.txt", DocumentState.REFUSED, NO_ROOM)


async def test_a_lost_attachment_is_taken_anew_with_its_email(user: User, work_off: WorkOff) -> None:
    email = await upload(user, "papers.eml", mail(("pay.txt", PAYSLIP.encode())).as_bytes())
    await work_off()
    (lost,) = await attached_to(email)
    file = AttachedFile(name=lost.name, size=lost.size, data=PAYSLIP.encode())
    await in_database(take_attachments, email, [file])
    assert len(await attached_to(email)) == 1
    await in_database(Document.of(user.pk).filter(pk=lost.pk).update, sha256="")  # a restore didn't find it
    await in_database(take_attachments, email, [file])
    _, back = await attached_to(email)
    assert (back.name, back.size, back.storage_key is None) == (lost.name, lost.size, False)


async def test_withholding_an_email_withholds_what_is_attached_to_it(
    user: User, work_off: WorkOff, client: Client
) -> None:
    message = mail(("pay.txt", PAYSLIP.encode()), ("", mail(("lease.txt", LEASE.encode()), subject="Inside")))
    email = await upload(user, "papers.eml", message.as_bytes())
    other = await upload(user, "other.eml", mail(("other.txt", b"Another note")).as_bytes())
    await work_off()
    await in_database(client.force_login, user)
    page = await in_database(
        lambda: client.post(f"/library/documents/{email.pk}/", {"do": "withhold"}, follow=True)
    )
    assert ALL_WITHHELD in page.content.decode()
    withheld = await in_database(
        lambda: set(Document.of(user.pk).filter(is_withheld=True).values_list("name", flat=True))
    )
    assert withheld == {"papers.eml", "pay.txt", "Inside.eml", "lease.txt"}
    late = AttachedFile(name="late.txt", size=4, data=b"late")
    await in_database(take_attachments, email, [late])  # which was read before it was withheld
    (*_, taken) = await attached_to(email)
    assert (taken.name, taken.is_withheld) == ("late.txt", True)

    await in_database(withhold_document, user_id=user.pk, document_id=email.pk, is_withheld=False)
    email, taken, other = await fresh(email, taken, other)
    assert (email.is_withheld, taken.is_withheld, other.is_withheld) == (False, True, False)


async def test_nothing_is_taken_of_an_email_that_was_deleted(user: User) -> None:
    email = await upload(user, "papers.eml", mail().as_bytes())
    await in_database(delete_document, user_id=user.pk, document_id=email.pk)
    await in_database(take_attachments, email, [AttachedFile(name="a.txt", size=1, data=b"a")])
    assert not await in_database(Document.of(user.pk).exists)
