"""Reading aloud: each sentence once it is whole, by a voice of the device, no code or addresses, until Stop.

Headless browsers have no voices, so the browser's synthesiser is a scripted one here; all else is real.
"""

import asyncio
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from coaching.practice.script import Hold, Reply
from coaching.practice.server import PracticeServer
from sessions_app.models import Session
from tests.browser.chat_page import path_of, say, until_done
from tests.browser.fixtures import OpenContext, Watcher
from tests.browser.page_layout import NARROW, layout_faults
from tests.browser.test_accessibility import serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SYNTHESISER = """
    window.spoken = [];
    window.voices = [
        { voiceURI: "far", name: "Far", lang: "en-GB", localService: false, default: true },
        { voiceURI: "near", name: "Near", lang: "en-US", localService: true, default: false },
    ];
    let current = null;
    window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
    Object.defineProperty(window, "speechSynthesis", { value: {
        getVoices: () => window.voices,
        addEventListener: () => {},
        speak: (utterance) => {
            current = utterance;
            window.spoken.push([utterance.voice.voiceURI, utterance.text]);
        },
        cancel: () => { current = null; window.cancelled = (window.cancelled ?? 0) + 1; },
    } });
    window.speakOn = () => { const ended = current; current = null; ended?.onend(); };
"""
ANSWER = (
    "You could begin **small**. Run `rm -rf /tmp` first, see [the guide](https://example.org/a) or "
    "https://example.org/b now.\n\n```sh\necho secret\n```\n\n- One thing\n- Another thing\n"
)
SAID = ["You could begin small.", "Run first, see the guide or now.", "One thing", "Another thing"]


async def spoken(page: Page, count: int) -> list[Any]:
    """Let the synthesiser speak on until so many sentences were begun; return all that was said."""
    async with asyncio.timeout(30):
        while len(said := await page.evaluate("() => { speakOn(); return spoken; }")) < count:  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)
    return list(said)


@pytest_asyncio.fixture(loop_scope="session")
async def loud(open_context: OpenContext, cookie: str) -> Page:
    context = await open_context(cookie, is_new=True)
    await context.add_init_script(SYNTHESISER)
    return await context.new_page()


