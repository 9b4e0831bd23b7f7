"""Text from HTML: no scripts, no styles, and nothing is fetched."""

import re

from lxml import etree

from coaching.library.extractors.extracted import Unread, gettext_noop

TOO_LARGE = gettext_noop("This page contains a text that is too long to read.")
_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "math", "object", "iframe", "head"})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li",
    "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul",
})  # fmt: skip
_CELLS = frozenset({"td", "th"})
_SPACES = re.compile(r"[ \t\r\f\v\xa0]+")


def parse_html(text: str) -> tuple[str, str]:
    """Return the title and the visible text, one line a block. Raises `Unread`."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
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
