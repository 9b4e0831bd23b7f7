"""Data that makes a person's requests slow."""

from django.contrib.auth.models import User
from django.utils import timezone

from coaching.models import FileSource, FileType, UserFile, UserFileVersion

FILE_PATH = "life-map/career.md"
COSTLY = "[a" * 50_000
"""A text that occupies a markdown parser for its whole time limit."""
DIFFERENT = tuple(
    " ".join(letters[n % 3] * (n % most + 1) for n in range(20_000))
    for letters, most in (("abc", 7), ("bca", 5))
)
"""Two texts that are slow to compare."""
COSTLY_CALENDAR = b"\r\n".join(
    [
        b"BEGIN:VCALENDAR",
        b"VERSION:2.0",
        b"PRODID:-//x//x//EN",
        b"BEGIN:VEVENT",
        b"UID:1",
        b"DTSTART:20100101T000000Z",
        b"RRULE:FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30",
        b"END:VEVENT",
        b"END:VCALENDAR",
    ]
)
"""A calendar whose event recurs on a day that never comes, which is looked for until its time limit."""


def keep_file(user: User, *texts: str) -> UserFile:
    """Store a file with a version per text."""
    texts = texts or ("Work is fine.",)
    file = UserFile(user=user, path=FILE_PATH, file_type=FileType.DOMAIN, version_number=len(texts))
    file.updated_at = timezone.now()
    file.save()
    for number, text in enumerate(texts, start=1):
        UserFileVersion(
            file=file,
            number=number,
            content=text,
            size=len(text.encode()),
            sha256="",
            storage_key=f"{file.pk}-{number}",
            source=FileSource.USER,
        ).save()
    return file
