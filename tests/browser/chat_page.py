"""Actions and checks on the chat page."""

import asyncio
import re

from playwright.async_api import Error, Page, expect

from sessions_app.models import Session

WAIT_MS = 30_000
DONE = """(answers) => document.querySelector("#chat[data-phase=idle]")
    && document.querySelectorAll("#messages > .turn:not(.is-open)").length === answers"""
ASKED = """(prompt) => document.querySelector("#chat[data-phase=idle]")
    && document.querySelector(".turn.is-open .call.is-pending > legend")?.textContent.trim() === prompt"""


def path_of(session: Session) -> str:
    """Return the page's address."""
    return f"/chat/{session.id}/"


async def say(page: Page, text: str) -> None:
    """Write a message and send it with Enter."""
    await page.locator("#composer-text").fill(text)
    await page.keyboard.press("Enter")


async def until(page: Page, holds: str, argument: object = None) -> None:
    """Wait until a function holds in the page, asked at each change of it; give up in silence.

    An assertion belongs behind it: Playwright's say what is wrong, but each looks again up to a second late.
    """
    script = f"""(argument) => new Promise((resolve) => {{
        const look = () => {{
            if (!({holds})(argument)) return;
            observer.disconnect();
            resolve();
        }};
        const observer = new MutationObserver(look);
        const all = {{ attributes: true, characterData: true, childList: true, subtree: true }};
        observer.observe(document, all);
        look();
    }})"""
    deadline = asyncio.get_running_loop().time() + WAIT_MS / 1000
    while (rest := deadline - asyncio.get_running_loop().time()) > 0:
        try:
            await asyncio.wait_for(page.evaluate(script, argument), rest)
        except TimeoutError:
            return
        except Error as error:
            if "context was destroyed" not in str(error):
                raise  # else another page has come
        else:
            return


async def until_done(page: Page, answers: int = 1) -> None:
    """Wait until that many answers are final and nothing runs."""
    await until(page, DONE, answers)
    await expect(page.locator("#messages > .turn:not(.is-open)")).to_have_count(answers)
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")


async def until_asked(page: Page, prompt: str) -> None:
    """Wait until that question, and no other, waits for an answer and nothing runs."""
    await until(page, ASKED, prompt)
    question = page.locator(".turn.is-open .call.is-pending")
    await expect(question.locator(":scope > legend")).to_have_text(prompt)
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")


async def watch_shimmer(page: Page) -> None:
    """Note from now on every time the shimmer changes: when, and how many calls it counts."""
    await page.evaluate(
        """() => {
            const shimmer = document.getElementById("activity");
            window.shimmerSeen = [];
            new MutationObserver(() => {
                const count = shimmer.hidden ? 0 : Number(shimmer.dataset.count);
                if (window.shimmerSeen.at(-1)?.count !== count)
                    window.shimmerSeen.push({ at: performance.now(), count });
            }).observe(shimmer, { attributes: true });
        }"""
    )


async def shimmer_seen(page: Page) -> tuple[list[int], float]:
    """Return the counts that the shimmer went through and for how many milliseconds it was there."""
    seen = await page.evaluate("() => window.shimmerSeen")
    counts = [change["count"] for change in seen]
    return counts, seen[-1]["at"] - seen[0]["at"] if seen else 0.0


async def live_text(page: Page) -> str:
    """Return the text of the running round as people see it."""
    words: str = await page.evaluate("() => document.getElementById('live-blocks').innerText.trim()")
    return words


async def finished_blocks(page: Page) -> str:
    """Return the markup of the running round without the block that is being written."""
    markup: str = await page.evaluate(
        """() => {
            const blocks = document.getElementById("live-blocks").cloneNode(true);
            const live = blocks.querySelector(".live");
            const isOnly = (node) => !node.previousElementSibling && node.parentNode !== blocks;
            let root = live;
            while (root.parentNode !== blocks && isOnly(root)) root = root.parentNode;
            root.remove();
            return blocks.innerHTML;
        }"""
    )
    return markup


async def messages_markup(page: Page) -> str:
    """Return the conversation's markup without what white space and htmx leave behind."""
    markup = await page.locator("#messages").inner_html()
    markup = re.sub(r"\s+", " ", markup)
    return re.sub(r"> <", "><", markup).replace(' class=""', "").strip()
