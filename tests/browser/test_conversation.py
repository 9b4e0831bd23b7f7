"""A conversation in a real browser: streaming, recovery, and the same view everywhere."""

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, Route, WebSocketRoute, expect

from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Note, Reply, Text
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Message, Session
from tests.browser.chat_page import (
    finished_blocks,
    live_text,
    messages_markup,
    path_of,
    say,
    shimmer_seen,
    until_done,
    watch_shimmer,
)
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.questions import save
from tests.conftest import PASSWORD
from tests.live_sage import LiveSage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = (
    "## A plan\n\nYou say **yes** too soon.\n\n1. one\n2. two\n\n- [x] done\n- [ ] open\n\n"
    "> A quiet no.\n\n| Day | Keep |\n|---|---|\n| Monday | the walk |\n\n```\nI can't this week.\n```\n\n"
    "And [a piece about it](https://example.org/no)."
)


async def test_a_person_signs_in_talks_sees_sage_write_and_reads_the_file(
    live_sage: LiveSage,
    practice: PracticeServer,
    open_context: OpenContext,
    known_user: User,
    watcher: Watcher,
) -> None:
    practice.script(
        [
            Reply.of(Text("That sounds "), Hold("word"), Text("heavy. I'll keep it."), save("career")),
            Reply.of(Text("It is **written down**.")),
        ]
    )
    page = await (await open_context(reduced_motion="no-preference")).new_page()
    await page.goto("/")
    await page.get_by_label("Email or username").fill(known_user.username)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.get_by_label("What’s on your mind?").fill("I am tired of saying yes.")
    await page.keyboard.press("Enter")
    await expect(page.locator("#live-text")).to_have_text("That sounds")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await watch_shimmer(page)
    practice.release("word")
    await until_done(page)
    await expect(page.locator("#activity")).to_be_hidden()
    counts, milliseconds = await shimmer_seen(page)
    assert counts == [1, 0]
    assert milliseconds >= 195  # clocks of the page are coarse
    await expect(page.locator("#messages strong")).to_have_text("written down")
    await page.get_by_role("link", name="Life map: Career").click()
    await expect(page.locator("article .prose")).to_have_text("About career.")
    await page.get_by_role("link", name="Files").first.click()
    await expect(page.get_by_role("link", name="Career")).to_be_visible()
    assert watcher.faults == []


