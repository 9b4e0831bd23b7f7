"""Any markdown is rendered, sanitised and bounded."""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from django.utils.translation import override
from hypothesis import given, settings
from hypothesis import strategies as st

from coaching.sandbox.host import ProcessHost
from coaching.sandbox.markdown import LIMITS, MODULE, MarkdownRenderer, plain_text, render_markdown
from coaching.sandbox.markdown_worker import MAX_HIGHLIGHTED, sanitise
from tests.browser.payloads import PAYLOADS
from tests.languages.conftest import translated
from tests.leaving import leave_url
from tests.patience import patience
from tests.thoroughness import examples, sample

ALLOWED = {
    "a": {"href", "rel"},
    "bdi": {"class"},
    "div": {"class", "tabindex", "role", "aria-label"},
    "input": {"type", "disabled", "checked"},
    "li": {"class"},
    "ol": {"start"},
    "p": {"class"},
    "span": {"class"},
    "td": {"class"},
    "th": {"class"},
} | {
    tag: set()
    for tag in (
        "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "label", "pre", "s", "strong",
        "table", "tbody", "thead", "tr", "ul",
    )
}  # fmt: skip
OUR_CLASSES = {
    *("table-scroll", "task", "plain", "link-host", "align-left", "align-center", "align-right"),
    *("formula", "formula-block"),
    *(
        "code-comment",
        "code-deleted",
        "code-inserted",
        "code-keyword",
        "code-name",
        "code-number",
        "code-string",
    ),
}
BOMB = "![" * 50_000  # occupies a parser for seconds
BIGGER_BOMB = "![" * 99_000  # the longest that is tried


class Auditor(HTMLParser):
    """Collects what rendered markup must not contain."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check one tag."""
        if tag not in ALLOWED:
            self.faults.append(tag)
            return
        if tag == "input" and not {("type", "checkbox"), ("disabled", "")} <= set(attrs):
            self.faults.append("an input that isn't a tick box")
        for name, value in attrs:
            if name not in ALLOWED[tag]:
                self.faults.append(f"{tag} {name}")
            if name == "href" and not (value or "").startswith("/leave/?to="):
                self.faults.append(f"{tag} {name}={value}")
            if name == "class" and value not in OUR_CLASSES:
                self.faults.append(f"class {value}")


def faults_in(markup: str) -> list[str]:
    auditor = Auditor()
    auditor.feed(markup)
    auditor.close()
    return auditor.faults


def test_a_table_is_named_in_the_readers_language_also_from_the_cache() -> None:
    text = 'A `aria-label="Table"><table>`.\n\n|a|b|\n|-|-|\n|1|2|'
    in_english = render_markdown(text)
    with override("de"):
        in_german = render_markdown(text)
    wrapper = '<div class="table-scroll" tabindex="0" role="group" aria-label="{}"><table>'
    assert wrapper.format("Table") in in_english
    assert in_german == in_english.replace(wrapper.format("Table"), wrapper.format(translated("Table", "de")))


def test_what_people_write_becomes_what_they_meant() -> None:
    markup = render_markdown(
        "# Title\n\na *b* **c**\nnext\n\n1. x\n\n- [ ] open\n- [x] done\n\n|a|b|\n|-|-|\n|1|2|"
    )
    assert "<h3>Title</h3>" in markup
    assert "<p>a <em>b</em> <strong>c</strong><br>\nnext</p>" in markup
    assert '<li class="task"><label><input type="checkbox" disabled="">open</label></li>' in markup
    assert '<li class="task"><label><input type="checkbox" disabled="" checked="">done</label></li>' in markup
    assert '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table>' in markup


def test_table_columns_keep_their_alignment_as_a_class() -> None:
    markup = render_markdown("|a|b|c|d|\n|:-|:-:|-:|-|\n|1|2|3|4|")
    for tag, words in (("th", "abcd"), ("td", "1234")):
        for side, word in zip(("left", "center", "right"), words, strict=False):
            assert f'<{tag} class="align-{side}">{word}</{tag}>' in markup
        assert f"<{tag}>{words[3]}</{tag}>" in markup
    assert "style" not in markup


