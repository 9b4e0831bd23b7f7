"""The names that programs give themselves: what isn't seen goes, and nothing reads as Sage."""

import pytest

from coaching.models.programs import MAX_NAME
from coaching.programs.names import shown_name
from sessions_app.errors import Refused

SHOWN = {
    "Claude": "Claude",
    "  Claude\n\tCode\u2028 (sage) ": "Claude Code (sage)",
    "a\u202eedualC\u202c": "aedualC",
    "C\u200bl\u200da\u2060u\ufeffd\u00ade": "Claude",
    "\u2066Claude\u2069\U000e0041": "Claude",
    "Cl\u3164aude\u2800": "Claude",
    "C\x1b[31mlaude\x07": "C[31mlaude",
    "Cafe\u0301 Mémo": "Café Mémo",
    "Z" + "\u0336" * 40 + "oom": "Z\u0336\u0336oom",
    "Клод для Claude": "Клод для Claude",
    "Claude助手": "Claude助手",
    "SageMaker": "SageMaker",
    "My notes to Sage": "My notes to Sage",
    "µTorrent": "µTorrent",
    "n" * MAX_NAME: "n" * MAX_NAME,
    "n" * 100_000: "n" * (MAX_NAME - 1) + "…",
}
REFUSED = {
    "Sage's name": "Sage",
    "with more words": "SAGE – Security update",
    "spelled": "S-A-G-E",
    "with accents": "Şägé",
    "in wide letters": "Ｓａｇｅ",
    "in bold letters": "𝐒𝐚𝐠𝐞 app",
    "with hidden letters": "S\u200ba\u3164g\u202ee",
    "in small capitals": "ꜱᴀɢᴇ",
    "in Cyrillic": "\u0405\u0430\u050d\u0435",
    "in Cherokee": "\u13da\u13aa\u13c0\u13ac",
    "half in Cyrillic": "S\u0430g\u0435",
    "another's name, half in Cyrillic": "Cl\u0430ude",
    "another's name, half in Greek": "Claud\u03b5 Code",
    "nothing": "",
    "nothing that is seen": "\u3164\u200b\u2800",
    "signs alone": "!!! –",
    "marks alone": "\u0301\u0301",
}


@pytest.mark.parametrize(("given", "shown"), SHOWN.items())
def test_a_name_is_shown_in_one_line_without_what_is_not_seen(given: str, shown: str) -> None:
    assert shown_name(given) == shown
    assert shown_name(shown) == shown


@pytest.mark.parametrize("given", REFUSED.values(), ids=REFUSED.keys())
def test_a_name_that_reads_as_sage_or_imitates_another_is_refused(given: str) -> None:
    with pytest.raises(Refused, match="client_name"):
        shown_name(given)
