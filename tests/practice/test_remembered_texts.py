"""What the tour hears in a text is remembered: in each language, of many short texts and of few long ones."""

from coaching.practice.coach import texts
from coaching.practice.coach.texts import KNOWN_LONG_TEXTS, MAX_KNOWN_CHARACTERS, once_per_text


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


def test_only_the_last_long_texts_are_kept() -> None:
    heard: list[str] = []

    @once_per_text
    def hear(text: str) -> int:
        heard.append(text)
        return len(heard)

    longer = ["a" * (MAX_KNOWN_CHARACTERS + each) for each in range(1, KNOWN_LONG_TEXTS + 2)]
    with texts.speaking("en"):
        assert hear(longer[0]) == hear(longer[0]) == 1
        for text in longer[1:]:
            hear(text)
        assert hear(longer[-1]) == len(longer)
        assert hear(longer[0]) == len(longer) + 1
