"""Deadlines that a letter counts from its own date: "binnen 14 Tagen", "within 30 days". Pure.

They are days only where that date is sure: one date in the head of the letter, alone in its line or after
the place. A deadline that begins with something else (receipt, delivery, the end of a term) or that counts
working days has no day: nobody knows it from the letter. Nor has one in a sentence with another date, with
two numbers ("in 2 to 3 weeks"), or after a condition ("if you cancel, we refund within 14 days").
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise

from coaching.library.calendar_words import WEEKDAYS, folded
from coaching.library.dates import DateOrder, written_dates
from coaching.library.relative_days import later

_HEAD_CHARACTERS = 3_000
_HEAD_LINES = 25
_MAX_LINE = 60
_MAX_PLACE = 3
"""So many words has the name of a place."""
_LABELS = frozenset(
    {"date", "dated", "datum", "fecha", "data", "dato", "tarih", "дата", "г", "р", "года", "року", "r"}
)
_AFTER_PLACE = _LABELS | {"den", "le", "a", "il", "dnia", "op", "dne"}
_WORD = re.compile(r"[^\W_]++")
_NO_PLACE = re.compile(r"[0-9:]")
_COUNTED = re.compile(
    r"((?<![\w.,/-])[0-9]{1,3}|(?<!\w)[^\W\d_]{1,14}) (?:\(([0-9]{1,3})\) )?(?:calendar )?"
    r"(?=([^\W\d_]{2,10})(?!\w))"
)
_UNITS_TABLE = """
    day day days tag tage tagen dia dias jour jours giorno giorni dag dagen dagar dage dager dni dnia gun
    day день дня дней днеи днів дні
    week week weeks woche wochen semana semanas semaine semaines settimana settimane weken vecka veckor
    week uge uger uker tydzien tygodni tygodnie hafta неделя недели недель тиждень тижні тижнів
    month month months monat monate monats monaten mes meses mois mese mesi maand maanden manad manader
    month maned maneder miesiac miesiaca miesiecy miesiace ay месяц месяца месяцев місяць місяця місяців
"""
_NUMBERS_TABLE = """
    1 one a ein einem einer eines un une una um uma uno een en ett et jednego bir одного
    2 two zwei dos deux dois duas due twee tva to dwoch iki двух двох
    3 three drei tres trois tre drie trzech uc трех трьох
    4 four vier cuatro quatre quatro quattro fyra fire czterech dort четырех чотирьох
    5 five funf cinco cinq cinque vijf fem pieciu bes пяти
    6 six sechs seis sei zes sex seks szesciu alti шести
    7 seven sieben siete sept sete sette zeven sju syv siedmiu yedi семи
    8 eight acht ocho huit oito otto atta otte osmiu sekiz восьми
    10 ten zehn diez dix dez dieci tien tio ti dziesieciu on десяти
    14 fourteen vierzehn catorce quatorze quattordici veertien fjorton fjorten czternastu четырнадцати
    15 fifteen quince quinze quindici vijftien femton femten pietnastu пятнадцати
    30 thirty dreissig dreißig treinta trente trinta trenta dertig trettio tredive trzydziestu otuz тридцати
"""
_UNITS = {word: row[0] for row in map(str.split, _UNITS_TABLE.strip().splitlines()) for word in row[1:]}
_NUMBERS = {
    word: int(row[0]) for row in map(str.split, _NUMBERS_TABLE.strip().splitlines()) for word in row[1:]
}
_WITHIN_TABLE = """
    within in innerhalb binnen dans sous dentro plazo delai prazo entro termijn inom terminie ciagu течение
    срок протягом строк inden frist
