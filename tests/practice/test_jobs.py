"""Titles, summaries and what is remembered are in the language of the person's words."""

import json

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.jobs import do_job
from coaching.practice.coach.tables import BY_LANGUAGE
from coaching.practice.coach.texts import Language

SLEEP = {
    "en": "I sleep badly since we moved, and my job is too much.",
    "de": "Ich schlafe schlecht, seit wir umgezogen sind, und die Arbeit ist zu viel.",
    "es": "Duermo mal desde que nos mudamos, y el trabajo es demasiado para mí.",
}


def done(sent: str) -> str:
    reply = do_job(Conversation({"messages": [{"role": "user", "content": sent}]}))
    assert reply is not None
    return "".join(block.text for block in reply.blocks if hasattr(block, "text"))


@pytest.mark.parametrize(
    ("code", "title", "summary", "line"),
    [
        (
            "en",
            "Career and health",
            "You talked with Sage about career and health. You said: “",
            "- You said: “",
        ),
        (
            "de",
            "Beruf und Gesundheit",
            "Du hast mit Sage über Beruf und Gesundheit gesprochen. Du hast gesagt: „",
            "- Du hast gesagt: „",
        ),
        ("es", "Trabajo y salud", "Hablaste con Sage de trabajo y salud. Dijiste: «", "- Dijiste: «"),
    ],
)
def test_a_job_speaks_as_the_person_does(code: str, title: str, summary: str, line: str) -> None:
    said = f'<said by="person">\n{SLEEP[code]}\n</said>'
    numbered = (
        f'<said number="1" by="person" day="Monday">\n{SLEEP[code]}\n</said>\n'
        '<said number="2" by="person" day="Monday" as="answer">\nTapped: 4711\n</said>'
    )
    assert done(f"<beginning>\n{said}\n</beginning>") == title
    assert done(f"<transcript>\n{said}\n</transcript>").startswith(summary)
    brief = done(
        "<brief>\n</brief>\n<corrections>\n</corrections>\n<struck>\n</struck>\n"
        f"<transcript>\n{numbered}\n</transcript>"
    )
    first, second = json.loads(brief)["lines"]
    assert first.startswith(line)
    assert "4711" in second
    assert ("Tapped" in second) is (code == "en"), "requests tell models in English what was tapped"


TAPPED = '<said by="person">\nTapped: Yes, that is right\n</said>'


def test_a_title_and_a_summary_quote_what_was_written_not_what_was_tapped() -> None:
    written = '<said by="person">\nFinish the report, call mum and go for a run\n</said>'
    assert done(f"<beginning>\n{TAPPED}\n{written}\n</beginning>") == "Finish the report, call mum and…"
    summary = done(f"<transcript>\n{TAPPED}\n{written}\n{TAPPED}\n</transcript>")
    assert "Finish the report" in summary
    assert "that is right" not in summary


def test_a_title_of_taps_alone_has_the_words_of_the_first_one() -> None:
    assert done(f"<beginning>\n{TAPPED}\n</beginning>") == "Yes, that is right"


def beginning(*said: tuple[str, str]) -> str:
    lines = "\n".join(f'<said by="{who}">\n{words}\n</said>' for who, words in said)
    return f"<beginning>\n{lines}\n</beginning>"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (["ok", "We may move to Porto in May"], "We may move to Porto in…"),
        (["Hi! Thanks. The neighbours are loud again"], "The neighbours are loud again"),
        (["hm, ok", "Ja", "Der Nachbar bohrt schon wieder"], "Der Nachbar bohrt schon wieder"),
        (["vale", "Los vecinos hacen ruido otra vez"], "Los vecinos hacen ruido otra vez"),
    ],
)
def test_a_title_is_the_first_sentence_that_says_something(said: list[str], title: str) -> None:
    assert done(beginning(*(("person", words) for words in said))) == title


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("What would you like to see, and what is on your mind?", "A conversation"),
        ("Was möchtest du sehen, und was beschäftigt dich gerade?", "Ein Gespräch"),
        ("¿Qué te gustaría ver, y qué te preocupa ahora?", "Una conversación"),
    ],
)
@pytest.mark.parametrize("words", ["ok", "👍", "hm"])
def test_a_conversation_in_which_nothing_was_said_has_a_neutral_title(
    words: str, answer: str, title: str
) -> None:
    assert done(beginning(("person", words), ("sage", answer))) == title


@pytest.mark.parametrize(
    ("code", "title"), [("en", "Close my day"), ("de", "Meinen Tag abschließen"), ("es", "Cerrar mi día")]
)
def test_a_title_without_words_is_the_name_of_the_arc(code: Language, title: str) -> None:
    opening = BY_LANGUAGE[code]["close_day"].opening
    assert done(beginning(("sage", opening), ("person", "ok"))) == title
    assert done(beginning(("person", "ok"), ("sage", opening), ("person", "Tapped: Rested"))) == title


@pytest.mark.parametrize(
    ("account", "code", "title"),
    [
        ("German", "de", "Meinen Tag abschließen"),
        ("Spanish", "es", "Cerrar mi día"),
        ("English", "en", "Close my day"),
    ],
)
def test_a_title_of_taps_alone_is_in_the_language_of_the_account(
    account: str, code: Language, title: str
) -> None:
    opening = BY_LANGUAGE[code]["close_day"].opening
    tapped = beginning(("sage", opening), ("person", "Tapped: Hello"), ("person", "Tapped: 4711"))
    assert done(f"{tapped}\n<language>{account}</language>") == title
    said = beginning(("person", "Los vecinos hacen ruido otra vez"))
    assert done(f"{said}\n<language>{account}</language>") == "Los vecinos hacen ruido otra vez"


@pytest.mark.parametrize("code", ["de", "es"])
def test_a_summary_of_taps_alone_is_in_the_language_that_sage_spoke(code: Language) -> None:
    opening = BY_LANGUAGE[code]["close_day"].opening
    said = f'<said by="sage">\n{opening}\n</said>\n<said by="person">\nTapped: 4711\n</said>'
    with texts.speaking(code):
        assert done(f"<transcript>\n{said}\n</transcript>").startswith(texts.of_job("talked"))