async def test_an_answer_is_read_without_code_and_addresses_by_a_voice_of_the_device(
    practice: PracticeServer, loud: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([ANSWER])
    await loud.goto(path_of(session))
    await say(loud, "Where do I begin?")
    await until_done(loud)
    button = loud.get_by_role("button", name="Read aloud", exact=True)
    await button.click()
    assert await spoken(loud, len(SAID)) == [["near", sentence] for sentence in SAID]
    await expect(loud.get_by_role("button", name="Stop reading").first).to_be_visible()
    assert await serious_findings(loud) == []
    assert await layout_faults(loud, NARROW) == []
    await loud.evaluate("() => speakOn()")
    await expect(button).to_be_visible()
    await expect(loud.locator("#reading-stop")).to_be_hidden()
    # Again, and stopped after its first sentence, by the keyboard.
    await button.click()
    await expect(loud.locator("#reading-stop")).to_be_visible()
    await loud.keyboard.press("Escape")
    await expect(loud.locator("#reading-stop")).to_be_hidden()
    assert len(await loud.evaluate("() => { speakOn(); speakOn(); return spoken; }")) == len(SAID) + 1
    assert watcher.faults == []


async def test_each_sentence_is_read_while_the_answer_is_written_until_stop(
    practice: PracticeServer, loud: Page, session: Session
) -> None:
    half = "First things first. Then `code` is never said, is it? And th"
    practice.script(
        [
            Reply.of(
                half, Hold("more"), "is [link](https://example.org) ends.\n\n```\nsecret\n```\n\nAfter it."
            ),
            Reply.of("Never mind. ", Hold("stop"), "Unheard."),
        ]
    )
    await loud.goto(path_of(session))
    toggle = loud.get_by_role("button", name="Read answers aloud")
    await toggle.click()
    await expect(toggle).to_have_attribute("aria-pressed", "true")
    await say(loud, "Go on")
    early = [text for _, text in await spoken(loud, 2)]
    assert early == ["First things first.", "Then is never said, is it?"], "while the answer is being written"
    practice.release("more")
    await until_done(loud)
    late = [text for _, text in await spoken(loud, 4)]
    assert late[2:] == ["And this link ends.", "After it."]
    await say(loud, "And now?")
    await spoken(loud, 5)
    cancelled = await loud.evaluate("() => cancelled")
    await loud.get_by_role("button", name="Stop", exact=True).click()
    practice.release("stop")
    await until_done(loud, 2)
    assert await loud.evaluate("() => cancelled") > cancelled
    assert len(await loud.evaluate("() => { speakOn(); return spoken; }")) == 5


async def test_a_voice_that_isnt_on_the_device_is_used_only_after_a_warning(
    practice: PracticeServer, loud: Page, session: Session
) -> None:
    practice.script(["Hello there."])
    await loud.goto(path_of(session))
    await loud.evaluate("() => { voices = voices.slice(0, 1); }")
    await say(loud, "Hello")
    await until_done(loud)
    await loud.get_by_role("button", name="Read aloud", exact=True).click()
    dialog = loud.get_by_role("dialog", name="Who reads aloud")
    await expect(dialog).to_contain_text("This device has no voice for this language.")
    await expect(dialog).to_contain_text("The browser sends what is read aloud")
    assert await serious_findings(loud) == []
    assert await loud.evaluate("() => spoken") == []
    await dialog.get_by_role("button", name="Use this voice").click()
    await loud.get_by_role("button", name="Read aloud", exact=True).click()
    assert await spoken(loud, 1) == [["far", "Hello there."]]


async def test_an_answer_is_read_in_one_tab_and_a_voice_is_chosen_by_each_person(
    practice: PracticeServer, loud: Page, session: Session
) -> None:
    practice.script(["First here. ", "Then there. "])
    await loud.goto(path_of(session))
    await loud.get_by_role("button", name="Read answers aloud").click()
    other = await loud.context.new_page()
    await other.goto(path_of(session))
    await expect(other.get_by_role("button", name="Read answers aloud")).to_have_attribute(
        "aria-pressed", "true"
    )
    await say(other, "Hello")
    await spoken(other, 1)
    await until_done(other)
    await until_done(loud)
    assert await loud.evaluate("() => spoken") == []
    # What reads in one tab stops where another begins.
    await other.reload()
    await other.get_by_role("button", name="Read aloud", exact=True).click()
    await expect(other.locator("#reading-stop")).to_be_visible()
    await loud.get_by_role("button", name="Read aloud", exact=True).click()
    await expect(loud.locator("#reading-stop")).to_be_visible()
    await expect(other.locator("#reading-stop")).to_be_hidden()
    # Somebody else in this browser has chosen nothing.
    person = await loud.evaluate("() => document.body.dataset.user")
    keys = await loud.evaluate("() => Object.keys(localStorage).filter((key) => key.includes('read-aloud:'))")
    assert keys == [f"sage-read-aloud:{person}"]


async def test_answers_arent_read_aloud_while_somebody_dictates(
    practice: PracticeServer, loud: Page, session: Session
) -> None:
    practice.script(["Unheard. ", "Heard. "])
    await loud.goto(path_of(session))
    await loud.get_by_role("button", name="Read answers aloud").click()
    # What the microphone's script says of its form.
    state = "(state) => { document.getElementById('composer').dataset.voice = state; }"
    await loud.evaluate(state, "recording")
    await say(loud, "Hello")
    await until_done(loud)
    assert await loud.evaluate("() => spoken") == []
    await loud.evaluate(state, "idle")
    await say(loud, "Again")
    assert await spoken(loud, 1) == [["near", "Heard."]]


async def tab_to(page: Page, button: Locator) -> None:
    """Press Tab until the button has the focus."""
    for _ in range(80):
        await page.keyboard.press("Tab")
        if await button.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError("Tab doesn't reach it")


async def test_by_keyboard_alone_reading_begins_and_stops_and_the_focus_stays(
    practice: PracticeServer, loud: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([ANSWER, "Read by itself. And on it goes."])
    await loud.goto(path_of(session))
    await say(loud, "Where do I begin?")
    await until_done(loud)
    button = loud.get_by_role("button", name="Read aloud", exact=True)
    await tab_to(loud, button)
    await loud.keyboard.press("Enter")
    reading = loud.locator("[data-read-aloud]")
    await expect(reading).to_have_accessible_name("Stop reading")
    await expect(reading).to_be_focused()
    await loud.keyboard.press("Enter")
    await expect(reading).to_have_accessible_name("Read aloud")
    assert await loud.evaluate("() => { speakOn(); return spoken.length; }") == 1
    toggle = loud.get_by_role("button", name="Read answers aloud")
    await tab_to(loud, toggle)
    await loud.keyboard.press("Space")
    await expect(toggle).to_have_attribute("aria-pressed", "true")
    await say(loud, "Go on")
    await until_done(loud, 2)
    stop = loud.locator("#reading-stop")
    await expect(stop).to_be_visible()
    assert await serious_findings(loud) == []
    await tab_to(loud, stop)
    await loud.keyboard.press("Enter")
    await expect(stop).to_be_hidden()
    await expect(toggle).to_be_focused()
    said = [text for _, text in await loud.evaluate("() => { speakOn(); return spoken; }")]
    assert said == [SAID[0], "Read by itself."]
    assert watcher.faults == []