def test_code_is_coloured_by_classes_and_keeps_its_text() -> None:
    code = 'def f(x):  # <why>\n\n    return "a" + str(1)\n'
    markup = render_markdown(f"```Python\n{code}```")
    for name, text in (("keyword", "def"), ("name", "f"), ("comment", "# &lt;why&gt;"), ("string", '"a"')):
        assert f'<span class="code-{name}">{text}</span>' in markup
    assert faults_in(markup) == []
    plain = unescape(re.sub(r"<[^>]*>", "", markup))
    assert plain == f"{code}\n"


@pytest.mark.parametrize(
    "block",
    [
        "```\ndef f(x): return 1\n```",
        "```words\ndef f(x): return 1\n```",
        "```markdown\n# one\n```",
        "    def f(x): return 1",
        "```python\n" + "x = 1\n" * (MAX_HIGHLIGHTED // 6 + 1) + "```",
    ],
    ids=["no language", "unknown language", "slow language", "indented", "huge"],
)
def test_other_code_keeps_one_colour(block: str) -> None:
    assert "<pre><code>" in (markup := render_markdown(block))
    assert "<span" not in markup


def test_the_sanitiser_keeps_classes_of_ours_and_no_others() -> None:
    markup = (
        '<span class="code-keyword">a</span><span class="task">b</span>'
        '<span class="notice code-name">c</span><li class="code-name">d</li>'
        '<code class="language-x">e</code><pre class="plain">f</pre>'
        '<input type="submit" name="x" form="y" disabled><label for="composer-text">g</label>'
    )
    assert sanitise(markup) == (
        '<span class="code-keyword">a</span><span>b</span><span>c</span><li>d</li><code>e</code><pre>f</pre>'
        '<input type="checkbox" disabled=""><label>g</label>'
    )


def test_links_lead_to_the_web_only_and_images_are_words() -> None:
    assert render_markdown("[a](https://example.org)") == (
        f'<p><a href="{leave_url("https://example.org")}" rel="nofollow">'
        'a<bdi class="link-host"> (example.org)</bdi></a></p>\n'
    )
    assert "<a" not in render_markdown("[a](javascript:x) [b](//e.org) [c](/in) [d](data:x)")
    assert render_markdown("![a *cat*](https://example.org/cat.png)") == "<p>a cat</p>\n"
    assert "(image)" in render_markdown("![](https://example.org/cat.png)")
    assert "example.org" not in render_markdown("![x][p]\n\n[p]: https://example.org/cat.png")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_cut_at_every_character_stays_text(payload: str) -> None:
    # A separate text per cut would be a request per cut; a rule between them keeps blocks apart.
    for end in sample(range(len(payload), 0, -1), of_each=4):
        assert faults_in(render_markdown(payload[:end])) == []


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet="<>[]()!`*_~|#-+=:/\\\"'&;x1 \n\tajs\x00\u2028", max_size=80))
def test_no_text_becomes_anything_that_isn_t_allowed(text: str) -> None:
    assert faults_in(render_markdown(text)) == []


@pytest.mark.parametrize(
    "bomb",
    sample(
        [
            "[a" * 50_000,
            "*a **b " * 14_000,
            ">" * 50_000,
            "`" * 50_001,
            "![" * 50_000,
            "<a" * 50_000,
            "| " * 50_000,
        ],
        of_each=3,
    ),
)
async def test_a_bomb_is_shown_plain_in_time_and_holds_nobody_up(bomb: str) -> None:
    longest_stall = 0.0

    async def beat() -> None:
        nonlocal longest_stall
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.005)
            longest_stall = max(longest_stall, time.monotonic() - began)

    beating = asyncio.create_task(beat())
    began = time.monotonic()
    markup = await asyncio.to_thread(render_markdown, bomb)
    seconds = time.monotonic() - began
    beating.cancel()
    assert faults_in(markup) == []
    assert seconds < 2 + patience()
    assert longest_stall < 0.25 * patience()


