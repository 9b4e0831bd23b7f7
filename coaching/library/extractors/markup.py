"""Text from HTML, with what pictures say of themselves: no scripts, no styles, and nothing is fetched."""

import re

from lxml import etree

from coaching.library.extractors.extracted import Unread, gettext_noop

MAX_TAGS = 150_000
"""Of all HTML of an email: reading a tag takes microseconds."""
ONLY_BEGINNING = gettext_noop("This email is very long, so Sage read only its beginning.")
TOO_LARGE = gettext_noop("This page contains a text that is too long to read.")
_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "math", "object", "iframe", "head"})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li",
    "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul",
})  # fmt: skip
_CELLS = frozenset({"td", "th"})
# libxml2 leaves out what follows them, where mailing lists write their footers.
_ENDS = re.compile(r"</(?:body|html)[^<>]*+>", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\r\f\v\xa0]+")


def parse_html(text: str) -> tuple[str, str]:
    """Return the title and the visible text, one line a block. Raises `Unread`."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(_ENDS.sub("<br>", text).encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:  # a text or an attribute of more than ten megabytes
        raise Unread("refused", TOO_LARGE) from None
    if root is None:
        return "", ""
    title = " ".join((root.findtext(".//title") or "").split())
    return title, _visible(root)


def _visible(root: etree._Element) -> str:
    parts: list[str] = []
    skipped = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag in _SKIPPED:
            skipped += 1 if event == "start" else -1
        if event == "start":
            parts.append(_before(tag, has_sibling=element.getprevious() is not None))
            if tag == "img" and not skipped and (said := element.get("alt", "").strip()):
                parts.append(f"[{_flat(said, tag)}]")
            parts.append("" if skipped else _flat(element.text, tag))
        else:
            parts.append("\n" if tag in _BLOCKS else "")
            parts.append("" if skipped else _flat(element.tail, ""))
    lines = (_SPACES.sub(" ", line).strip() for line in "".join(parts).splitlines())
    return "\n".join(line for line in lines if line)


def _before(tag: str, *, has_sibling: bool) -> str:
    if tag in _CELLS:
        return " | " if has_sibling else ""
    if tag == "li":
        return "\n- "
    return "\n" if tag in _BLOCKS else ""


def _flat(text: str | None, tag: str) -> str:
    """Return text without its line breaks, which mean nothing outside `pre`."""
    if not text:
        return ""
    return text if tag == "pre" else " ".join(re.split(r"[\r\n]+", text))


def up_to_tags(html: str, most_tags: int) -> tuple[str, int]:
    """Return the beginning of HTML with at most so many tags, and how many it has."""
    tags = html.count("<")
    if tags <= most_tags:
        return html, tags
    at = -1
    for _ in range(most_tags + 1):
        at = html.find("<", at + 1)
    return html[:at], most_tags
