"""Pictures of the important states for docs/pictures.md, with `--pictures FOLDER`; left out otherwise."""

import json
import re
from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.models import Document, Profile
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind
from sessions_app.titles import rename_session
from tests.browser.chat_page import path_of, say, until_asked, until_done
from tests.browser.fixtures import OpenContext
from tests.browser.library_files import TWELVE, drop, worker_of
from tests.browser.pictured_life import live
from tests.browser.test_import import do_the_job
from tests.browsers import browser_of
from tests.jobs.conftest import queue
from tests.legacy.exports import chatgpt_conversation
from tests.library.pipeline.conftest import references
from tests.life.conftest import KeepFile, keep_file

__all__ = ["keep_file", "queue", "references"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("queue", "references"),
]

DESK: dict[str, object] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, object] = {
    "viewport": {"width": 360, "height": 720},
    "device_scale_factor": 1.5,
    "has_touch": True,
    "is_mobile": True,
}
QUALITY = 72
EXPORT = json.dumps([chatgpt_conversation() | {"mood": "curious"}])
HALF = """Here is a week that leaves you your evenings.

### What to try

1. **The phone sleeps** in the kitchen from ten.
2. Something you love moves to *before* dinner, twice.

| Evening | Before dinner | In bed by |
|---|---|---:|
| Monday | Piano | 22:30 |
| Thursday | A walk """
REST = """with Ines | 23:00 |

- [x] Ask Ines about Thursday
- [ ] Buy an alarm clock

And a line for the computer, so that it joins in:

```sh
# every evening at a quarter to ten
echo "notify-send 'Time to stop'" | at 21:45
```

> An evening isn’t lost when it ends early.

Which evening will be the hardest?"""
PILLS = ToolUse(
    "show_options",
    {
        "prompt": "How did you sleep?",
        "options": [
            {"label": "Deeply"},
            {"label": "On and off"},
            {"label": "Hardly at all"},
            {"label": "I’d rather not say"},
        ],
    },
    id="toolu_pills",
)
PULSE = ToolUse(
    "show_pulse_check",
    {"context": "How do these feel today?", "domains": ["career", "health", "play"]},
    id="toolu_pulse",
)
CREATE = ToolUse(
    "create_action_item",
    {
        "title": "Ask about Thursdays off",
        "quote": "I could ask about Thursdays",
        "due_date": "2035-10-31",
        "description": "Before the planning round.",
    },
    id="toolu_act",
)


class Camera:
    """Opens pages of a kind of screen, and keeps pictures of them."""

    def __init__(self, open_context: OpenContext, cookie: str, folder: Path) -> None:
        self._open_context = open_context
        self._cookie = cookie
        self._folder = folder

    async def open(self, screen: dict[str, object], scheme: str, *, cookie: str | None = None) -> Page:
        """Open a page of the person's, or of nobody's if `cookie` is empty."""
        owner = self._cookie if cookie is None else cookie
        context = await self._open_context(owner, color_scheme=scheme, **screen)
        return await context.new_page()

    async def keep(self, page: Page, name: str) -> None:
        """Keep what is on the screen."""
        await page.evaluate("() => document.fonts.ready")
        await page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        browser = await page.context.new_cdp_session(page)
        shot = await browser.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
        (self._folder / f"{name}.webp").write_bytes(b64decode(shot["data"]))

    async def show(self, page: Page, address: str, name: str) -> None:
        """Go to a page and keep it."""
        await page.goto(address)
        await self.keep(page, name)


