"""An honest mail with hostile attachments is a document; those that can't be read say so."""

from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from coaching.library.extractors.attached import MAX_ATTACHMENTS
from coaching.models import Document, DocumentState, DocumentText, InboxMail
from sessions_app.database import in_database
from tests.inbox.conftest import Inbox
from tests.inbox.mails import ADA, PASSED
from tests.jobs.conftest import WorkOff
from tests.library.extractors import hostile
from tests.library.pipeline.conftest import LEASE, model, practice, queue, references, work_off
from tests.thoroughness import IS_LONG

__all__ = ["model", "practice", "queue", "references", "work_off"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("references", "practice"),
]

PROGRAM = b"\x7fELF" + bytes(range(256)) * 20
SECRET = "a secret of the machine"


def attachments(secret: Path) -> dict[str, bytes]:
    """Return hostile files by their names."""
    return {
        "bomb.docx": hostile.zip_bomb(),
        "links.zip": hostile.symlink_archive(),
        "locked.pdf": hostile.encrypted_pdf(),
        "circle.pdf": hostile.pdf_whose_pages_contain_themselves(),
        **({"unpacks.pdf": hostile.pdf_whose_page_unpacks_to_half_a_gigabyte()} if IS_LONG else {}),
        "entity.xlsx": hostile.external_entity_in_a_workbook(str(secret)),
        "pixels.png": hostile.image_of_a_billion_pixels(),
        "mails.eml": hostile.mail_within_mails(),
        "program.pdf.exe": PROGRAM,
        "../../../etc/cron.d/run": b"* * * * * root true\n",
        "page.html": b"<script>fetch('https://evil.example')</script><p>Hello from the page</p>",
        "cells.csv": b"name,sum\n=cmd|' /C calc'!A0,1\n",
        "\N{RIGHT-TO-LEFT OVERRIDE}fdp.exe": PROGRAM + b"2",
        "empty.pdf": b"",
    }


async def test_hostile_attachments_of_an_honest_mail_say_that_they_cannot_be_read(
    inbox: Inbox, user: User, confirm: Callable[[User], None], work_off: WorkOff, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    await in_database(confirm, user)
    mail = EmailMessage()
    mail["Authentication-Results"], mail["From"], mail["Subject"] = PASSED, ADA, "Papers"
    mail["To"] = await in_database(inbox.address_of, user)
    mail["Message-ID"] = "<papers@example.org>"
    mail.set_content("Here are the papers.")
    files = attachments(secret)
    for name, data in {"lease.txt": LEASE.encode(), **files}.items():
        mail.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    await in_database(inbox.deliver, mail.as_bytes().replace(b"\n", b"\r\n"))
    assert (await in_database(inbox.read)).counts == {"taken": 1}
    await work_off()

    email = (await in_database(lambda: InboxMail.of(user.pk).select_related("document").get())).document
    assert email is not None
    found = await in_database(lambda: list(Document.of(user.pk).filter(part_of=email).order_by("id")))
    by_name = {document.name: document for document in found}
    assert len(found) == len(files) + 1 <= MAX_ATTACHMENTS
    assert by_name["lease.txt"].state == DocumentState.FILED
    assert not any("/" in name or "\N{RIGHT-TO-LEFT OVERRIDE}" in name for name in by_name)
    unread = {name for name, document in by_name.items() if document.state in ("refused", "failed")}
    unreadable = {"bomb.docx", "links.zip", "locked.pdf", "circle.pdf", "pixels.png"}
    assert unreadable | {"program.pdf.exe", "empty.pdf"} <= unread
    assert all(by_name[name].reason for name in unread)
    texts = await in_database(lambda: "".join(DocumentText.unscoped.values_list("text", flat=True)))
    assert SECRET not in texts
    assert "Here are the papers." in texts
    assert "Hello from the page" in texts