@pytest.fixture
def make_renderer() -> Iterator[Callable[..., MarkdownRenderer]]:
    """Make a renderer with its own processes."""
    hosts = []

    def make(
        *, slow_seconds: float = 60, seconds: float = 2, slow_slots: int = 2, **options: Any
    ) -> MarkdownRenderer:
        limits = replace(LIMITS, seconds=seconds)
        hosts.append(ProcessHost(MODULE, limits, slow_slots=slow_slots, has_spares=True, **options))
        return MarkdownRenderer(hosts[-1], slow_seconds=slow_seconds)

    yield make
    for host in hosts:
        host.close()


def test_a_text_that_found_no_worker_is_shown_plain_and_set_the_next_time(
    make_renderer: Callable[..., MarkdownRenderer],
) -> None:
    renderer = make_renderer(slots=1, seconds=0)
    assert renderer.render("**no time at all**") == plain_text("**no time at all**")
    renderer = make_renderer(slots=1, slow_slots=0, seconds=20, quick_seconds=0.05)
    assert renderer.render(BOMB) == plain_text(BOMB)
    assert "<strong>" in renderer.render("**in time**")


def test_of_a_pages_texts_a_bomb_alone_is_shown_plain(
    make_renderer: Callable[..., MarkdownRenderer],
) -> None:
    # Machines differ: it gets half of the time that it takes here.
    patient = make_renderer(slots=1, seconds=30)
    patient.render("wake up")
    began = time.monotonic()
    patient.render(BOMB)
    renderer = make_renderer(slots=1, seconds=(time.monotonic() - began) / 2, quick_seconds=0.3)
    renderer.render("wake up")
    texts = ["**before**", BOMB, "", "**before**", "**after**"]
    shown = renderer.render_all(texts)
    assert [shown[text] for text in texts] == [
        "<p><strong>before</strong></p>\n",
        plain_text(BOMB),
        "",
        "<p><strong>before</strong></p>\n",
        "<p><strong>after</strong></p>\n",
    ]


def test_a_bomb_is_tried_again_only_after_a_while(make_renderer: Callable[..., MarkdownRenderer]) -> None:
    renderer = make_renderer(slots=1, seconds=1, quick_seconds=0.1)
    renderer.render("wake up")
    for pause, is_tried in ((0.0, True), (0.0, False)):
        began = time.monotonic()
        assert renderer.render(BOMB) == plain_text(BOMB)
        assert (time.monotonic() - began > 0.5) is is_tried, pause
    renderer = make_renderer(slots=1, seconds=1, quick_seconds=0.1, slow_seconds=0)
    renderer.render("wake up")
    for _ in range(2):
        began = time.monotonic()
        renderer.render(BOMB)
        assert time.monotonic() - began > 0.5


def test_bombs_don_t_keep_others_waiting(make_renderer: Callable[..., MarkdownRenderer]) -> None:
    renderer = make_renderer(seconds=1, quick_seconds=0.1)
    renderer.render("wake up")
    with ThreadPoolExecutor(4) as threads:
        bombs = [threads.submit(renderer.render, f"{BIGGER_BOMB} {number}") for number in range(4)]
        assert "<strong>" in renderer.render("**words**")
        assert not all(bomb.done() for bomb in bombs), "the words were rendered next to the bombs"
        assert all(bomb.result().startswith('<p class="plain">') for bomb in bombs)


def test_the_worker_knows_neither_django_nor_us() -> None:
    code = (
        "import runpy, sys; runpy.run_path('coaching/sandbox/markdown_worker.py')['prepare'](); "
        "print([name for name in sys.modules if name.split('.')[0] in ('django', 'coaching', 'sage')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("../captures/2026-11-21-100000.md", "/files/captures/2026-11-21-100000.md"),
        ("/files/life-map/career.md", "/files/life-map/career.md"),
        ("../captures/one.md?do=x", ""),
        ("/files/captures/one.md/edit/", ""),
        ("/files/../settings/delete.md", ""),
        ("../../settings/one.md", ""),
        ("//files/captures/one.md", ""),
        ("/settings/delete/", ""),
        ("captures/one.md", ""),
    ],
)
def test_a_text_may_link_to_the_page_of_a_file_and_to_no_other_page_of_ours(address: str, page: str) -> None:
    html = render_markdown(f"[a thought]({address})")
    assert (f'href="{page}"' in html) if page else ("href" not in html)