@pytest.fixture
def camera(open_context: OpenContext, cookie: str, pytestconfig: pytest.Config) -> Camera:
    folder = Path(pytestconfig.getoption("pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return Camera(open_context, cookie, folder)


@pytest_asyncio.fixture(loop_scope="session")
async def lived(user: User, keep_file: KeepFile) -> AsyncIterator[User]:
    """The person with a life."""
    await in_database(live, user, keep_file)
    yield user


async def begin(user: User, title: str, kind: SessionKind = SessionKind.OPEN_CONVERSATION) -> Session:
    """Open a conversation with a title."""
    session = await in_database(session_services.open_session, user_id=user.pk, kind=kind)
    return await in_database(rename_session, user_id=user.pk, session_id=session.id, title=title)


async def listed(page: Page) -> None:
    """Wait for the conversations in the sidebar."""
    await expect(page.locator("#sidebar .sidebar-row").nth(3)).to_be_visible()


async def test_answers(practice: PracticeServer, camera: Camera, lived: User) -> None:
    session = await begin(lived, "Evenings that end in time")
    page = await camera.open(DESK, "light")
    practice.script([Reply.of(Text(HALF), Hold("half"), Text(REST)), "Then start there, and keep it small."])
    await page.goto(path_of(session))
    await listed(page)
    await say(page, "I go to bed too late, and I know it. What could a better week look like?")
    await practice.reached("half")
    await expect(page.locator("#live-text")).to_contain_text("A walk")
    await camera.keep(page, "answer-being-written")
    await say(page, "Thursday, I think.")
    await expect(page.locator("#queued .said")).to_be_visible()
    await camera.keep(page, "next-message-waits")
    await page.locator("#queued").get_by_role("button", name="Remove").click()
    practice.release("half")
    await until_done(page)
    await page.emulate_media(color_scheme="dark")
    await camera.keep(page, "answer-formatted")

    practice.script(["Two shorter evenings would be a start.", "What makes the late hours feel like yours?"])
    again = await begin(lived, "Late hours")
    phone = await camera.open(PHONE, "light")
    await phone.goto(path_of(again))
    await phone.locator("#composer-text").fill("Why do I stay up?")
    await phone.get_by_role("button", name="Send", exact=True).click()
    await until_done(phone)
    await phone.get_by_role("button", name="Answer again").click()
    await expect(phone.locator(".answers")).to_contain_text("2 of 2")
    await until_done(phone)
    await camera.keep(phone, "answer-again")
    await phone.locator("#sidebar-toggle").click()
    await expect(phone.locator("#drawer .sidebar-row").nth(3)).to_be_visible()
    await camera.keep(phone, "drawer")
    await phone.keyboard.press("Escape")

    await phone.emulate_media(color_scheme="dark")
    practice.faults.push(Fault(kind="status", status=400))
    await phone.locator("#composer-text").fill("And on Fridays?")
    await phone.get_by_role("button", name="Send", exact=True).click()
    await expect(phone.get_by_role("button", name="Try again")).to_be_visible()
    await until_done(phone, 2)
    await camera.keep(phone, "answer-failed")
    await phone.context.set_offline(True)
    await expect(phone.locator("#connection")).to_be_visible()
    await phone.locator("#composer-text").fill("I’ll write it down anyway.")
    await camera.keep(phone, "connection-lost")


async def test_questions(practice: PracticeServer, camera: Camera, lived: User) -> None:
    practice.script(
        [
            Reply.of(Text("Good morning, Noor. A new day, and it needn’t be a big one."), PILLS),
            Reply.of(PULSE),
            Reply.of(Text("I can put that on your list."), CREATE),
        ]
    )
    session = await begin(lived, "A slow start")
    phone = await camera.open(PHONE, "light")
    await phone.goto(path_of(session))
    await phone.locator("#composer-text").fill("Good morning")
    await phone.get_by_role("button", name="Send", exact=True).click()
    await until_asked(phone, "How did you sleep?")
    await camera.keep(phone, "question-options")
    await phone.get_by_role("button", name="On and off").click()
    await until_asked(phone, "How do these feel today?")
    await phone.emulate_media(color_scheme="dark")
    await phone.get_by_role("group", name="Career").get_by_text("4", exact=True).click()
    await camera.keep(phone, "question-ratings")
    await phone.get_by_role("button", name="Save ratings").click()
    await until_asked(phone, "Shall I note this as your next step?")
    page = await camera.open(DESK, "light")
    await page.goto(path_of(session))
    await listed(page)
    await camera.keep(page, "question-confirm")


async def test_help_lines(practice: PracticeServer, camera: Camera, lived: User) -> None:
    practice.script(["I’m here, and I’m glad you said it. Are you safe right now?"])
    session = await begin(lived, "A hard evening")
    page = await camera.open(DESK, "light")
    await page.goto(path_of(session))
    await listed(page)
    await say(page, "Work was fine. I don't want to be alive anymore.")
    await until_done(page)
    await camera.keep(page, "help-lines")


async def test_pages(practice: PracticeServer, camera: Camera, lived: User) -> None:
    stranger = await camera.open(DESK, "light", cookie="")
    await camera.show(stranger, "/accounts/login/", "sign-in")
    small = await camera.open(PHONE, "dark", cookie="")
    await camera.show(small, "/accounts/signup/", "sign-up")

    page = await camera.open(DESK, "light")
    await camera.show(page, "/", "home")
    await camera.show(page, "/journal/", "journal")
    await page.get_by_role("link", name="This week").click()
    await page.get_by_role("link", name="Previous week").click()
    await camera.keep(page, "week")
    await camera.show(page, "/files/", "files")
    await camera.show(page, "/files/life-map/_overview.md", "file")
    await camera.show(page, "/search/?q=piano", "search")
    await page.goto("/settings/import/")
    await page.get_by_label("File").set_input_files(
        {"name": "conversations.json", "mimeType": "application/json", "buffer": EXPORT.encode()}
    )
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.get_by_role("heading", name="Your imports")).to_be_visible()
    await in_database(do_the_job, lived)
    await expect(page.get_by_text("1 conversation, 4 messages")).to_be_visible()
    await page.get_by_text("What was skipped or changed").click()
    await camera.keep(page, "import")
    await camera.show(page, "/nowhere/", "not-found")

    await page.emulate_media(color_scheme="dark")
    await camera.show(page, "/map/", "map")
    await camera.show(page, "/files/life-map/_overview.md/difference/?from=1&to=2", "difference")

    phone = await camera.open(PHONE, "dark")
    await camera.show(phone, "/settings/", "settings")
    await phone.emulate_media(color_scheme="light")
    await phone.goto("/offline/")
    await phone.locator("#offline-text").fill("What if I asked for Thursdays off?")
    await camera.keep(phone, "offline")


async def test_library(practice: PracticeServer, camera: Camera, lived: User) -> None:
    page = await camera.open(DESK, "light")
    await page.goto("/library/")
    await drop(page, "#drop-zone", TWELVE)
    reading = page.locator("#library-progress")
    await expect(reading.get_by_text(re.compile(r"^\d+ of 12 read$"))).to_be_visible()
    async with worker_of(practice):
        await expect(reading.get_by_role("heading")).to_have_text("Recently added")
    await camera.show(page, "/library/", "library")
    await camera.show(page, "/library/review/", "library-review")
    lease = await in_database(Document.of(lived.pk).get, name="lease.pdf")
    await page.emulate_media(color_scheme="dark")
    await camera.show(page, f"/library/documents/{lease.pk}/", "document")


async def test_ends(practice: PracticeServer, camera: Camera, lived: User) -> None:
    done = [
        ToolUse("save_file", {"file_type": "domain", "file_name": name, "content": f"About {name}."})
        for name in ("career", "health", "play", "finances", "learning", "meaning")
    ]
    end = ToolUse("complete_session", {"type": "session", "summary": "Six pages are up to date again."})
    practice.script([Reply.of(*done), Reply.of(end), "Until Sunday, then."])
    session = await begin(lived, "The map, once more")
    phone = await camera.open(PHONE, "dark")
    await phone.goto(path_of(session))
    await phone.locator("#composer-text").fill("Let’s bring the map up to date")
    await phone.get_by_role("button", name="Send", exact=True).click()
    await expect(phone.locator(".ending")).to_be_visible()
    await expect(phone.locator("#chat")).to_have_attribute("data-phase", "idle")
    await camera.keep(phone, "conversation-complete")


def cookie_of_operator() -> str:
    olga = User.objects.create_superuser("olga", "olga@example.org", "x")
    Profile.unscoped.create(user=olga, name="Olga")
    return browser_of(olga).cookies["sessionid"].value


async def test_admin(practice: PracticeServer, camera: Camera, lived: User) -> None:
    practice.script([f"Answer {number}." for number in range(4)])
    session = await begin(lived, "A slow start")
    page = await camera.open(DESK, "light")
    await page.goto(path_of(session))
    for number in range(1, 4):
        await say(page, "Good morning")
        await until_done(page, number)
    operator = await camera.open(DESK, "light", cookie=await in_database(cookie_of_operator))
    await operator.goto("/admin/")  # Its first page doesn't wait for the fonts.
    await camera.show(operator, "/admin/", "admin")
    await camera.show(operator, "/admin/sessions_app/modelusage/sums/", "admin-usage")
