"""What of an answer in the thread is quoted: the clause that answers the question, or nothing."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.quoting import objection_in, quoted, wished, without_comments
from coaching.practice.coach.texts import Language
from coaching.practice.coach.thread import thread

QUOTED: list[tuple[Language, str, str, str]] = [
    ("en", "mind", "That's a good question. Maybe that he never asks me.", "that he never asks me"),
    ("en", "mind", "hm, if only I knew. Probably the evenings", "the evenings"),
    ("en", "wish", "Hard to say. That we could talk normally.", "That we could talk normally"),
    ("en", "wish", "more sleep, but that won't happen", "more sleep"),
    ("en", "hands", "I could call, but we always end up fighting.", "I could call"),
    ("en", "hands", "He never listens, but I could write to him", "I could write to him"),
    ("en", "hands", "My husband never helps. I can put the kids to bed.", "I can put the kids to bed"),
    ("en", "mind", "Hard to say, maybe the piano.", "the piano"),
    ("en", "mind", "What really annoys me is that I heard it by mail.", "that I heard it by mail"),
    ("en", "hands", "Practising, at the mirror. It only feels silly.", "Practising, at the mirror"),
    ("en", "hands", "He always shouts. She never calls.", ""),
    ("en", "piece", "Good question. A call to Anna on Friday, though I'm scared", "A call to Anna on Friday"),
    ("de", "mind", "Das ist eine gute Frage. Vielleicht, dass er nie fragt.", "dass er nie fragt"),
    ("de", "mind", "Tja, wenn ich das wüsste. Wahrscheinlich die Abende", "die Abende"),
    ("de", "mind", "Vielleicht ist es der Lärm", "Vielleicht ist es der Lärm"),
    ("de", "wish", "Schwierige Frage! Dass abends mal Ruhe ist.", "Dass abends mal Ruhe ist"),
    ("de", "wish", "mehr schlaf aber das wird eh nix", "mehr schlaf"),
    ("de", "hands", "Ich könnte ihn anrufen, aber wir streiten immer.", "Ich könnte ihn anrufen"),
    ("de", "hands", "Er hört nie zu, aber ich könnte ihm schreiben", "ich könnte ihm schreiben"),
    ("de", "hands", "Nun ja, ich kann die Kinder früher hinlegen. Mein Mann hilft aber nie.",
     "ich kann die Kinder früher hinlegen"),
    ("de", "mind", "Das ist schwer zu beantworten, vermutlich der Elternbeirat.", "der Elternbeirat"),
    ("de", "mind", "Was mich am meisten stört, ist, dass alle zuschauen.", "dass alle zuschauen"),
    ("de", "hands", "Üben, vor dem Spiegel. Ich komme mir nur albern vor.", "Üben, vor dem Spiegel"),
    ("de", "piece", "Die Belege. Die liegen überall.", ""),
    ("de", "hands", "Er schreit immer. Sie ruft nie an.", ""),
    ("de", "piece", "Da muss ich überlegen. Ein Anruf bei Anna am Freitag", "Ein Anruf bei Anna am Freitag"),
    ("es", "mind", "Buena pregunta. Quizás, que nunca me pregunta.", "que nunca me pregunta"),
    ("es", "mind", "Uf, ojalá lo supiera. Supongo que las tardes", "las tardes"),
    ("es", "wish", "Es difícil de decir. Que pudiéramos hablar.", "Que pudiéramos hablar"),
    ("es", "wish", "dormir más pero eso no va a pasar", "dormir más"),
    ("es", "hands", "Podría hablar con ella, pero siempre acabamos discutiendo.", "Podría hablar con ella"),
    ("es", "hands", "Nunca me escucha, pero podría escribirle", "podría escribirle"),
    ("es", "hands", "Mi marido nunca ayuda. Yo puedo acostar a los niños.", "Yo puedo acostar a los niños"),
    ("es", "mind", "Es difícil de decir, quizá el piano, que no cabe.", "el piano, que no cabe"),
    ("es", "mind", "Lo que más me fastidia es que me enteré por otros.", "que me enteré por otros"),
    ("es", "hands", "Pedirle una reunión, imagino. Aunque siempre está liado.", "Pedirle una reunión"),
    ("es", "hands", "Él siempre grita. Ella nunca llama.", ""),
    ("es", "piece", "Déjame pensar. Una llamada a Ana el viernes", "Una llamada a Ana el viernes"),
]  # fmt: skip
WISHED: list[tuple[Language, str, str]] = [
    ("en", "I'd like to sleep through", "to sleep through"),
    ("en", "I want him to ask me", "him to ask me"),
    ("de", "Ich hätte gern morgens einen Grund aufzustehen", "morgens einen Grund aufzustehen"),
    ("de", "ich will, dass er fragt", "dass er fragt"),
    ("es", "Me gustaría que me preguntara", "que me preguntara"),
    ("es", "quiero dormir bien", "dormir bien"),
]
AGAINST: list[tuple[Language, str, str, str]] = [
    ("en", "one room done, but I don't know how", "one room done", "I don't know how"),
    ("en", "One room done. But I don't know how.", "One room done", "But I don't know how"),
    ("de", "ein Zimmer fertig. aber weiß nicht wie", "ein Zimmer fertig", "aber weiß nicht wie"),
    ("de", "Ein Zimmer fertig. Mein Mann hilft aber nie.", "Ein Zimmer fertig", ""),
    ("es", "un cuarto hecho. pero no se como", "un cuarto hecho", "pero no se como"),
]  # fmt: skip
ECHOES: list[tuple[Language, str, str]] = [
    ("en", "What's in my hands? I can phone him.", "I can phone him."),
    ("de", "Was in meiner Hand liegt? Ich kann ihn anrufen.", "Ich kann ihn anrufen."),
    ("es", "¿En mis manos? Puedo llamarlo.", "Puedo llamarlo."),
]


@pytest.mark.parametrize(("language", "question", "words", "quote"), QUOTED)
def test_the_clause_that_answers_is_quoted_and_no_comment_or_objection(
    language: Language, question: str, words: str, quote: str
) -> None:
    with texts.speaking(language):
        assert quoted(words, question) == quote


@pytest.mark.parametrize(("language", "words", "quote"), WISHED)
def test_a_wish_is_quoted_without_the_words_that_it_is_one(
    language: Language, words: str, quote: str
) -> None:
    with texts.speaking(language):
        assert wished(words) == quote


@pytest.mark.parametrize(("language", "words", "quote", "against"), AGAINST)
def test_what_an_answer_says_against_itself_is_heard(
    language: Language, words: str, quote: str, against: str
) -> None:
    with texts.speaking(language):
        assert quoted(words, "wish") == quote
        assert objection_in(without_comments(words), quote) == against


@pytest.mark.parametrize(("language", "words", "left"), ECHOES)
def test_who_puts_the_question_again_is_heard_with_what_follows(
    language: Language, words: str, left: str
) -> None:
    with texts.speaking(language):
        assert without_comments(words, thread(language)["hands"]["asks"][0]) == left


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Good question."), ("de", "Gute Frage."), ("es", "Buena pregunta.")]
)
def test_a_comment_alone_stays_what_was_said(language: Language, words: str) -> None:
    with texts.speaking(language):
        assert without_comments(words) == words
