"""Hostile text has no effect on any page: no dialog, no violation, no request to another host."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.async_api import Page, expect

from coaching.clock.days import local_day
from coaching.models import CalendarEvent, DayPlan, FileType, Profile, UserFile, UserFileVersion
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from coaching.sandbox.blocks import BlockSplitter
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import finished_blocks, path_of, say, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.payloads import HOST, PAYLOADS
from tests.context.test_hostile import HOSTILE, PAGES, PATHS, fill
from tests.thoroughness import sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FORBIDDEN = (
    "script, style, iframe, object, embed, img, video, audio, form, "
    "input:not([type=checkbox][disabled]), svg:not(.icon), math, base, "
    "link, meta, "
    "[style], [name], [onerror], [onload], [hx-get], [data-hx-get], [hx-swap-oob], [ws-connect], "
    "a[href^='javascript' i], a[href^='data' i], a[href^='//'], a[href='/accounts/logout/']"
)
ANSWERED = "#messages :is(.call-prompt, .pill > span, .rating-note) *"
MARK = "the-end-of-it"


async def assert_harmless(page: Page, where: str, watcher: Watcher) -> None:
    """Assert that what is shown at `where` is text and plain markup, and that nothing happened."""
    # Our own turns carry ids and our own buttons names: content sits below these.
    inside = await page.locator(where).first.evaluate(
        """(found, forbidden) => [...found.querySelectorAll(forbidden)]
            .filter((node) => node.closest(".prose, .note, .said-text, .facts, .raw, .difference"))
            .concat(...found.querySelectorAll(".prose [id]:not(.live), .note [id], .said-text [id]"))
            .filter((node) => !node.closest(".task-box")) // The sanitiser lets no text have this class.
            .map((node) => node.outerHTML)""",
        FORBIDDEN,
    )
    assert inside == []
    assert watcher.faults == []


async def test_the_watcher_sees_what_is_asked_of_another_host(page: Page, watcher: Watcher) -> None:
    for number, way in enumerate(
        ("new Image().src = url", "fetch(url, { mode: 'no-cors' }).catch(() => {})", "location.assign(url)"),
        start=1,
    ):
        async with page.expect_event("requestfailed"):
            await page.evaluate(f"(url) => {{ {way}; }}", f"https://{HOST}/{number}")
        assert f"request to https://{HOST}/{number}" in watcher.faults


async def test_payloads_in_the_stream_in_the_answer_and_in_the_question_do_nothing(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    everything = "\n\n".join(PAYLOADS)
    practice.script([Reply.of(Text(f"{everything}\n\n{MARK}"), Hold("look"), chunk_characters=7)])
    await page.goto(path_of(session))
    await say(page, everything)
    await practice.reached("look")
    await expect(page.locator("#live-text")).to_contain_text(MARK)
    streamed = await finished_blocks(page)
    await assert_harmless(page, ".turn.is-open", watcher)
    practice.release("look")
    await until_done(page)
    await assert_harmless(page, "#messages", watcher)
    assert await page.locator(".prose a").count() > 0
    for link in await page.locator(".prose a").all():
        assert (await link.get_attribute("href") or "").startswith("/leave/?to=")
        assert await link.get_attribute("rel") == "nofollow"
    await page.reload()
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    assert (await page.locator("#messages .turn .prose").inner_html()).startswith(streamed)
    await assert_harmless(page, "#messages", watcher)
    assert await page.evaluate("() => document.querySelectorAll('script').length") == await page.evaluate(
        "() => document.querySelectorAll('head script').length"
    )


async def test_payloads_cut_at_every_character_do_nothing_while_they_are_streamed(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    # Each as a block of its own, and as the block that is being written.
    cuts = [payload[:end] for payload in PAYLOADS for end in range(1, len(payload) + 1)]
    blocks = [cut + ending_of(cut) for cut in cuts]
    await page.goto(path_of(session))
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    share = len(blocks) // 4 + 1  # An answer ends at its most tokens.
    for number, start in enumerate(range(0, len(blocks), share)):
        look = f"look {number}"
        text = "".join(blocks[start : start + share])
        practice.script([Reply.of(Text(f"{text}{MARK}"), Hold(look), chunk_characters=60)])
        await say(page, f"Round {number}")
        await practice.reached(look)
        await expect(page.locator("#live-text")).to_contain_text(MARK)
        await assert_harmless(page, ".turn.is-open", watcher)
        practice.release(look)
        await until_done(page, number + 1)
    await assert_harmless(page, "#messages", watcher)


def ending_of(cut: str) -> str:
    """Return what ends the block that a cut payload begins, so that it can't swallow the next one."""
    splitter = BlockSplitter()
    splitter.feed(f"{cut}\n\n")
    return "\n```\n\n" if splitter.rest.startswith("```") else "\n\n"


