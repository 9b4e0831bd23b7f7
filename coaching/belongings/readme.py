"""The README of an archive: what is where, and what is left out."""

from datetime import datetime

from django.contrib.auth.models import User

from coaching.belongings.rows import LEFT_OUT_FIELDS, LEFT_OUT_MODELS, exported_models, file_name_of
from coaching.models import Profile

_GUIDE = """\
# What Sage has stored about {name}

Exported on {day} from the account {account}.

| Folder | What’s in it |
|---|---|
| `conversations/` | each conversation as a page: the messages, the questions and what was written down |
| `files/` | your files as they are now, in their folders |
| `old-versions/` | earlier versions of those files, one page each |
| `deleted-files/` | files you deleted but can still restore |
| `library/` | your documents as you uploaded them, and what Sage knows about each client |
| `data/` | all the raw data (JSON), including what no page shows |

Times in `conversations/` are in the time zone {zone}, times in `data/` in UTC. The pages are Markdown, which
any text editor opens.

## In `data/`

{lists}

## Not included

{left_out}

Backups made by the people who run this Sage aren’t included either.
"""


def write_readme(user: User, profile: Profile, *, now: datetime) -> str:
    """Return the guide to a person's archive."""
    local = now.astimezone(profile.zone)
    lists = ["- `account.json`: your account"]
    lists += [
        f"- `{file_name_of(owned)}`: {owned.model._meta.verbose_name_plural}" for owned in exported_models()
    ]
    left_out = {**LEFT_OUT_MODELS, **LEFT_OUT_FIELDS}
    return _GUIDE.format(
        name=_on_one_line(profile.name) or "you",
        account=_on_one_line(user.email or user.get_username()),
        day=f"{local:%A}, {local.day} {local:%B %Y}, {local:%H:%M} ({profile.timezone})",
        zone=profile.timezone,
        lists="\n".join(lists),
        left_out="\n".join(f"- `{name}`: {reason}" for name, reason in sorted(left_out.items())),
    )


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
