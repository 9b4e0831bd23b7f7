"""The text blocks of old conversations, which preceded tools.

`strip_block_tags` guards every prompt: an old tag in a file or message must not teach the model the old
format. The text between two tags is the user's own and stays. No block is applied.
"""

import re

BLOCK_NAMES = ("FILE_UPDATE", "SUGGESTED_REPLIES", "DAY_PLAN_DATA", "ENTER_MODE", "SESSION_COMPLETE")

_NAME = re.compile(rf"(?:{'|'.join(BLOCK_NAMES)})(?![A-Za-z0-9_])", re.IGNORECASE)
_SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))  # the ideographic space is the last one
_BEFORE_NAME = f"{_SPACES}\u200b\u200c\u200d[/"
_VALUE = r"""(?:"[^"\n]*+"?|'[^'\n]*+'?|[^\s"'\]]++)"""
# The end of a tag, or apparent attributes of an unclosed one.
_REST = re.compile(
    r"(?:[^\[\]\n]{0,300}+\]"
    rf"|(?:[ \t]*+:[ \t]*+\w++)?(?:[ \t]++\w++[ \t]*+=[ \t]*+{_VALUE})*+)[ \t]*+"
)


def strip_block_tags(text: str) -> str:
    """Return the text without the tags of old blocks, including malformed ones.

    Each is replaced by a space, and brackets that open before one are removed with it, so that no new tag can
    form from the surrounding text. Linear in the length of the text.
    """
    if "[" not in text:
        return text
    left, done, seen = [], 0, 0
    for name in _NAME.finditer(text):
        if name.start() < done:
            continue  # in a tag's attributes
        start = max(done, seen)
        seen = name.end()
        before = text[start : name.start()]
        words = before.rstrip(_BEFORE_NAME)
        blank, bracket, _ = before[len(words) :].partition("[")
        if bracket:
            left += [text[done:start], (words + blank).rstrip(" \t"), " "]
            rest = _REST.match(text, seen)
            done = rest.end() if rest else seen
    return "".join([*left, text[done:]])