"""
_WITHIN = frozenset(_WITHIN_TABLE.split())
_BEFORE_SPELLED = _WITHIN | {"von", "de", "di", "of", "the", "next", "les", "los", "las", "van", "for"}
"""Anything else before a number in words may be a part of it: `vingt et un jours`."""
_WITHIN_BEHIND = frozenset({"icinde"})
_NEAR = 120
_REACH = 4
"""So many words may stand between "within" and the number: `innerhalb einer Frist von 30 Tagen`."""
_FROM_ELSEWHERE_TABLE = """
    of from after following since upon prior before ago nach ab seit vor des de del desde tras du d apres a
    compter suivant avant dal dalla dallo dopo prima do da dos das apos antes na vanaf voor od po przed fran
    efter fore fra for с со после от до перед з із після від business working werk arbeits ouvres ouvrables
    habiles laborables uteis lavorativi roboczych is рабочих робочих банковских gerechnet beginnend nachdem
    sobald counted starting beginning once when if calculated contados contadas contado contada calculado
    siguientes suivants suivent seguenti seguintes partir decorrenti decorrere contar liczac poczawszy
    raknat regnet zum считая начиная рахуючи починаючи
"""
_FROM_ELSEWHERE = frozenset(_FROM_ELSEWHERE_TABLE.split())
"""What follows a number of days that are counted from something else, lie before it, or aren't each a day."""
_AFTER_TABLE = """
    after following upon nach ab seit sobald nachdem tras despues desde apres des dopo apos depois efter
    после після sonra itibaren since once
"""
_AFTER = frozenset(_AFTER_TABLE.split())
"""What may stand anywhere before: `Nach Vertragsende … binnen 14 Tagen`."""
_CONDITIONS_TABLE = """
    if when unless case event bei wenn falls sofern sobald soweit si cas lorsque caso cuando quando se als
    indien bij wanneer jesli jezeli gdy przypadku om vid hvis ved nar eger halinde durumunda если при когда
    якщо коли разі случае
"""
_CONDITIONS = frozenset(_CONDITIONS_TABLE.split())
_NOUN_FOLLOWS = frozenset(
    {"case", "event", "bei", "cas", "bij", "przypadku", "vid", "ved", "при", "случае", "разі"}
)
"""Conditions that end without a comma: `Bei Widerruf erstatten wir binnen 14 Tagen`."""
_NO_DEADLINES_TABLE = """
    last past previous letzten letzte vergangenen ultimos ultimas derniers dernieres ultimi ultime scorsi
    afgelopen laatste senaste seneste siste ostatnich son gecen последние последних последни останні
    останніх less fewer least earliest sooner weniger fruhestens mindestens menos menor moins meno minder
    minst mindre mniej najwczesniej менее раньше менше раніше
"""
_NO_DEADLINES = frozenset(_NO_DEADLINES_TABLE.split())
"""Days behind: `in the last 30 days`; and days that are only a bound: `in less than 14 days`."""
_EVENTS_TABLE = """
    receipt receiv deliver serv notif complet erhalt zugang empfang zustell eingang bekanntgabe liefer
    ablauf recep recib recepcao recebi receb ricev ricez consegn ontvang lever otrzyman dorecz mottag delgiv
    teblig tebell получен вручен отриман modtag forkyn werktag arbeitstag bankarbeit werkdag arbetsdag
    hverdag virkedag rebut terminat expir beendig vertragsschluss vertragsende resiliation
"""
_EVENTS = tuple(_EVENTS_TABLE.split())
_OF_THIS_LETTER = re.compile(
    r"\b(?:dieses (?:schreibens|briefes)|this (?:letter|notice|invoice)|today|heute|la presente|cette lettre"
    r"|(?:esta|desta|presente) (?:carta|factura)|(?:questa|presente) lettera|della presente|deze brief"
    r"|niniejszego pisma|(?:detta|dette) brev|bu mektubun|настоящего письма|цього листа)(?!\w)"
)


def days_counted(text: str, written_on: date) -> Sequence[tuple[int, int, date]]:
    """Return where a text on one line counts days from its own date, and which days these are."""
    plain = folded(text)
    others = any(days != {written_on} for _, _, days in written_dates(plain))
    if others or any(each in plain for each in _EVENTS):
        return []
    return list(_counted(plain, written_on))


