"""What written numbers and the words next to them mean: grouping, decimals, factors and currencies. Pure.

1.234 is one and a bit or a thousand and more: the other amounts of a text decide, else its language, else it
stays both.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal

from coaching.library.calendar_words import folded
from coaching.library.letter_languages import decimal_mark as mark_of_language

DecimalMark = Literal[".", ","]
_STYLE_CHARACTERS = 20_000
_NAMES = {
    "eur": "€ euro euros eurot euron eura evro avro евро євро eurow",
    "usd": "us$ $ dollar dollars dolar dolares dollaro dollari dolarow dolara доллар доллара долларов долар "
    "долара доларів",
    "gbp": "£ pound pounds sterling",
    "jpy": "¥ 円 yen",
    "chf": "franken sfr",
    "cad": "c$ ca$", "aud": "a$ au$", "nzd": "nz$", "hkd": "hk$", "sgd": "s$ sg$", "mxn": "mx$", "twd": "nt$",
    "brl": "r$ reais",
    "pln": "zl zloty zlote zlotych",
    "kr": "kr kronor kroner",
    "sek": "", "dkk": "", "nok": "", "czk": "kc", "huf": "", "ron": "", "cny": "", "isk": "",
    "try": "₺ tl lira lirasi",
    "rub": "₽ руб рубль рубля рублеи рублей",
    "uah": "₴ грн гривня гривні гривень",
    "inr": "₹ rs rupee rupees",
    "krw": "₩ 원", "ils": "₪",
    "%": "percent prozent",
}  # fmt: skip
UNITS = frozenset(_NAMES)
"""Codes of currencies, and the sign for a hundredth. `kr` is Swedish, Danish or Norwegian: only itself."""
_CODES = {folded(name): code for code, names in _NAMES.items() for name in names.split()}
_SPELLED = frozenset(name for name in _CODES if len(name) > 3 and name.isalpha())
SIGNS = "€$£¥%₺₽₴₹₩₪"
DOLLARS = r"(?:us|ca?|au?|nz|hk|sg?|r|mx|nt)\$"
FACTORS: Mapping[str, int] = {
    word: exponent
    for exponent, words in {
        3: "k thousand tausend tsd mil mille mila tys tusen tkr duizend тыс тысяч тысячи тис тисяч тисячі",
        5: "lakh lakhs lac",
        6: "million millions millionen mio mn mln millon millones milhao milhoes milioni milione miljoen "
        "miljon miljoner milion miliony milionow mkr milyon млн миллион миллионов мільион мільионів",
        7: "crore crores",
        9: "bn billion billions milliarden mrd mld milliard milliards miliardi miliardo miljard miljarder "
        "miliard milyar млрд",
    }.items()
    for word in words.split()
}
GLUED = {**FACTORS, "m": 6}
_GROUPED = re.compile(r"(?<![\w.,'])([0-9]{1,3}(?:[., '][0-9]{3})++)(?:([.,])[0-9]{1,2})?(?![\w]|[.,'][0-9])")
_PRICED = re.compile(
    r"[€$£₺₽₴₹] ?[0-9]++([.,])[0-9]{2}(?![\w]|[.,'][0-9])"
    r"|(?<![\w.,'])[0-9]{1,9}([.,])[0-9]{2} ?(?:[€$£₺₽₴₹]|(?:eur|euro|usd|gbp|chf|pln|zl|kr)\b)"
)
_PLAIN = re.compile(r"[0-9]++(?:[.,][0-9]++)?+")
_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:([., '])[0-9]{3})(?:\1[0-9]{3})*+(?:(?!\1)[.,][0-9]++)?+")
_LAKHS = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]++)?+")


def decimal_mark(text: str) -> DecimalMark | None:
    """Return the decimal mark of a text, by its amounts that can be read in one way, else by its language."""
    read = folded(text[:_STYLE_CHARACTERS])
    marks = {mark for mark in _marks(read) if mark in (".", ",")}
    if marks:
        return "." if marks == {"."} else "," if marks == {","} else None
    return mark_of_language(read)


def _marks(read: str) -> Iterator[str]:
    for match in _GROUPED.finditer(read):
        between = {each for each in match[1] if not each.isdigit()}
        if len(between) == 1 and match[2] and match[2] not in between:
            yield match[2]
        elif len(between) == 1 and not match[2] and len(match[1]) > 7:
            yield {".": ",", ",": "."}.get(between.pop(), "")
    for match in _PRICED.finditer(read):
        yield match[1] or match[2]


def unit_of(word: str) -> str:
    """Return the code of a currency's sign, code or name, in lower case; the word if it is none."""
    return _CODES.get(folded(word), word)


def is_unit(word: str) -> bool:
    """Say whether a word is a currency's."""
    return unit_of(word.casefold()) in UNITS


def is_spelled_unit(word: str) -> bool:
    """Say whether a word is a currency's name: no sign or code."""
    return folded(word) in _SPELLED


def readings(number: str, mark: DecimalMark | None) -> frozenset[Decimal]:
    """Return what a number without a sign may mean; nothing for dates, times and numbers of paragraphs."""
    found: dict[DecimalMark, Decimal] = {}
    if _LAKHS.fullmatch(number):
        return frozenset({Decimal(number.replace(",", ""))})
    if _PLAIN.fullmatch(number):
        if number.isdigit():
            return frozenset({Decimal(number)})
        found["," if "," in number else "."] = Decimal(number.replace(",", "."))
    if grouped := _GROUPS.fullmatch(number):
        other: DecimalMark = "," if grouped[1] == "." else "."
        has_decimals = any(each in number for each in ".," if each != grouped[1])
        whole, *rest = re.split(r"[.,](?=[0-9]++$)", number) if has_decimals else [number]
        found[other] = Decimal(".".join([re.sub("[., ']", "", whole), *rest]))
    if len(found) > 1 and mark in found:
        return frozenset({found[mark]})
    return frozenset(found.values())
