"""Names of months, and words around them, in the languages of letters. Data only, without accents.

Twelve languages: the six of the rules for promises (English, German, Spanish, French, Portuguese, Italian)
and the six next most written in Europe (Russian, Turkish, Polish, Ukrainian, Dutch, Swedish). Danish and
Norwegian need three words more and come with them. No word means two months in these languages, so nobody has
to know the language of a text to read its dates. The suite holds the table against the Unicode CLDR by Babel,
which is 36 MB to install and reads its data when a language is first used: too much for 300 words.
"""

import unicodedata
from collections.abc import Mapping, Sequence

_WIDE = """
    january february march april may june july august september october november december
    januar februar marz april mai juni juli august september oktober november dezember
    janner feber maerz april mai juni juli august september oktober november dezember
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    enero febrero marzo abril mayo junio julio agosto setiembre octubre noviembre diciembre
    janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
    janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    januari februari maart april mei juni juli augustus september oktober november december
    januari februari mars april maj juni juli augusti september oktober november december
    januar februar marts april maj juni juli august september oktober november desember
    styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia
    ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik
    январь февраль март апрель маи июнь июль август сентябрь октябрь ноябрь декабрь
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    січень лютии березень квітень травень червень липень серпень вересень жовтень листопад грудень
    січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
"""
_SHORT = """
    jan feb mar apr may jun jul aug sep oct nov dec
    - - - - - - - - sept okt - dez
    jan - maer - mai - - - - - - -
    ene febr - abr - - - ago set - - dic
    janv fevr - avr - - juil aout - - - des
    - fev mrt - mei - juill - - out - -
    gen - - - mag giu lug - - ott - -
    jaen - - - maj - - - - - - -
    sty lut - kwi - cze lip sie wrz paz lis gru
    oca sub - nis - haz tem agu eyl eki kas ara
    янв фев мар апр - июн июл авг сен окт ноя дек
    - февр - - - - - - сент - нояб -
    січ лют бер кві тра чер лип сер вер жов лис гру
    - - - квіт трав черв - серп верес жовт лист груд
    - - - - - - - - - - листоп -
"""
_WEEKDAYS = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    lunes martes miercoles jueves viernes sabado domingo
    lundi mardi mercredi jeudi vendredi samedi dimanche
    segunda-feira terca-feira quarta-feira quinta-feira sexta-feira segunda terca quarta quinta sexta
    lunedi martedi mercoledi giovedi venerdi sabato domenica
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    poniedzialek wtorek sroda czwartek piatek sobota niedziela
    mandag mandagen tisdag onsdag torsdag fredag lordag sondag tirsdag
    pazartesi sali carsamba persembe cuma cumartesi pazar
    понедельник вторник среда четверг пятница суббота воскресенье
    понеділок вівторок середа четвер субота неділя
"""


def _rows(table: str) -> Sequence[Sequence[str]]:
    return [line.split() for line in table.strip().splitlines()]


def _numbered(rows: Sequence[Sequence[str]]) -> Mapping[str, int]:
    return {name: number for row in rows for number, name in enumerate(row, start=1) if name != "-"}


_ENGLISH, _GERMAN, _SPANISH = 0, 1, 3
MONTHS_IN_FULL = _numbered(_rows(_WIDE))
MONTHS = {**_numbered(_rows(_SHORT)), **MONTHS_IN_FULL}
"""With abbreviations, which stand here without their full stop."""
ENGLISH_MONTHS = {**_numbered([_rows(_WIDE)[_ENGLISH], _rows(_SHORT)[_ENGLISH]]), "sept": 9}
MONTHS_FIRST = frozenset({*ENGLISH_MONTHS, *_rows(_WIDE)[_SPANISH]})
"""What a date may begin with: `March 31, 2027`, and `marzo 31, 2027` in Latin America."""
WEEKDAYS = frozenset(name for row in _rows(_WEEKDAYS) for name in row)
CAPITALISED = frozenset(
    {*ENGLISH_MONTHS, *_rows(_WIDE)[_GERMAN], *_rows(_WEEKDAYS)[_ENGLISH], *_rows(_WEEKDAYS)[_GERMAN]}
)
"""Months and weekdays of languages that write them with a capital, though nobody is called so."""


class _Plain(dict[int, str]):
    """One character for each, so that positions stay: its small letter, without what is above or below it."""

    def __missing__(self, code: int) -> str:
        small = unicodedata.normalize("NFKC", chr(code).lower())
        base = unicodedata.normalize("NFD", small)[0]
        self[code] = base if base < _OTHER_SCRIPTS else small[0]
        return self[code]


_OTHER_SCRIPTS = "\u0600"
"""From here on a mark may be a letter of its own."""
_FOLDED = _Plain({ord(each): plain for each, plain in zip("ıłŁøØ‐‑‒–—−’‘", "illoo------''", strict=True)})


def folded(text: str) -> str:
    """Return a text in small letters without accents, each character where it was."""
    return text.translate(_FOLDED)
