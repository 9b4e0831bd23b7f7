"""Formulas: set as MathML, the same while Sage writes and after a reload, and copied as they are written."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, Request, expect

from coaching.practice.script import Hold, Reply, Text
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.chat_page import messages_markup, path_of, say, until_done
from tests.browser.fixtures import Watcher
from tests.browser.test_accessibility import serious_findings
from tests.recall.history import talk

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BLOCK = "\\[\nx = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\n- \\text{ or so}\n\\]"
REFUSED = (
    r"\(\frac{a\)",
    r"\(\nosuchcommand{a}\)",
    r"\(\def\a{b}\a\)",
    r"\(\ref{composer}\)",
    r"\(\href{https://example.org}{a}\)",
    r"\(\includegraphics{https://example.org/a.png}\)",
    r"\(" + r"\sqrt{" * 300 + "a" + "}" * 300 + r"\)",
    r"\(" + "a+" * 2001 + r"\)",
    r"\(\begin{alignat}{30000000}x\end{alignat}\)",
    r"\(\tag*{aaa\df@tag}x\)",
    r"\(\begin{matrix}" + "&" * 98 + r"\\" * 99 + r"\end{matrix}\)",  # 10,099 elements
    r"\(\begin{matrix}" + "&" * 700 + r"\\" * 700 + r"\end{matrix}\)",
    r"\(" + r"\cancelto{1}{" * 20 + "x" + "}" * 20 + r"\)",
    r"\(" + r"\llap{" * 20 + "x" + "}" * 20 + r"\)",
)


async def test_formulas_are_set_while_sage_writes_as_after_a_reload_and_copied_as_they_are_written(
    practice: PracticeServer, page: Page, watcher: Watcher, session: Session
) -> None:
    end = "It costs $5, or $$ in all: \\(a_1 \\cdot b_1\\)."
    practice.script(
        [Reply.of(Text(f"Take \\(x^2\\).\n\n{BLOCK}\n\nAnd then"), Hold("middle"), Text(f".\n\n{end}"))]
    )
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(path_of(session))
    await say(page, "How?")
    await practice.reached("middle")
    live = page.locator("#live-blocks math")
    await expect(live).to_have_count(2)
    await expect(live.nth(1)).to_have_attribute("display", "block")
    practice.release("middle")
    await until_done(page)
    await expect(page.locator("#messages math")).to_have_count(3)
    await expect(page.locator("#messages .prose p").last).to_contain_text("It costs $5, or $$ in all: ")
    assert await serious_findings(page) == []
    shown = await messages_markup(page)
    await page.reload()
    await expect(page.locator("#messages math")).to_have_count(3)
    assert await messages_markup(page) == shown

    await page.get_by_role("button", name="Copy", exact=True).last.click()
    copied = await page.evaluate("() => navigator.clipboard.readText()")
    assert all(source in copied for source in (r"\(x^2\)", r"\frac{-b \pm \sqrt{b^2 - 4ac}}{2a}", end))
    await page.evaluate(
        """() => {
            const [first, last] = document.querySelectorAll("#messages .formula math");
            getSelection().setBaseAndExtent(first.querySelector("mi"), 0, last.querySelector("mi"), 0);
        }"""
    )
    await page.keyboard.press("Control+c")
    selected = await page.evaluate("() => navigator.clipboard.readText()")
    assert selected.startswith(r"\(x^2\).")
    assert selected.endswith(r"\(a_1 \cdot b_1\)")
    # Firefox keeps the page's selection while a field has the focus.
    taken = await page.evaluate(
        """() => {
            const kind = { bubbles: true, cancelable: true, clipboardData: new DataTransfer() };
            const copied = new ClipboardEvent("copy", kind);
            return !document.querySelector("#composer textarea").dispatchEvent(copied);
        }"""
    )
    assert not taken
    await expect(page.locator("#messages math")).to_have_count(3)
    await page.goto(f"{path_of(session)}print/")
    await expect(page.locator("#messages math")).to_have_count(3)
    assert watcher.faults == []


async def test_what_cannot_be_set_or_may_not_stays_as_it_is_written(
    practice: PracticeServer, page: Page, watcher: Watcher, session: Session
) -> None:
    kept = r"\(\pmb{a}\) \(\label{composer} b\) \(\sideset{_a}{_b}\sum c\)"
    practice.script(["\n\n".join([kept, *REFUSED])])
    await page.goto(path_of(session))
    await say(page, "How?")
    await until_done(page)
    await expect(page.locator("#messages math")).to_have_count(3)
    left = page.locator("#messages .formula:not([data-source])")
    assert tuple(await left.all_text_contents()) == REFUSED
    assert await page.locator("#messages .formula :is([id], [href], [style*=url], a, img)").count() == 0
    assert await page.evaluate("document.getElementById('composer').tagName") == "FORM"
    assert watcher.faults == []


async def test_a_page_sets_formulas_up_to_a_limit_and_leaves_the_others_as_they_are_written(
    page: Page, user: User, watcher: Watcher
) -> None:
    long = r"\(x^2" + " " * 3993 + r"\)"  # 4,000 characters that are read at once
    session = await in_database(talk, user, "How?", "\n\n".join([*[long] * 26, r"\(y^2\)"]))
    await page.goto(path_of(session))
    await expect(page.locator("#messages math")).to_have_count(25)
    left = await page.locator("#messages .formula:not([data-source])").all_text_contents()
    assert left == [long, r"\(y^2\)"]
    assert watcher.faults == []


async def test_a_page_without_a_formula_loads_nothing_for_them(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    practice.script(["It costs $5, or $6.", r"Take \(x^2\)."])
    await page.goto(path_of(session))
    await say(page, "How much?")
    await until_done(page)
    assert not any("/vendor/" in url for url in asked)
    await say(page, "How?")
    await until_done(page, 2)
    await expect(page.locator("#messages math")).to_have_count(1)
    loaded = [re.sub(r"\.[0-9a-f]{12}", "", url.rpartition("/")[2]) for url in asked if "/vendor/" in url]
    assert loaded == ["temml.min.js"]


async def test_after_a_failure_the_next_formula_loads_what_shows_them(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    await page.route("**/vendor/temml/*", lambda route: route.abort(), times=1)
    practice.script([r"Take \(x^2\).", r"Or \(x^3\)."])
    await page.goto(path_of(session))
    await say(page, "How?")
    await until_done(page)
    await say(page, "How?")
    await until_done(page, 2)
    await expect(page.locator("#messages .formula").last.locator("math")).to_be_visible()


async def test_a_formula_is_drawn_inside_its_own_line(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    wide = r"\(" + " + ".join(f"x_{{{number}}}" for number in range(60)) + r"\)"
    practice.script(
        [f"Take {wide} and \\(\\kern-400em a\\raisebox{{-90em}}{{b}}\\).\n\n\\[{wide[2:-2]} = 1\\]"]
    )
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(path_of(session))
    await say(page, "How?")
    await until_done(page)
    await expect(page.locator("#messages .is-wide")).to_have_count(2)
    # Paper doesn't scroll.
    await page.emulate_media(media="print")
    await expect(page.locator("#messages .is-wide > math:visible")).to_have_count(0)
    printed = "(formula) => getComputedStyle(formula, '::before').content"
    assert "x_{59}" in await page.locator("#messages .formula-block").evaluate(printed)
    await page.emulate_media(media="screen")
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    assert await serious_findings(page) == []
