"""Deadlines of letters in many languages, through the rule of evidence."""

import json
from datetime import date

import pytest

from coaching.library.deadlines import date_of_letter
from coaching.library.evidence import Source
from coaching.library.pipeline.answers import read_answer
from coaching.library.references.text import Vocabulary

LETTER = date(2027, 3, 3)
DUE = date(2027, 3, 31)
NOTHING = Vocabulary(file_types=("letter",), categories=(), folders=(), tags=())
LETTERS = {
    "de": "Berlin, den 3. März 2027\n\nGuten Tag,\n\nbitte zahlen Sie bis Mi., den 31. März 2027.",
    "en": "3 March 2027\n\nDear Ms Berg,\n\nplease pay no later than the 31st of March, 2027.",
    "es": "Madrid, a 3 de marzo de 2027\n\nEstimada señora:\n\nEl plazo termina el 31 de marzo de 2027.",
    "fr": "Paris, le 3 mars 2027\n\nMadame,\n\nMerci de régler au plus tard le mercredi 31 mars 2027.",
    "it": "Roma, 3 marzo 2027\n\nGentile signora,\n\nil pagamento scade il 31 marzo 2027.",
    "pt": "Lisboa, 3 de março de 2027\n\nCara senhora,\n\nO prazo termina em 31 de março de 2027.",
    "nl": "Amsterdam, 3 maart 2027\n\nGeachte mevrouw,\n\nU kunt betalen tot en met 31 mrt. 2027.",
    "pl": "Warszawa, dnia 3 marca 2027 r.\n\nSzanowna Pani,\n\nProsimy o zapłatę do 31 marca 2027 r.",
    "sv": "Stockholm den 3 mars 2027\n\nHej,\n\nBetala senast den 31 mars 2027.",
    "tr": "İstanbul, 3 Mart 2027\n\nSayın Berg,\n\nSon ödeme tarihi 31 MART 2027'dir.",
    "ru": "г. Москва, 3 марта 2027 г.\n\nУважаемая госпожа Берг!\n\nПросим оплатить до 31 марта 2027 года.",
    "uk": "Київ, 3 березня 2027 р.\n\nШановна пані!\n\nПросимо сплатити до 31 березня 2027 року.",
    "da": "København, den 3. marts 2027\n\nKære fru Berg,\n\nBetal senest den 31. marts 2027.",
}
COUNTED = {
    "de": "Bitte zahlen Sie den Betrag binnen 28 Tagen.",
    "en": "Please pay within twenty-eight (28) days.",
    "es": "Tiene que pagar en un plazo de 28 días.",
    "fr": "Vous devez payer dans un délai de quatre semaines.",
    "it": "Deve pagare entro quattro settimane.",
    "pt": "Deve pagar no prazo de 28 dias.",
    "nl": "U moet binnen vier weken betalen.",
    "pl": "Prosimy o zapłatę w terminie 28 dni.",
    "sv": "Betala inom fyra veckor.",
    "tr": "Borcu 28 gün içinde ödeyin.",
    "ru": "Просим оплатить в течение 28 дней.",
    "uk": "Просимо сплатити протягом 28 днів.",
    "da": "Betal inden for fire uger.",
}
FROM_ELSEWHERE = (
    "Please pay within 28 days of receipt.",
    "Please pay within 28 days after the works are done.",
    "After the lease ends, pay within 28 days.",
    "Please pay within 28 working days.",
    "Zahlen Sie binnen 28 Tagen nach Erhalt.",
    "Zahlen Sie binnen 28 Tagen, nachdem wir geräumt haben.",
    "Zahlen Sie binnen 28 Werktagen.",
    "Vous devez payer dans un délai de 28 jours à compter de la réception.",
    "Tiene que pagar en un plazo de 28 días hábiles.",
    "Deve pagare entro 28 giorni dal ricevimento.",
    "Deve pagar no prazo de 28 dias úteis.",
    "U moet binnen 28 dagen na ontvangst betalen.",
    "Prosimy o zapłatę w terminie 28 dni od otrzymania pisma.",
    "Betala inom 28 dagar från mottagandet.",
    "Tebliğden itibaren 28 gün içinde ödeyin.",
    "Просим оплатить в течение 28 дней с момента получения.",
    "Sie haben am 1. Februar 2027 unterschrieben und können binnen 28 Tagen widerrufen.",
    "Your order of 02/03/2027 can be cancelled within 28 days.",
    "If you cancel, we refund the money within 28 days.",
    "Bei Widerruf erstatten wir das Geld binnen 28 Tagen.",
    "En cas d’annulation, nous vous remboursons sous 28 jours.",
    "Si cancela, le devolvemos el dinero en un plazo de 28 días.",
    "Wij betalen bij annulering binnen 28 dagen terug.",
    "Please pay within 3 to 4 weeks.",
    "Zahlen Sie in drei bis vier Wochen.",
    "Vous devez payer dans 20 ou 28 jours.",
    "In den letzten 28 Tagen haben wir dreimal geschrieben.",
    "In the past 28 days we wrote three times.",
    "W ciągu ostatnich 28 dni pisaliśmy trzy razy.",
    "Das Geld kommt in weniger als 28 Tagen.",
    "Das Geld kommt frühestens in 28 Tagen.",
    "Sie können mit einer Frist von 28 Tagen zum Monatsende kündigen.",
)


