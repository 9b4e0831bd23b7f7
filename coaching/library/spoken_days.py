"""The days that a person's words may mean, in the languages of `words/promises.txt`. Pure.

Dates of all languages, and English, are read by `dates`; the relative days of the others by the words here.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from coaching.library.dates import DateOrder, dates_meant
from coaching.library.spoken import tokens_of

_WEEK = 7
_RELATIVE: Mapping[str, int] = {
    "heute": 0, "heut": 0, "heutabend": 0, "morgen": 1, "übermorgen": 2, "hoy": 0, "mañana": 1,
    "pasado mañana": 2,
    "aujourd'hui": 0, "ce soir": 0, "demain": 1, "après-demain": 2, "oggi": 0, "stasera": 0, "domani": 1,
    "dopodomani": 2, "hoje": 0, "amanhã": 1, "depois de amanhã": 2, "esta noche": 0, "esta tarde": 0,
    "cet après-midi": 0, "stamattina": 0, "esta noite": 0, "tonight": 0, "today": 0, "tomorrow": 1,
}  # fmt: skip
_WEEKDAYS: Mapping[str, int] = {
    name: number
    for names in (
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "segunda terça quarta quinta sexta sábado domingo",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
        "montags dienstags mittwochs donnerstags freitags samstags sonntags",
        "montagabend dienstagabend mittwochabend donnerstagabend freitagabend samstagabend sonntagabend",
    )
    for number, name in enumerate(names.split())
} | {"sonnabend": 5, "miercoles": 2, "sabado": 5}
_UNITS: Mapping[str, int] = {
    "tag": 1, "tage": 1, "tagen": 1, "día": 1, "días": 1, "dia": 1, "dias": 1, "jour": 1, "jours": 1,
    "giorno": 1, "giorni": 1, "woche": 7, "wochen": 7, "semana": 7, "semanas": 7, "semaine": 7, "semaines": 7,
    "settimana": 7, "settimane": 7,
}  # fmt: skip
_NUMBERS: Mapping[str, int] = {
    word: number
    for number, words in enumerate(
        (
            "ein eine einem einer un una une um uma", "zwei dos deux due dois duas",
            "drei tres trois tre três",
            "vier cuatro quatre quattro quatro", "fünf cinco cinq cinque", "sechs seis six sei",
            "sieben siete sept sette sete", "acht ocho huit otto oito", "neun nueve neuf nove",
            "zehn diez dix dieci dez",
        ),
        start=1,
    )
    for word in words.split()
}  # fmt: skip
_NEXT_WEEK: Sequence[Sequence[str]] = [
    phrase.split()
    for phrase in (
        "nächste woche", "kommende woche", "próxima semana", "semana que viene", "semaine prochaine",
        "prossima settimana", "settimana prossima", "semana que vem",
    )
]  # fmt: skip


def days_said(text: str, *, spoken_on: date, order: DateOrder | None = "day") -> frozenset[date]:
    """Return all days that words may mean, relative to the day on which they were said."""
    words = [token.word for token in tokens_of(text)]
    found = set(dates_meant(text, spoken_on=spoken_on, order=order))
    found.update(_named(words, spoken_on))
    found.update(_counted(words, spoken_on))
    return frozenset(found)


def is_day_word(word: str) -> bool:
    """Say whether a word names a day: today, tomorrow, or one of the week."""
    return word in _RELATIVE or word in _WEEKDAYS


def _named(words: Sequence[str], spoken_on: date) -> Iterator[date]:
    joined = f" {' '.join(words)} "
    for name, ahead in _RELATIVE.items():
        if f" {name} " in joined:
            yield spoken_on + timedelta(days=ahead)
    for at, word in enumerate(words):
        if word in _WEEKDAYS:
            ahead = (_WEEKDAYS[word] - spoken_on.weekday() - 1) % _WEEK + 1
            yield spoken_on + timedelta(days=ahead)
            near = words[max(0, at - 1) : at + 2]
            if any(each.startswith(("nächst", "kommend", "próxim", "prochain", "prossim")) for each in near):
                monday = spoken_on - timedelta(days=spoken_on.weekday())
                yield monday + timedelta(days=_WEEK + _WEEKDAYS[word])
    if any(f" {' '.join(phrase)} " in joined for phrase in _NEXT_WEEK):
        monday = spoken_on - timedelta(days=spoken_on.weekday()) + timedelta(days=_WEEK)
        yield from (monday + timedelta(days=day) for day in range(_WEEK))


def _counted(words: Sequence[str], spoken_on: date) -> Iterator[date]:
    for at, word in enumerate(words[1:], start=1):
        if word in _UNITS:
            number = words[at - 1]
            count = int(number) if number.isdigit() and len(number) < 4 else _NUMBERS.get(number)
            if count:
                yield spoken_on + timedelta(days=count * _UNITS[word])
