"""Markdown to sanitised HTML: the module of the processes of `markdown`.

It must import neither Django nor our own modules: its processes hold nothing of value when they are killed.

Over 300 lines, because what it uses of ours is written here for that reason.
"""

import re
import time
import unicodedata
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML, RendererProtocol
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments.lexers import get_lexer_by_name
from pygments.token import Token as Code

# Stricter than what browsers accept, so that they find the same host: no user name, no escapes.
_WEB_LINK = re.compile(
    r"https?://(?P<host>[a-z0-9_][a-z0-9_.-]{0,252})(?P<port>:[0-9]{1,5})?"
    r"(?P<rest>(?:[/?#][^\s<>\"'`\\]*+)?)",
    re.IGNORECASE | re.ASCII,
)
_MAIL_LINK = re.compile(
    r"mailto:(?P<box>[a-z0-9._+-]{1,64}@[a-z0-9_][a-z0-9_.-]{0,252})(?:\?[^\s<>\"'`\\]*+)?",
    re.IGNORECASE | re.ASCII,
)
_QUAD = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE | re.ASCII)
MAX_ADDRESS = 2000
"""Characters of a link's URL. A longer one is no link: the page in between has it in its own URL."""
MAX_SHOWN_PATH = 40
# What looks like part of a path or an address: a name with an ending, a leading slash, a scheme, a port.
_ADDRESS_LIKE = re.compile(
    r"://|[@\\]|[^\W_]\.[^\W\d_]{2}|(?<!\S)[\W_]?[.~]{0,2}/\S|[^\W\d_]:[0-9]{2,5}\b|[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\."
)
_LOOKALIKES = str.maketrans(
    "\u3002\ua4f8\ua60e\u2044\u2215\u29f8\u2571\u2236\ua789\u29f5\u2216", "...////::\\\\"
)
_INVISIBLE = {"Cc", "Cf", "Mn", "Me", "Co", "Cn"}
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_FILE_LINK = re.compile(r"(?:\.\./|/files/)((?:[a-z0-9_-]+/)+[a-z0-9_-]+\.md)", re.ASCII)
_LIBRARY_LINK = re.compile(r"/library/(?:documents/[0-9]{1,18}/(?:#page-[0-9]{1,6})?|knowledge/)", re.ASCII)
_FORMULA_ENDS = {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}
_FORMULA_LINE = re.compile(r"\\\[|\$\$[ \t]*$")
_FORMULA_SIGN = re.compile(r"[\\^_=]")
_COMMAND_SIGN = re.compile(r"[\\^]")
_OPERATOR = re.compile(r"[-+*/<>|]")
_WORD = re.compile(r"[^\W\d_]{4}")
_TASK = re.compile(r"(?:\[([ xX])\]|([\u2610\u2611]))[ \u00a0]")
_TAGS = {
    "a", "bdi", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "input", "label",
    "li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
# h1 and h2 are the page's own titles.
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
# The content security policy blocks style attributes, so a column's alignment becomes a class.
_ALIGNMENTS = {f"text-align:{side}": f"align-{side}" for side in ("left", "center", "right")}
# A wide table scrolls, so it must be focusable. Safe as text replacement: the sanitiser drops attributes with
# these characters, and text has them escaped.
_WRAPPERS = (
    ("<table>", '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table>'),
    ("</table>", "</table></div>"),
)
TABLE_END = "</table></div>\n"
_ROWS = re.compile(r"<tbody>\n((?:[^<]++|<(?!/?tbody>))*+)</tbody>")

_BLOCK_MARK = "\x1e"
_ROW_MARK = "\x1f"
# Between two blocks only: text has its angle brackets escaped, and a nested list follows no list's end.
LIST_JOIN = re.compile(r"</(ul|ol)>\n<\1(?: start=\"\d+\")?>\n(?=<li)")

# Lexers that load quickly and have no slow patterns.
_LANGUAGES = {
    "bash", "c", "c#", "c++", "cpp", "csharp", "css", "diff", "docker", "dockerfile", "go", "golang",
    "html", "ini", "java", "javascript", "js", "json", "jsx", "kotlin", "make", "makefile", "php", "py",
    "python", "r", "rb", "rs", "ruby", "rust", "sh", "shell", "sql", "swift", "toml", "ts", "tsx",
    "typescript", "xml", "yaml", "yml",
}  # fmt: skip
CODE_CLASSES = {
    Code.Comment: "code-comment",
    Code.Comment.Preproc: "code-keyword",
    Code.Keyword: "code-keyword",
    Code.Keyword.Constant: "code-number",
    Code.Operator.Word: "code-keyword",
    Code.Literal.String: "code-string",
    Code.Literal.Number: "code-number",
    Code.Name.Attribute: "code-name",
    Code.Name.Class: "code-name",
    Code.Name.Decorator: "code-name",
    Code.Name.Function: "code-name",
    Code.Name.Tag: "code-name",
    Code.Generic.Deleted: "code-deleted",
    Code.Generic.Inserted: "code-inserted",
}
_CLASSES = {
    "bdi": {"link-host"},
    "li": {"task"},
    "span": {*CODE_CLASSES.values(), "formula", "formula-block"},
    "td": set(_ALIGNMENTS.values()),
    "th": set(_ALIGNMENTS.values()),
}
MAX_HIGHLIGHTED = 10_000
"""Characters of one piece of code; a longer one keeps one colour."""
HIGHLIGHT_SECONDS = 0.15


def is_web_link(address: str) -> bool:
    """Return whether a URL may be linked: http, https or mailto, and nothing that hides its host."""
    if len(address) > MAX_ADDRESS:
        return False
    found = _WEB_LINK.fullmatch(address)
    if found is None:
        return _MAIL_LINK.fullmatch(address) is not None
    # Browsers read a host that ends in a number as an IPv4 address, also `0x7f.1` and `2130706433`.
    host = found["host"].removesuffix(".")
    is_number = _NUMBER.fullmatch(host.rpartition(".")[2]) is not None
    return not is_number or _QUAD.fullmatch(host) is not None


def shown_host(address: str) -> str:
    """Return the host of a URL that may be linked, with its port, or the mail address. IDNs stay in ASCII."""
    if mail := _MAIL_LINK.fullmatch(address):
        return mail["box"]
    found = _WEB_LINK.fullmatch(address)
    if found is None:
        return address
    scheme = address.partition(":")[0].lower()
    port = found["port"] or ""
    return found["host"].lower() + ("" if port == _DEFAULT_PORTS[scheme] else port)


def _shown_address(address: str) -> str:
    """Return what a link shows whose own words would mislead: the whole host, and the path's beginning."""
    found = _WEB_LINK.fullmatch(address)
    rest = found["rest"] if found else ""
    if len(rest) > MAX_SHOWN_PATH:
        rest = f"{rest[:MAX_SHOWN_PATH]}…"
    return shown_host(address) + ("" if rest == "/" else rest)


def _looks_like_address(words: str) -> bool:
    """Return whether a link's words look like a path or an address, or show nothing."""
    letters = unicodedata.normalize("NFKC", words).translate(_LOOKALIKES)
    visible = "".join(letter for letter in letters if unicodedata.category(letter) not in _INVISIBLE).strip()
    return (
        not visible
        or _ADDRESS_LIKE.search(visible) is not None
        or ("/" in visible and not any(letter.isspace() for letter in visible))
    )


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


def _is_formula(opening: str, source: str, *, is_alone: bool) -> bool:
    """Return whether the text between two marks, which may have its lines for itself, is TeX.

    Brackets may be escaped ones, as in `\\[draft\\]` and `\\[my_file\\](address)`, and dollars are prices.
    """
    has_sign = _FORMULA_SIGN.search(source) is not None
    if opening == "\\[" and not is_alone and not _COMMAND_SIGN.search(source):
        return has_sign and _OPERATOR.search(source) is not None and not _WORD.search(source)
    if "\\" not in source and _WORD.search(source):
        return has_sign and opening != "$$"
    if opening == "\\(":
        return has_sign or _OPERATOR.search(source) is not None or len(source.split()) == 1
    return has_sign


def _formula(state: StateInline, silent: bool) -> bool:
    """Take a formula in a line as it stands: no mark of markdown counts in it."""
    start = state.pos
    opening = state.src[start : start + 2]
    if opening not in _FORMULA_ENDS:
        return False
    end = _end_of_formula(state, _FORMULA_ENDS[opening])
    if end < 0 or (opening == "$$" and not _is_apart(state, start, end)):
        return False
    if not _is_formula(opening, state.src[start + 2 : end], is_alone=_is_alone(state, start, end)):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = state.src[start : end + 2]
    state.pos = end + 2
    return True


def _end_of_formula(state: StateInline, ending: str) -> int:
    """Return where it is, or -1. Where none follows, none is searched for again: time stays linear."""
    missing = state.env.setdefault("formula_ends", {})
    source, most, start = missing.get(ending, ("", 0, 0))
    if source is state.src and most == state.posMax and start <= state.pos:
        return -1
    end = state.src.find(ending, state.pos + 2, state.posMax)
    if end < 0:
        missing[ending] = (state.src, state.posMax, state.pos)
    return end


def _is_apart(state: StateInline, start: int, end: int) -> bool:
    """Return whether two dollars on both sides touch the formula, or have their lines for themselves."""
    before, after = state.src[start - 1 : start], state.src[end + 2 : end + 3]
    if "$" in (before, after) or before.isalnum() or after.isalnum():
        return False
    source = state.src[start + 2 : end]
    return _is_alone(state, start, end) or source == source.strip()


def _is_alone(state: StateInline, start: int, end: int) -> bool:
    return {state.src[start - 1 : start], state.src[end + 2 : end + 3]} <= {"", "\n"}


def _formula_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Take a formula of several lines, which may begin as items or headings do. It has no empty line."""
    begun = _line_of(state, first)
    if state.is_code_block(first) or not _FORMULA_LINE.match(begun):
        return False
    opening, missing = begun[:2], state.env.setdefault("formula_blocks", {})
    ending = _FORMULA_ENDS[opening]
    if ending in begun[2:] or first < missing.get(opening, 0):
        return False
    lines, indent = [begun], min(state.blkIndent, state.sCount[first])
    for number in range(first + 1, last):
        if state.isEmpty(number) or state.sCount[number] < indent:
            break
        lines.append(_line_of(state, number))
        if ending in lines[-1]:
            break
    source = "\n".join(lines)
    if ending not in lines[-1][-2:] or len(lines) == 1:
        missing[opening] = first + len(lines)  # None of those in between has an end either.
        return False
    if not _is_formula(opening, source[2:-2], is_alone=True):
        return False
    if not silent:
        token = state.push("formula_block", "", 0)
        token.content, token.map, token.block = source, [first, first + len(lines)], True
        state.line = first + len(lines)
    return True


def _line_of(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].rstrip()


def _formula_as_source(
    _renderer: RendererProtocol, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Render a formula as its source, which the page's script sets (static/js/formulas.js)."""
    source = tokens[index].content
    name = "formula" if source.startswith("\\(") else "formula-block"
    return f'<span class="{name}">{escape(source)}</span>'


def _formula_block_as_source(
    renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return f"<p>{_formula_as_source(renderer, tokens, index, options, env)}</p>\n"


def _shape_blocks(state: StateCore) -> None:
    """Demote headings, align cells by class, render task boxes, and show where links lead."""
    for index, token in enumerate(state.tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = _HEADINGS[token.tag]
        if token.type in ("th_open", "td_open"):
            _align_cell(token)
        if token.type != "inline" or not token.children:
            continue
        if index > 1 and state.tokens[index - 2].type == "list_item_open":
            _begin_task(state.tokens[index - 2], token.children)
        token.children = _with_hosts(token.children)


def _align_cell(cell: Token) -> None:
    style = str(cell.attrs.pop("style", ""))
    if name := _ALIGNMENTS.get(style):
        cell.attrSet("class", name)


def _begin_task(item: Token, children: list[Token]) -> None:
    """Turn the mark of a task into a tick box, with the words of the line as its label."""
    first = children[0]
    found = _TASK.match(first.content) if first.type == "text" else None
    if not found:
        return
    item.attrSet("class", "task")
    first.content = first.content[found.end() :]
    box = Token("task_box", "input", 0, attrs={"type": "checkbox", "disabled": ""})
    if found[1] in ("x", "X") or found[2] == "\u2611":
        box.attrSet("checked", "")
    children[:] = [Token("label_open", "label", 1), box, *children, Token("label_close", "label", -1)]


def _with_hosts(children: list[Token]) -> list[Token]:
    """Add its host to each link that leaves, or replace words that look like another target by its own."""
    shown: list[Token] = []
    opening = 0
    for token in children:
        if token.type == "link_open":
            opening = len(shown)
        elif token.type == "image":
            token.children = _without_formulas(token.children or [])
        elif token.type == "link_close":
            address = str(shown[opening].attrGet("href") or "")
            if not own_link(address):
                shown[opening + 1 :] = _without_formulas(shown[opening + 1 :])
            words = _words_in(shown[opening + 1 :])
            if own_link(address):
                shown += [] if words.strip() else [_text(address)]
            elif _looks_like_address(words):
                shown[opening + 1 :] = _isolated(_shown_address(address))
            else:
                shown += _isolated(f" ({shown_host(address)})", name="link-host")
        shown.append(token)
    return shown


def _without_formulas(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens with formulas as the words that they would be without their marks' backslashes.

    A link's words are judged by what they look like, and nobody can tell that of a formula that is set.
    """
    for token in tokens:
        token.children = token.children and _without_formulas(token.children)
    return [_formula_as_words(token) if token.type == "formula" else token for token in tokens]


def _formula_as_words(formula: Token) -> Token:
    source = formula.content
    return _text(f"{source[1:-2]}{source[-1]}" if source.startswith("\\") else source)


def _words_in(tokens: Sequence[Token]) -> str:
    """Return what tokens inside a line show as text."""
    parts = []
    for token in tokens:
        if token.type == "image":
            parts.append(_words_in(token.children or []))
        else:
            parts.append(" " if token.type in ("softbreak", "hardbreak") else token.content)
    return "".join(parts)


def _isolated(words: str, *, name: str = "") -> list[Token]:
    """Return tokens of a text that no direction mark before it can turn around."""
    attrs: dict[str, str | int | float] = {"class": name} if name else {}
    return [Token("bdi_open", "bdi", 1, attrs=attrs), _text(words), Token("bdi_close", "bdi", -1)]


def _text(words: str) -> Token:
    return Token("text", "", 0, content=words)


def _keep_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value if is_web_link(value) else own_link(value) or None
    if name == "rel":  # Set by the sanitiser; content has no such attribute.
        return value
    if name == "start":
        return value if value.isdigit() else None
    if name == "class":
        return value if value in _CLASSES.get(tag, ()) else None
    return value if tag == "input" else None


def _highlight(code: str, language: str, _attributes: str) -> str:
    """Return code with spans of a few classes; empty if it isn't highlighted."""
    if language.lower() not in _LANGUAGES or len(code) > MAX_HIGHLIGHTED:
        return ""
    lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    until = time.process_time() + HIGHLIGHT_SECONDS
    parts = []
    length = 0
    for name, tokens in groupby(lexer.get_tokens(code), key=_class_of):
        if time.process_time() > until:
            return ""
        text = "".join(value for _, value in tokens)
        length += len(text)
        parts.append(f'<span class="{name}">{escape(text)}</span>' if name else escape(text))
    return "".join(parts) if length == len(code) else ""


def _class_of(token: tuple[Any, str]) -> str:
    """Return the class of a token's kind, or of the nearest kind above it."""
    kind, text = token
    while kind and text.strip():
        if kind in CODE_CLASSES:
            return CODE_CLASSES[kind]
        kind = kind.parent
    return ""


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library calls it so
        return is_web_link(url) or bool(own_link(url))


def _build_parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False, "maxNesting": 20, "breaks": True, "highlight": _highlight})
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    parser.add_render_rule("image", _image_as_words)
    parser.inline.ruler.before("escape", "formula", _formula)
    parser.block.ruler.before(
        "fence", "formula_block", _formula_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.add_render_rule("formula", _formula_as_source)
    parser.add_render_rule("formula_block", _formula_block_as_source)
    parser.core.ruler.push("shape_blocks", _shape_blocks)
    return parser


_PARSER = _build_parser()
_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    clean_content_tags={"script", "style"},
    attributes={
        "a": {"href"},
        "bdi": {"class"},
        "input": {"checked", "disabled", "type"},
        "li": {"class"},
        "ol": {"start"},
        "span": {"class"},
        "td": {"class"},
        "th": {"class"},
    },
    attribute_filter=_keep_attribute,
    # Any input is a tick box that nobody can tick. Ours has these attributes, in this order.
    set_tag_attribute_values={"input": {"disabled": "", "type": "checkbox"}},
    link_rel="noopener noreferrer nofollow",
    url_schemes={"http", "https", "mailto"},
)


def sanitise(markup: str) -> str:
    """Return markup with nothing in it but what rendered markdown consists of."""
    return _CLEANER.clean(markup)


def render(text: str) -> str:
    """Render markdown as sanitised HTML."""
    markup = sanitise(_PARSER.render(text))
    for plain, wrapped in _WRAPPERS:
        markup = markup.replace(plain, wrapped)
    return markup


def render_blocks(blocks: Sequence[str]) -> str:
    """Render each block alone. Items of a list that follow each other become one list, rows one table."""
    parts: list[str] = []
    for is_row, group in groupby(blocks, key=lambda block: block.startswith(_ROW_MARK)):
        if not is_row:
            parts += map(render, group)
            continue
        rows = f"<tbody>\n{''.join(map(_render_row, group))}</tbody>\n"
        if parts and parts[-1].endswith(TABLE_END):
            parts[-1] = parts[-1].removesuffix(TABLE_END) + rows + TABLE_END
        else:  # They continue a table that has been sent before.
            parts.append(f"<table>\n{rows}</table>\n")
    return LIST_JOIN.sub("", "".join(parts))


def _render_row(block: str) -> str:
    columns, _, row = block.removeprefix(_ROW_MARK).partition("\n")
    names = "|".join("a" * len(columns.strip("|").split("|")))
    found = _ROWS.search(render(f"|{names}|\n{columns}\n{row}"))
    return found[1] if found else f"<tr>\n<td>{escape(row)}</td>\n</tr>\n"


def answer(_: bytes, request: bytes) -> bytes:
    """Answer one request: a text, or blocks with a mark before each."""
    text = request.decode("utf-8", "replace")
    if not text.startswith(_BLOCK_MARK):
        return render(text).encode()
    return render_blocks(text.split(_BLOCK_MARK)[1:]).encode()


def prepare() -> None:
    """Load whatever the libraries load when they are first used: lexers, their tables, further lexers."""
    for language in sorted(_LANGUAGES):
        _highlight("<x>1</x>\n", language, "")
    answer(
        b"", b"# a\n\n- [x] *b* `c` [d](https://e.org)\n\n|a|b|\n|:-:|-|\n|1|2|\n\n> ~~e~~ **f** <g> &amp;"
    )
