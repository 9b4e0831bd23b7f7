"""Messages of the greatest length: prose, and shapes that are expensive to read."""

from collections.abc import Mapping
from pathlib import Path

CHARACTERS = 20_000
PROSE = Path(__file__).with_name("prose.txt").read_text(encoding="utf-8")
"""The first chapter of “Pride and Prejudice” by Jane Austen (1813, in the public domain)."""

_UNITS: Mapping[str, str] = {
    "prose": PROSE,
    "one line of prose": " ".join(PROSE.split()) + " ",
    "JSON": '{"a":',
    "letter": "a",
    "spaces": " ",
    "lines": "\n",
    "commas": ",",
    "quotes": '"',
    "quoted": '"a" ',
    "unclosed quotes": "'abc ",
    "questions": "?",
    "short questions": "a? ",
    "words": "word ",
    "repeated words": "want to ",
    "danger": "i want to die ",
    "denied danger": "i don't want to die ",
    "danger elsewhere": "ich will nicht sterben. ",
    "short sentences": "a. ",
    "short lines": "a\n",
    "emoji": "😀",
    "spaced emoji": "😀 ",
    "family emoji": "👨\u200d👩\u200d👧",
    "combining": "e\u0301\u200b",
    "ligatures": "\ufdfa",
    "Arabic": "مرحبا ",
    "Chinese": "我想",
    "brackets": "[",
    "links": "[a](",
    "pictures": "![a](b) ",
    "emphasis": "*a ",
    "underscores": "_a_",
    "code": "`a",
    "fences": "```\n",
    "quotations": "> ",
    "lists": "- a\n  ",
    "tables": "|a|b|\n|-|-|\n",
    "tags": "<a ",
    "closing tags": "</a>",
    "references": "&amp;",
    "addresses": "http://a.example/ ",
    "backslashes": "\\",
    "masked": "k*ll a*b ",
    "spelled": "d i e ",
    "digits": "k1ll m3 ",
    "blocks": "[OPTIONS]\n",
    "skills": '<skill name="',
}
SHAPES: Mapping[str, str] = {
    name: (unit * (CHARACTERS // len(unit) + 1))[:CHARACTERS] for name, unit in _UNITS.items()
}
# A message of nothing but white space is refused.
MESSAGES = tuple(shape if shape.strip() else f"{shape[:-1]}a" for shape in SHAPES.values())
