"""The composer: focus, Enter, and text that can't be sent yet."""

import pytest
from playwright.async_api import Page, expect

from coaching.practice.script import Hold, Reply, Text
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_done
from tests.browser.fixtures import OpenContext, Watcher

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


async def test_a_new_conversation_is_ready_to_be_written_in(
    practice: PracticeServer, page: Page, watcher: Watcher
) -> None:
    practice.script(["Good to meet you.", "Heard.", "Heard again."])
    await page.goto("/chat/")
    await page.get_by_role("button", name="New conversation").click()
    await until_done(page)
    await expect(page.get_by_label("Your message")).to_be_focused()
    await page.keyboard.type("can we plan my day?")
    await expect(page.get_by_label("Your message")).to_have_value("can we plan my day?")
    await expect(page.locator("#capture-dialog")).to_be_hidden()
    await page.keyboard.press("Enter")
    await until_done(page, 2)
    # What was begun at home goes on being written, too.
    await page.goto("/")
    await page.get_by_label("What’s on your mind?").fill("Hello")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/chat/*/")
    await page.keyboard.type("come")
    await expect(page.get_by_label("Your message")).to_have_value("come")
    await expect(page.locator("#capture-dialog")).to_be_hidden()
    assert watcher.faults == []


async def test_a_known_conversation_and_a_touch_screen_keep_the_focus_on_the_page(
    practice: PracticeServer, page: Page, session: Session, open_context: OpenContext, cookie: str
) -> None:
    practice.script(["One.", "Two."])
    phone = await (await open_context(cookie, **PHONE)).new_page()
    await phone.goto(path_of(session))
    await expect(phone.get_by_label("Your message")).not_to_be_focused()
    await page.goto(path_of(session))
    await say(page, "First")
    await until_done(page, 1)
    await say(page, "Second")
    await until_done(page, 2)
    await page.reload()
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    await expect(page.get_by_label("Your message")).not_to_be_focused()


async def test_the_enter_key_of_a_phone_does_what_it_says(
    practice: PracticeServer, page: Page, session: Session, open_context: OpenContext, cookie: str
) -> None:
    practice.script(["Heard."])
    phone = await (await open_context(cookie, **PHONE)).new_page()
    for address, label in ((path_of(session), "Your message"), ("/capture/", "Thought to capture")):
        await phone.goto(address)
        field = phone.get_by_label(label, exact=True)
        await expect(field).to_have_js_property("enterKeyHint", "enter")
        await field.fill("One")
        await field.press("Enter")
        await field.press_sequentially("two")
        await expect(field).to_have_value("One\ntwo")
    await phone.goto(path_of(session))
    await phone.get_by_label("Your message").fill("One\ntwo")
    await phone.get_by_role("button", name="Send").tap()
    await until_done(phone)
    await page.goto(path_of(session))
    await expect(page.get_by_label("Your message")).to_have_js_property("enterKeyHint", "send")


async def test_the_hint_that_an_edit_must_wait_covers_no_word_of_the_answer(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script(["Hi.", Reply.of(Text("A long answer. " * 200), Hold("half"), Text("The end."))])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_done(page)
    await page.get_by_role("link", name="Edit").click()
    other = await page.context.new_page()
    await other.goto(path_of(session))
    await say(other, "Go on")
    await practice.reached("half")
    await expect(page.locator("#live-text")).to_contain_text("A long answer. " * 200)
    await page.keyboard.press("Enter")
    hint = page.get_by_text("Sage is still answering. Your text is still here.")
    gap = """() => {
        const words = document.createRange();
        words.selectNodeContents(document.getElementById("live-text"));
        const last = [...words.getClientRects()].at(-1);
        return document.getElementById("wait-hint").getBoundingClientRect().top - last.bottom;
    }"""
    for width in (360, 768, 1440):
        await page.set_viewport_size({"width": width, "height": 700})
        await expect(hint).to_be_visible()
        await page.wait_for_function(f"() => ({gap})() >= 0")
        assert 0 <= await page.evaluate(gap) < 100
    await expect(page.get_by_label("Your message")).to_have_value("Hello")
    practice.release("half")
    await until_done(page, 2)
    await expect(hint).to_be_hidden()


async def test_words_that_wait_for_the_network_stand_apart_from_the_answer_above(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script(["Heard."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_done(page)
    await page.context.set_offline(True)
    await say(page, "And this")
    waiting = page.locator("#sending .said")
    await expect(waiting).to_be_visible()
    gap = await waiting.evaluate(
        """(bubble) => bubble.querySelector(".said-text").getBoundingClientRect().top
            - document.querySelector("#messages > li:last-child").getBoundingClientRect().bottom"""
    )
    assert gap >= 24
    await page.context.set_offline(False)


async def test_a_text_that_is_too_long_stays_whole_and_says_by_how_much(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script(["Heard."])
    field, line = page.locator("#composer-text"), page.locator("#composer .too-long")
    await page.goto(path_of(session))
    for length, over in ((2_000_000, "1,980,000"), (20_001, "1")):
        await field.focus()
        await page.keyboard.insert_text("x" * length)
        await expect(line).to_contain_text(f"Characters over the limit of 20,000: {over}.")
        await expect(field).to_have_attribute("aria-invalid", "true")
        await expect(field).to_have_accessible_error_message(await line.inner_text())
        words = await line.evaluate_handle("(line) => line.firstChild")
        await page.keyboard.press("Enter")
        assert not await words.evaluate("(words) => words.isConnected"), "not announced again"
        assert await field.evaluate("(field) => field.value.length") == length
        await expect(page.locator("#sending li, #messages li")).to_have_count(0)
        await page.keyboard.press("ControlOrMeta+a")
    # The server counts a pair of surrogates once.
    await page.keyboard.insert_text("😀" + "y" * 19_999)
    await expect(line).to_have_count(0)
    assert await field.get_attribute("aria-invalid") is None
    assert await field.get_attribute("aria-errormessage") is None
    await page.keyboard.press("Enter")
    await until_done(page)
    await page.locator("#capture-open").click()
    capture = page.locator("#capture-anywhere")
    await capture.fill("z" * 20_002)
    await page.locator("#capture-dialog").get_by_role("button", name="Save").click()
    await expect(page.locator("#capture-dialog .too-long")).to_contain_text("20,000: 2.")
    assert await capture.evaluate("(field) => field.value.length") == 20_002
    assert watcher.faults == []


async def test_without_scripts_a_refused_text_is_in_the_field_again(
    session: Session, open_context: OpenContext, cookie: str
) -> None:
    plain = await (await open_context(cookie, java_script_enabled=False)).new_page()
    for address in (path_of(session), "/"):
        await plain.goto(address)
        await plain.locator("#composer-text").fill("x" * 20_001)
        await plain.get_by_role("button", name="Send", exact=True).click()
        await expect(plain.get_by_text("20,001 characters").first).to_be_visible()
        await expect(plain.locator("#composer-text")).to_have_value("x" * 20_001)
    await plain.goto("/capture/")
    await plain.locator("#capture-text").fill("x" * 20_001)
    await plain.locator("form.quick button[type=submit]").click()
    await expect(plain.get_by_text("20,001 characters").first).to_be_visible()
    await expect(plain.locator("#capture-text")).to_have_value("x" * 20_001)


async def test_each_line_has_the_direction_of_its_own_text(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(Text("שלום לך!\n\nAnd hello"), Hold("end"), Text("!"))])
    field = page.get_by_label("Your message")
    await page.goto(path_of(session))
    await field.fill("שלום Sage!")
    assert await field.evaluate("(field) => getComputedStyle(field).direction") == "rtl"
    await say(page, "שלום!\nHello!")
    await practice.reached("end")
    await expect(page.locator("#messages .said-text")).to_have_count(1)
    await expect(page.locator("#live-text")).to_have_text("And hello")
    for text in ("#messages .said-text", "#live-blocks p"):
        # On which side of its line the last character is: it comes after the words.
        sides = await page.locator(text).evaluate_all(
            """(elements) => elements.flatMap((element) => {
                const place = (node, at) => {
                    const range = document.createRange();
                    range.setStart(node, at);
                    range.setEnd(node, at + 1);
                    return range.getBoundingClientRect();
                };
                return [...element.childNodes].filter((node) => node.data).flatMap((node) => {
                    let from = 0;
                    return node.data.split("\\n").map((line) => {
                        const [first, last] = [place(node, from), place(node, from + line.length - 1)];
                        from += line.length + 1;
                        return last.left < first.left ? "left" : "right";
                    });
                });
            })"""
        )
        assert sides == ["left", "right"]
    practice.release("end")
    await until_done(page)
    await expect(page.locator("#chat-title")).to_have_css("direction", "rtl")
    assert watcher.faults == []
