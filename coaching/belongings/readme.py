"""The README of an archive: what is where, and what is left out."""

from datetime import datetime

from django.contrib.auth.models import User

from coaching.belongings.rows import LEFT_OUT_FIELDS, LEFT_OUT_MODELS, exported_models, file_name_of
from coaching.models import Profile

_GUIDE = """\
# What Sage has stored about {name}

Exported on {day} from the account {account}. All of it is yours.

| folder | what is in it |
|---|---|
| `conversations/` | each conversation as a page: who said what, what was asked and written down |
| `files/` | your files as they are now, in their folders |
| `old-versions/` | what those files said before, one page for each earlier version |
| `deleted-files/` | files that you deleted and could still restore |
| `library/` | your documents as you gave them to Sage, and what it knows of each client |
| `data/` | everything as data for programs (JSON), which also has what no page shows |

Times in `conversations/` are those of {zone}, in `data/` they are UTC. Any text editor opens the pages; many
show markdown as it is meant.

## In `data/`

{lists}

## Not in here

{left_out}

Copies that the people who run this Sage may have made for safety are not in here either.
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
