"""What the tour hears in a text is remembered: in each language, and of short texts alone."""

from coaching.practice.coach import texts
from coaching.practice.coach.texts import MAX_KNOWN_CHARACTERS, once_per_text


def test_a_short_text_is_heard_once_in_each_language_and_for_each_question() -> None:
    heard: list[tuple[str, str]] = []

    @once_per_text
    def hear(question: str, text: str) -> int:
        heard.append((question, text))
        return len(heard)

    with texts.speaking("en"):
        assert hear("is it glad", "Hello") == hear("is it glad", "Hello") == 1
        assert hear("is it sad", "Hello") == 2
    with texts.speaking("de"):
        assert hear("is it glad", "Hello") == 3


def test_a_long_text_is_not_kept() -> None:
    heard: list[str] = []

    @once_per_text
    def hear(text: str) -> int:
        heard.append(text)
        return len(heard)

    longer = "a" * (MAX_KNOWN_CHARACTERS + 1)
    with texts.speaking("en"):
        assert (hear(longer), hear(longer)) == (1, 2)
