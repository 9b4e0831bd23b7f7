"""Markdown to sanitised HTML: the script of killable worker processes.

It must import neither Django nor our own modules: a worker starts in a fraction of a second and holds nothing
of value when it is killed.
"""

import re
from collections.abc import Sequence
from html import escape

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML, RendererProtocol
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_WEB_LINK = re.compile(r"(?:https?://|mailto:)[^\s<>\"'`\\]+", re.IGNORECASE)
_FILE_LINK = re.compile(r"(?:\.\./|/files/)((?:[a-z0-9_-]+/)+[a-z0-9_-]+\.md)", re.ASCII)
_LIBRARY_LINK = re.compile(r"/library/(?:documents/[0-9]{1,18}/|knowledge/)", re.ASCII)
_TASK = re.compile(r"\[([ xX])\][ \u00a0]")
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
# h1 and h2 are the page's own titles.
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
# The content security policy blocks style attributes, so a column's alignment becomes a class.
_ALIGNMENTS = {f"text-align:{side}": f"align-{side}" for side in ("left", "center", "right")}
# A wide table scrolls, so it must be focusable; a task needs no bullet. Safe as text replacement: the
# sanitiser drops attributes with these characters, and text has them escaped.
_WRAPPERS = (
    ("<table>", '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table>'),
    ("</table>", "</table></div>"),
    ("<li>\u2610 ", '<li class="task">\u2610 '),
    ("<li>\u2611 ", '<li class="task">\u2611 '),
)
_BLOCK_MARK = "\x1e"
# Between two blocks only: text has its angle brackets escaped, and a nested list follows no list's end.
_JOIN = re.compile(r"</(ul|ol)>\n<\1(?: start=\"\d+\")?>\n(?=<li)")


def is_web_link(address: str) -> bool:
    """Return whether a URL may be linked: http, https or mailto, and nothing that needs escaping."""
    return _WEB_LINK.fullmatch(address) is not None


def own_link(address: str) -> str:
    """Return the URL of a link to a file (relative paths, as in an archive) or document, otherwise empty."""
    if _LIBRARY_LINK.fullmatch(address):
        return address
    found = _FILE_LINK.fullmatch(address)
    return f"/files/{found[1]}" if found else ""


def _image_as_words(
    renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Render an image as its alternative text: content must not make browsers fetch anything."""
    assert isinstance(renderer, RendererHTML)
    words = renderer.renderInlineAsText(tokens[index].children or [], options, env)
    return escape(words) if words.strip() else "(image)"


def _shape_blocks(state: StateCore) -> None:
    """Demote headings, align cells by class, render task boxes, and show the URL of links without text."""
    for index, token in enumerate(state.tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = _HEADINGS[token.tag]
        if token.type in ("th_open", "td_open"):
            _align_cell(token)
        if token.type != "inline" or not token.children:
            continue
        if index > 1 and state.tokens[index - 2].type == "list_item_open":
            _sign_task(token.children[0])
        _fill_wordless_links(token)


def _align_cell(cell: Token) -> None:
    style = str(cell.attrs.pop("style", ""))
    if name := _ALIGNMENTS.get(style):
        cell.attrSet("class", name)


def _sign_task(first: Token) -> None:
    task = _TASK.match(first.content) if first.type == "text" else None
    if task:
        sign = "\u2610" if task[1] == " " else "\u2611"
        first.content = f"{sign} {first.content[task.end() :]}"


def _fill_wordless_links(inline: Token) -> None:
    children: list[Token] = []
    for child in inline.children or []:
        if child.type == "link_close" and children and children[-1].type == "link_open":
            address = Token("text", "", 0)
            address.content = str(children[-1].attrGet("href") or "")
            children.append(address)
        children.append(child)
    inline.children = children


def _keep_attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value if is_web_link(value) else own_link(value) or None
    if name == "rel":  # Set by the sanitiser; content has no such attribute.
        return value
    if name == "start":
        return value if value.isdigit() else None
    if name == "class":
        return value if value in _ALIGNMENTS.values() else None
    return None


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library calls it so
        return is_web_link(url) or bool(own_link(url))


def _build_parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False, "maxNesting": 20, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    parser.add_render_rule("image", _image_as_words)
    parser.core.ruler.push("shape_blocks", _shape_blocks)
    return parser


_PARSER = _build_parser()


def render(text: str) -> str:
    """Render markdown as sanitised HTML."""
    markup = nh3.clean(
        _PARSER.render(text),
        tags=_TAGS,
        clean_content_tags={"script", "style"},
        attributes={"a": {"href"}, "ol": {"start"}, "td": {"class"}, "th": {"class"}},
        attribute_filter=_keep_attribute,
        link_rel="noopener noreferrer nofollow",
        url_schemes={"http", "https", "mailto"},
    )
    for plain, wrapped in _WRAPPERS:
        markup = markup.replace(plain, wrapped)
    return markup


def render_blocks(blocks: Sequence[str]) -> str:
    """Render each block alone. Items of a list that follow each other become one list."""
    return _JOIN.sub("", "".join(render(block) for block in blocks))


def answer(request: bytes) -> bytes:
    """Answer one request of the pool: a text, or blocks with a mark before each."""
    text = request.decode("utf-8", "replace")
    if not text.startswith(_BLOCK_MARK):
        return render(text).encode()
    return render_blocks(text.split(_BLOCK_MARK)[1:]).encode()
