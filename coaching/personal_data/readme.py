"""The README of an archive: what is where, and what is left out."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from django.contrib.auth.models import User
from django.utils.formats import date_format, time_format
from django.utils.translation import gettext, gettext_noop

from coaching.clock.days import local_moment
from coaching.models import Profile
from coaching.personal_data.rows import LEFT_OUT_FIELDS, LEFT_OUT_MODELS, exported_models, file_name_of

_FOLDERS: Mapping[str, str] = {
    "conversations": gettext_noop(
        "each conversation as a page: the messages, the questions and what was written down"
    ),
    "files": gettext_noop("your files as they are now, in their folders"),
    "old-versions": gettext_noop("earlier versions of those files, one page each"),
    "deleted-files": gettext_noop("files you deleted but can still restore"),
    "photos": gettext_noop(
        "the photos of your days, by date and number; `data/photos.json` has their descriptions"
    ),
    "library": gettext_noop("your documents as you uploaded them, and what Sage knows about each client"),
    "data": gettext_noop("all the raw data (JSON), including what no page shows"),
}


def write_readme(user: User, profile: Profile, *, now: datetime) -> str:
    """Return the guide to a person's archive, in the language that is active."""
    return "\n\n".join(_paragraphs(user, profile, local_moment(now, profile.zone))) + "\n"


def _paragraphs(user: User, profile: Profile, local: datetime) -> Iterator[str]:
    if name := _on_one_line(profile.name):
        yield "# " + gettext("What Sage has stored about %(name)s") % {"name": name}
    else:
        yield "# " + gettext("What Sage has stored about you")
    yield gettext("Exported on %(day)s at %(time)s (%(zone)s) from the account %(account)s.") % {
        "day": date_format(local, "WEEKDAY_DATE_FORMAT"),
        "time": time_format(local, "TIME_FORMAT"),
        "zone": profile.timezone,
        "account": _on_one_line(user.email or user.get_username()),
    }
    rows = [f"| `{name}/` | {gettext(what)} |" for name, what in _FOLDERS.items()]
    folder, contents = gettext("Folder"), gettext("What’s in it")
    yield "\n".join([f"| {folder} | {contents} |", "|---|---|", *rows])
    times = gettext(
        "Times in `conversations/` are in the time zone %(zone)s, times in `data/` in UTC. "
        "The pages are Markdown, which any text editor opens."
    ) % {"zone": profile.timezone}
    night = gettext("A day lasts until 04:00.")
    yield f"{times} {night}"
    yield "## `data/`"
    files = ["account.json", *(file_name_of(owned) for owned in exported_models())]
    yield "\n".join(f"- `{file}`" for file in files)
    yield "## " + gettext("Not included")
    left_out = {**LEFT_OUT_MODELS, **LEFT_OUT_FIELDS}
    yield "\n".join(f"- `{name}`: {gettext(reason)}" for name, reason in sorted(left_out.items()))
    yield gettext("Backups made by the people who run this server aren’t included either.")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
