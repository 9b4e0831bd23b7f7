"""The examples of docs/programs.md, run by a shell as they stand there."""

import asyncio
import json
import os
import re
import shutil

import pytest
from django.contrib.auth.models import User

from coaching.models import ActionItem, Capture
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from tests.api.things import token
from tests.live_sage import LiveSage
from tests.sage.processes import PROJECT
from tests.sockets.questions import rows

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl"),
]


def examples() -> list[str]:
    text = (PROJECT / "docs" / "programs.md").read_text()
    return [block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "curl" in block]


async def run(script: str, sage: LiveSage, secret: str) -> str:
    environment = os.environ | {"SAGE": sage.origin, "SAGE_TOKEN": secret}
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", script, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return out.decode()


async def test_the_examples_do_what_they_say(
    live_sage: LiveSage, practice: PracticeServer, user: User
) -> None:
    practice.script(["You planned to call Mira."])
    secret = await in_database(token, user)
    capture, listing, step, conversation, weekly = examples()
    assert json.loads(await run(capture, live_sage, secret))["id"]
    assert len(await rows(Capture.of(user.pk))) == 1
    assert json.loads(await run(listing, live_sage, secret)) == {"items": [], "total": 0}
    assert json.loads(await run(step, live_sage, secret))["due_date"] == "2027-01-15"
    assert len(await rows(ActionItem.of(user.pk))) == 1
    answer = json.loads(await run(conversation, live_sage, secret))
    assert (answer["status"], answer["text"]) == ("done", "You planned to call Mira.")
    mail = await run(weekly, live_sage, secret)
    assert mail.startswith("Subject: My next steps\n")
    assert mail.endswith("\n\n2027-01-15 Call Mira\n")
