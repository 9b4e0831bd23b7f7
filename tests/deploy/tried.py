"""What `tests.deploy.debian` has a process do under a unit's restrictions: `manage.py shell` runs this text.

It imports an export, reads a document and a picture in processes without rights, asks for this machine's
addresses, and waits for the worker to claim a reminder. It runs in an installation, not in the suite.
"""

import io
import time
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.core.management import call_command
from docx import Document
from PIL import Image

from coaching.calendar.own_addresses import interface_addresses
from coaching.library.pipeline.extraction import extract_now
from coaching.models import Profile, Reminder, ReminderKind, SentReminder
from coaching.sandbox.layers import known_missing
from sessions_app.models import Session

EXPORT = "/usr/local/lib/sage-export.json"


def _read(name: str, save: object) -> str:
    content = io.BytesIO()
    save(content)  # type: ignore[operator]  # a bound method
    size = content.tell()
    content.seek(0)
    return str(extract_now(content, size=size, name=name))


user = User.objects.create_user("tried", "tried@sage.example", "a long enough password")
call_command("import_legacy", EXPORT, user="tried")
assert Session.of(user.pk).count() == 3

document = Document()
document.add_paragraph("A numbat sleeps at night.")
assert "A numbat sleeps at night." in _read("a.docx", document.save)
assert "image" in _read("a.png", lambda file: Image.new("RGB", (40, 30)).save(file, "PNG"))
assert known_missing() == (), known_missing()
assert interface_addresses()

now = datetime.now(UTC)
Profile.unscoped.update_or_create(user=user, defaults={"timezone": "UTC"})
minute = (now - timedelta(minutes=2)).time().replace(microsecond=0)
Reminder.unscoped.create(
    user=user,
    kind=ReminderKind.DAY,
    at=minute,
    by_mail=True,
    origin="https://sage.example",
    changed_at=now - timedelta(days=1),
)
for _ in range(90):
    if SentReminder.unscoped.filter(user=user).exists():
        break
    time.sleep(1)
else:
    raise AssertionError("no reminder was claimed")
print("tried: an import, a document, a picture, addresses, a reminder")  # noqa: T201 - the result