def words_of(text: str, day: date) -> str:
    """Return the words for a day in the last line of a letter."""
    source = Source(text)
    passage = source.find(text.splitlines()[-1])
    assert passage
    return source.words_of_day(day, passage)


@pytest.mark.parametrize("text", LETTERS.values(), ids=LETTERS)
def test_the_deadline_of_a_letter_becomes_a_date(text: str) -> None:
    words = words_of(text, DUE)
    assert words in text
    assert words.startswith("31")
    assert words_of(text, date(2027, 3, 30)) == words_of(text, LETTER) == ""


def test_a_fact_about_a_deadline_is_kept_with_its_day_and_no_other() -> None:
    def answer(day: date) -> str:
        rows = [
            {"document": number, "file_type": "letter", "confidence": 1, "key_facts": [fact]}
            for number, text in enumerate(LETTERS.values(), start=1)
            for fact in [{"name": "Due", "value": day.isoformat(), "quote": text.splitlines()[-1], "page": 1}]
        ]
        return json.dumps({"documents": rows})

    sources = [Source(text) for text in LETTERS.values()]
    for day, count in ((DUE, 1), (date(2027, 4, 1), 0)):
        verdicts = read_answer(answer(day), sources, NOTHING)
        assert [len(each.key_facts) if each else None for each in verdicts] == [count] * len(LETTERS)


@pytest.mark.parametrize("language", COUNTED)
def test_days_are_counted_from_the_letters_own_date_where_that_is_sure(language: str) -> None:
    head = LETTERS[language].splitlines()[0]
    assert date_of_letter(head, order=None) == LETTER
    assert words_of(f"{head}\n\n{COUNTED[language]}", DUE)
    assert not words_of(f"{head}\n\n{COUNTED[language]}", date(2027, 3, 30))
    assert not words_of(f"x {head}\n\n{COUNTED[language]}", DUE)
    assert not words_of(f"{head}\nDate: 4 March 2027\n\n{COUNTED[language]}", DUE)


@pytest.mark.parametrize("sentence", FROM_ELSEWHERE)
def test_days_that_count_from_something_else_are_none(sentence: str) -> None:
    assert not words_of(f"Berlin, 3.3.2027\n\n{sentence}", DUE)


def test_days_from_the_date_of_the_letter_are_counted() -> None:
    for sentence in (
        "Please pay within 28 days of the date of this letter.",
        "Zahlen Sie binnen 28 Tagen ab Datum dieses Schreibens.",
        "If you do not pay within 28 days, we will go to court.",
        "Wenn Sie nicht binnen 28 Tagen zahlen, klagen wir.",
        "Zahlen Sie auf unser Schreiben vom 3. März 2027 binnen 28 Tagen.",
    ):
        assert words_of(f"Berlin, 3.3.2027\n\n{sentence}", DUE)


@pytest.mark.parametrize(
    "head",
    [
        "Date: 03/04/2027", "Fällig am\n3. März 2027", "Due date: 3 March 2027",
        "unser Schreiben\nvom 3.3.2027",
        "Born: 3 March 1980", "Datum: 3.3.2027\nDatum: 4.3.2027", "Invoice 12, 3 March 2027", "",
    ],
)  # fmt: skip
def test_a_letter_whose_date_is_not_sure_has_none(head: str) -> None:
    assert date_of_letter(head, order=None) is None


def test_a_day_without_a_year_is_the_next_one_from_the_letters_date() -> None:
    letter = "Berlin, den 3. März 2027\n\nZahlen Sie bis zum 31. März."
    assert words_of(letter, DUE) == "31. März"
    assert words_of(letter.replace("Berlin, den ", "Ihr Schreiben vom "), DUE) == ""
    assert words_of(letter.replace("31. März", "31. März 28"), DUE) == ""
    assert words_of(letter.replace("bis zum 31. März", "die Rechnung vom 3. Februar"), date(2028, 2, 3)) == ""


@pytest.mark.parametrize("number", ["፩", "２８", "²⁸", "२८", "٢٨", "Ⅻ"])
def test_digits_of_other_scripts_break_nothing(number: str) -> None:
    text = f"Berlin, 3.3.2027\n\nPlease pay it all within {number} days, by {number}.{number}.2027."
    assert words_of(text, date(2027, 3, 4)) == ""