async def test_a_reload_in_mid_stream_shows_the_same_words_and_then_the_rest(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    first, second = "One, two, three.\n\nFour & five, ", "six <b>seven</b>."
    practice.script([Reply.of(Text(first), Hold("half"), Text(second))])
    await page.goto(path_of(session))
    await say(page, "Count for me")
    await practice.reached("half")
    await expect(page.locator("#live-text")).to_contain_text("Four & five,")
    before = await live_text(page)
    await page.reload()
    await expect(page.locator("#live-text")).to_contain_text("Four & five,")
    assert await live_text(page) == before == first.strip()
    practice.release("half")
    await until_done(page)
    words = await page.locator("#messages .prose").inner_text()
    assert words == "One, two, three.\n\nFour & five, six <b>seven</b>."
    assert watcher.faults == []


async def test_two_tabs_grow_alike(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script(
        [
            Reply.of(Text("First "), Hold("a"), Text("then "), save("play"), save("health"), save("career")),
            Reply.of(Note("Three files."), Text("done."), Hold("b"), Text(" Really.")),
        ]
    )
    other = await page.context.new_page()
    for tab in (page, other):
        await tab.goto(path_of(session))
        await expect(tab.locator("#chat")).to_have_attribute("data-phase", "idle")
    await say(page, "Hello")
    await practice.reached("a")
    for tab in (page, other):
        await expect(tab.locator("#messages .said-text")).to_have_text("Hello")
        await expect(tab.locator("#live-text")).to_have_text("First")
    await watch_shimmer(page)
    practice.release("a")
    await practice.reached("b")
    for tab in (page, other):
        await expect(tab.locator("#live-text")).to_have_text("done.")
        await expect(tab.locator(".turn.is-open .round").first).to_contain_text("First then")
    practice.release("b")
    for tab in (page, other):
        await until_done(tab)
    await expect(page.locator("#activity")).to_be_hidden()  # each call is shown for a moment
    assert await messages_markup(page) == await messages_markup(other)
    counts, _ = await shimmer_seen(page)
    assert max(counts) == 3
    assert counts[-1] == 0
    assert watcher.faults == []


async def test_what_was_streamed_is_what_a_reload_shows(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script(
        [
            Reply.of(Text("I'll write that down."), save("career")),
            Reply.of(Note("Now the plan."), Text(LONG)),
            "A second answer.",
        ]
    )
    await page.goto(path_of(session))
    await say(page, "Hello <i>there</i> &amp; **you**")
    await until_done(page, 1)
    await say(page, "And again")
    await until_done(page, 2)
    practice.faults.push(Fault(kind="status", status=400))
    await say(page, "Now fail")
    await until_done(page, 3)
    title, streamed = await page.locator("#chat-title").inner_text(), await messages_markup(page)
    await page.reload()
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    assert await messages_markup(page) == streamed
    assert await page.locator("#chat-title").inner_text() == title == "Hello <i>there</i> &amp; **you**"
    assert watcher.faults == []


async def test_stop_keeps_what_came_and_a_failure_can_be_tried_again(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(Text("This goes on "), Hold("never"), Text("and on."))])
    await page.goto(path_of(session))
    await say(page, "Talk")
    await practice.reached("never")
    await expect(page.locator("#live-text")).to_have_text("This goes on")
    await page.get_by_role("button", name="Stop").click()
    await until_done(page)
    await expect(page.locator("#messages .turn")).to_contain_text("You stopped this answer.")
    await expect(page.locator("#messages .prose")).to_have_text("This goes on")
    practice.faults.push(Fault(kind="status", status=400))
    await say(page, "Once more")
    await expect(page.locator("#messages .notice")).to_be_visible()
    practice.script(["Here I am."])
    await page.get_by_role("button", name="Try again").last.click()
    await expect(page.locator("#messages .turn").last).to_contain_text("Here I am.")
    await until_done(page, 2)
    await expect(page.locator("#messages .said-text")).to_have_text(["Talk", "Once more"])
    await expect(page.locator("#messages .notice")).to_have_count(0)
    streamed = await messages_markup(page)
    await page.reload()
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    assert await messages_markup(page) == streamed
    assert watcher.faults == []


async def test_a_lost_connection_comes_back_to_the_same_words(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    sockets: list[WebSocketRoute] = []

    def through(route: WebSocketRoute) -> None:
        sockets.append(route)
        route.connect_to_server()

    await page.route_web_socket("**/ws/**", through)
    practice.script([Reply.of(Text("Before. "), Hold("gap"), Text("After.")), "Sent while away."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await practice.reached("gap")
    await expect(page.locator("#live-text")).to_have_text("Before.")
    await sockets[-1].close(code=1012)
    practice.release("gap")
    await until_done(page)
    assert len(sockets) == 2
    await expect(page.locator("#messages .prose")).to_have_text("Before. After.")
    await sockets[-1].close(code=1012)
    await say(page, "Are you there?")
    await until_done(page, 2)
    await expect(page.locator("#messages .said-text")).to_have_text(["Hello", "Are you there?"])
    stored = await in_database(lambda: Message.unscoped.filter(session=session, role="user").count())
    assert stored == 2


async def test_a_message_that_is_refused_goes_back_to_the_composer(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    await page.goto(path_of(session))
    await page.locator("#composer-text").evaluate("(field) => delete field.dataset.most")
    await say(page, "x" * 20_001)
    await expect(page.locator("#notices")).to_contain_text("20,001 characters")
    await expect(page.locator("#composer-text")).to_have_value("x" * 20_001)
    await expect(page.locator("#sending li")).to_have_count(0)
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")


async def test_the_composer_keeps_a_draft_and_knows_its_keys(page: Page, session: Session) -> None:
    await page.goto(path_of(session))
    field = page.locator("#composer-text")
    await expect(page.get_by_role("button", name="Send")).to_be_disabled()
    await field.press_sequentially("one")
    await field.press("Shift+Enter")
    await field.press_sequentially("two")
    await expect(field).to_have_value("one\ntwo")
    await field.dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    await page.reload()
    await expect(field).to_have_value("one\ntwo")
    await expect(page.locator("#messages li")).to_have_count(0)


async def test_without_a_script_a_form_waits_and_shows_the_answer(
    practice: PracticeServer, open_context: OpenContext, cookie: str, watcher: Watcher
) -> None:
    practice.script(["Good to meet you.", "You are heard.", "Again."])
    page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await page.goto("/chat/")
    await page.get_by_role("button", name="New conversation").click()
    await expect(page.locator("#messages .prose")).to_have_text("Good to meet you.")
    await page.get_by_label("Your message").fill("No script here")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#messages .prose").last).to_have_text("You are heard.")
    assert "#turn-" in page.url
    practice.faults.push(Fault(kind="status", status=400))
    await page.get_by_label("Your message").fill("Fail")
    await page.get_by_role("button", name="Send").click()
    await page.get_by_role("button", name="Try again").click()
    await expect(page.locator("#messages .prose").last).to_have_text("Again.")
    assert [fault for fault in watcher.faults if "unsafe-inline" in fault] == []


async def test_a_blocked_script_leaves_a_page_that_works(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session
) -> None:
    async def refuse(route: Route) -> None:
        await route.abort()

    practice.script(["By form."])
    page = await (await open_context(cookie, is_new=True)).new_page()
    await page.route("**/*.js", refuse)
    await page.goto(path_of(session))
    await page.get_by_label("Your message").fill("Hello")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#messages .prose")).to_have_text("By form.")


async def test_the_page_follows_the_words_unless_the_reader_has_gone_up(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    many = "\n\n".join(f"Paragraph {number} of a long answer." for number in range(60))
    practice.script(
        [Reply.of(Text(many), Hold("up"), Text(f"\n\n{many}"), Hold("end"), Text("\n\nThe end."))]
    )
    below = "() => document.documentElement.scrollHeight - innerHeight - scrollY"
    await page.goto(path_of(session))
    await say(page, "Tell me everything")
    await practice.reached("up")
    await expect(page.locator("#live-text")).to_contain_text("Paragraph 59")
    await expect(page.get_by_role("button", name="Jump to latest")).to_be_hidden()
    await page.wait_for_function(f"() => ({below})() < 4")  # it scrolls with the next frame
    height = await page.evaluate("() => document.documentElement.scrollHeight")
    await page.mouse.wheel(0, -1500)
    await expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()
    # Elements that come and go above the composer float: otherwise a button would move under a finger.
    assert await page.evaluate("() => document.documentElement.scrollHeight") == height
    place = await page.evaluate("() => scrollY")
    practice.release("up")
    await practice.reached("end")
    await expect(page.locator("#live-blocks p:not(.live)")).to_have_count(119)
    assert await page.evaluate("() => scrollY") == place
    await page.get_by_role("button", name="Jump to latest").click()
    await expect(page.get_by_role("button", name="Jump to latest")).to_be_hidden()
    practice.release("end")
    await until_done(page)
    await expect(page.locator("#messages .prose p").last).to_be_in_viewport()
    await page.wait_for_function(f"() => ({below})() < 4")
    # Find-in-page and screen readers also scroll the page, without touch.
    await page.locator("#messages .said").evaluate("(said) => said.scrollIntoView()")
    await expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()
    await expect(page.locator("#messages .said")).to_be_in_viewport()


PLACES = """() => [...document.querySelectorAll(
    "#live-blocks > *, #live-blocks :is(li, tr), #messages .prose > *, #messages .prose :is(li, tr)"
)].map((node) => [node.localName, Math.round(node.getBoundingClientRect().top + scrollY)])"""
"""Where each block is."""


async def test_an_answer_takes_its_form_while_it_comes_and_nothing_jumps_at_its_end(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    parts = {
        "heading": ("## A pl", "h4#live-text"),
        "words": ("an\n\nSome **bold** words", "p#live-text"),
        "item": (".\n\n- one\n- tw", "ul > li + li#live-text"),
        "task": ("o\n  - deep\n- [x] thr", "ul > li.task > label#live-text"),
        "row": ("ee\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4", "tbody > tr + tr#live-text"),
        "code": (" |\n\n```python\nx = 1\ny = ", "pre > code#live-text"),
        "number": ("2\n```\n\n1. first\n2. second", "ol > li + li#live-text"),
        "quote": ("\n\n> quiet", "blockquote > p#live-text"),
        "look": ("\n\nThe *end", "p#live-text"),
    }
    pieces = [piece for name, (words, _) in parts.items() for piece in (Text(words), Hold(name))]
    practice.script([Reply.of(*pieces, Text("* is near."), chunk_characters=5)])
    await page.goto(path_of(session))
    await say(page, "Make a plan")
    before: list[object] = []
    for name, (words, element) in parts.items():
        await practice.reached(name)
        await expect(page.locator(f"#live-blocks > {element}, #live-blocks * > {element}")).to_contain_text(
            words.split()[-1].strip("*")
        )
        # The block that was being written had its place already.
        places = await page.evaluate(PLACES)
        assert places[: len(before)] == before, name
        before = places
        practice.release(name) if name != "look" else None
    blocks = page.locator("#live-blocks")
    await expect(blocks.locator("h4, strong, td, pre")).to_have_text(
        ["A plan", "bold", "1", "2", "3", "4", "x = 1\ny = 2\n"]
    )
    streamed = await finished_blocks(page)
    practice.release("look")
    await until_done(page)
    final = await page.locator("#messages .turn .prose").inner_html()
    assert final == f"{streamed}<p>The <em>end</em> is near.</p>\n"
    assert await page.evaluate(PLACES) == before
    await page.reload()
    await expect(page.locator(".code-copy")).to_have_count(1)
    assert await page.locator("#messages .turn .prose").inner_html() == final
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.get_by_role("button", name="Copy code").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".code-copy [role=status]")).to_have_text("Copied")
    assert await page.evaluate("() => navigator.clipboard.readText()") == "x = 1\ny = 2\n"
    await page.locator(".turn [data-copy]").click()
    await expect(page.locator(".turn [data-copy]")).to_have_text("Copied")
    copied = await page.evaluate("() => navigator.clipboard.readText()")
    assert "☑ three\n" in copied
    assert copied.endswith("quiet\n\nThe end is near.")
    assert watcher.faults == []