def _counted(plain: str, written_on: date) -> Iterator[tuple[int, int, date]]:
    for match in _COUNTED.finditer(plain):
        unit = _UNITS.get(match[3])
        number = match[2] or match[1]
        count = int(number) if number.isdecimal() else _NUMBERS.get(number, 0)
        if not unit or not count:
            continue
        is_spelled = not number.isdecimal()
        leading = plain[max(0, match.start() - _NEAR) : match.start()].rpartition(". ")[2]
        before = _WORD.findall(leading)
        behind = plain[match.end(3) : match.end(3) + _NEAR]
        following = _WORD.findall(behind)[:1] if behind[:1] in (" ", ",") else []
        is_within = not _WITHIN.isdisjoint(before[-_REACH:]) or not _WITHIN_BEHIND.isdisjoint(following)
        is_elsewhere = not _FROM_ELSEWHERE.isdisjoint(following) and not _OF_THIS_LETTER.search(behind)
        if is_spelled and _BEFORE_SPELLED.isdisjoint(before[-1:]):
            continue
        if _is_range(before) or _is_conditional(leading, before):
            continue
        if not _NO_DEADLINES.isdisjoint(before[-_REACH:]):
            continue
        if is_within and not is_elsewhere and _AFTER.isdisjoint(before):
            yield match.start(), match.end(3), later(written_on, count, unit)


def _is_range(before: Sequence[str]) -> bool:
    """Say whether words end with a number that another one follows: `in 2 to` 3 weeks."""
    *_, number, link = ["", "", *before]
    return link not in _WITHIN and (number.isdecimal() or number in _NUMBERS)


def _is_conditional(leading: str, before: Sequence[str]) -> bool:
    """Say whether a number of days counts from something that may happen.

    `If you don't pay within 14 days` is a deadline; `if you cancel, we pay within 14 days` is none.
    """
    condition, comma, _ = leading.rpartition(",")
    has_ended = bool(comma) and not _CONDITIONS.isdisjoint(_WORD.findall(condition))
    return has_ended or not _NOUN_FOLLOWS.isdisjoint(before)


def date_of_letter(text: str, *, order: DateOrder | None) -> date | None:
    """Return the day on which a letter was written, if its head says so, and says no other."""
    lines = [" ".join(line.split()) for line in text[:_HEAD_CHARACTERS].splitlines()]
    head = [line for line in lines if line][:_HEAD_LINES]
    found: set[date] = set()
    for before, line in pairwise(["", *head]):
        found.update(_dated(line, before, order) if len(line) <= _MAX_LINE else ())
    return found.pop() if len(found) == 1 else None


def _dated(line: str, line_before: str, order: DateOrder | None) -> Iterator[date]:
    dates = written_dates(line, order=order)
    if len(dates) != 1 or len(dates[0][2]) != 1:
        return
    start, end, days = dates[0]
    leading, behind = line[:start].rstrip(), _WORD.findall(folded(line[end:]))
    is_alone = not leading and (not line_before or any(each.isdigit() for each in line_before))
    if (is_alone or _leads_to_date(leading)) and _LABELS.issuperset(behind):
        yield from days


def _leads_to_date(leading: str) -> bool:
    """Say whether a label, a weekday or a place stands before a date, and nothing else."""
    place, _, rest = leading.removeprefix("г. ").rpartition(",")
    if not place and rest.endswith(" den"):
        place, rest = rest.removesuffix(" den"), ""
    words = {word for word in _WORD.findall(folded(rest)) if word not in WEEKDAYS}
    if not place:
        return bool(leading) and _LABELS.issuperset(words)
    is_place = len(place.split()) <= _MAX_PLACE and place[0].isupper() and not _NO_PLACE.search(place)
    return is_place and _AFTER_PLACE.issuperset(words)