async def test_payloads_in_files_and_titles_do_nothing(
    page: Page, session: Session, watcher: Watcher
) -> None:
    everything = "\n\n".join(PAYLOADS)
    await in_database(keep_hostile_file, session, f"{everything}\n\n{MARK}")
    file = "/files/life-map/career.md"
    for address in ("/", "/chat/", path_of(session), "/files/", file, f"{file}/versions/"):
        await page.goto(address)
        await assert_harmless(page, "main", watcher)
    await page.goto(f"{file}/edit/")
    await expect(page.locator("#preview .prose")).to_contain_text(MARK)
    await assert_harmless(page, "#preview", watcher)
    await page.goto(f"{file}/difference/")
    await expect(page.locator(".difference")).to_contain_text(MARK)
    await assert_harmless(page, "main", watcher)
    await page.goto("/files/life-map/career.md?view=raw")
    assert PAYLOADS[0] in (await page.locator(".raw").inner_text())
    await assert_harmless(page, "main", watcher)
    assert HOST in await page.locator(".raw").inner_text()


def keep_hostile_file(session: Session, everything: str) -> None:
    session.title = PAYLOADS[4] + PAYLOADS[40]
    session.last_message_number = 1
    session.save()
    file = UserFile.unscoped.create(
        user_id=session.user_id,
        path="life-map/career.md",
        file_type=FileType.DOMAIN,
        version_number=2,
        frontmatter={"preview_line": PAYLOADS[4]},
    )
    preview = PAYLOADS[4].replace("'", "''")
    hostile = f"---\ntype: domain\npreview_line: '{preview}'\n---\n\n{everything}\n"
    for number, content in enumerate(("harmless", hostile), start=1):
        UserFileVersion.unscoped.create(
            file=file,
            number=number,
            content=content,
            size=len(content),
            sha256="",
            storage_key=f"hostile {number}",
            source="tool",
            session=session,
        )


def labels_from(start: int) -> list[str]:
    labels = dict.fromkeys(payload[:100] for payload in PAYLOADS[start : start + 5] if payload.strip())
    return [*labels, f"last of {start}", f"very last of {start}"][:6]


def questions_from(start: int) -> tuple[ToolUse, ToolUse]:
    prompt = PAYLOADS[start][:500]
    options = [{"label": label} for label in labels_from(start)]
    return (
        ToolUse("show_options", {"prompt": prompt, "options": options}),
        ToolUse("show_pulse_check", {"context": prompt, "domains": ["play"]}),
    )


async def test_payloads_in_questions_and_answers_do_nothing(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    await page.goto(path_of(session))
    starts = sample(range(0, len(PAYLOADS), 5), of_each=3)
    turns = [starts[first : first + 6] for first in range(0, len(starts), 6)]
    for number, group in enumerate(turns, start=1):
        calls = [call for start in group for call in questions_from(start)]
        practice.script([Reply.of(*calls), "Heard."])
        await say(page, f"Ask {number}")
        for start in group:
            await expect(page.locator(".call.is-pending .pill")).to_have_text(labels_from(start))
            await assert_harmless(page, ".turn.is-open", watcher)
            await page.locator(".call.is-pending .pill").first.click()
            await page.get_by_label("Add a note").fill(PAYLOADS[start][:500])
            await page.get_by_role("group", name="Play", exact=True).get_by_text("3", exact=True).click()
            await page.get_by_role("button", name="Save ratings").click()
        await until_done(page, number)
        assert await page.locator(ANSWERED).count() == 0
        assert watcher.faults == []
    await expect(page.locator("#messages .ratings")).to_have_count(len(starts))
    await page.reload()
    await assert_harmless(page, "#messages", watcher)
    assert await page.locator(ANSWERED).count() == 0


async def test_payloads_as_a_tools_words_do_nothing(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    call = ToolUse(
        "save_file", {"file_type": "reflection-prompt", "file_name": PAYLOADS[4], "content": PAYLOADS[0]}
    )
    practice.script([Reply.of(call), "Tried."])
    await page.goto(path_of(session))
    await say(page, "Save it")
    await until_done(page)
    await assert_harmless(page, "#messages", watcher)


@pytest.mark.parametrize("kind", sample(["one long line", "turned around", "fake sections"], of_each=2))
async def test_a_hostile_life_fits_every_screen(
    open_context: OpenContext, cookie: str, user: User, session: Session, watcher: Watcher, kind: str
) -> None:
    def fill_life() -> None:
        Profile.unscoped.create(user=user, timezone="Europe/Lisbon")
        fill(user, HOSTILE[kind])
        today = local_day(timezone.now(), ZoneInfo("Europe/Lisbon"))
        DayPlan.unscoped.filter(date="2026-11-18").update(date=today)
        for number, event in enumerate(CalendarEvent.unscoped.all()):
            event.starts_at = event.ends_at = timezone.now() + timedelta(seconds=number)
            event.save()

    await in_database(fill_life)
    page = await (await open_context(cookie, viewport={"width": 360, "height": 800})).new_page()
    for address in (*PAGES, path_of(session), *(f"/files/{path}" for path in PATHS[:2])):
        await page.goto(address)
        width = await page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 360, f"{address} is {width} wide"
        await assert_harmless(page, "main", watcher)
