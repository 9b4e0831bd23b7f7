"""What the tour senses in words that it never saw."""

import re
from datetime import timedelta

import pytest

from coaching.files.organising import KEPT_DAYS
from coaching.practice.coach import texts
from coaching.practice.coach.sense import ALWAYS, FILE, features_of, learnt, sense
from sessions_app.organising import UNDO_TIME
from tests.practice.training import TALKS, Utterance, digest_of, learn_acts, measure_without, read_utterances
from tests.thoroughness import sample

LEAST_RIGHT = 0.63
"""The least share of an author's utterances whose act is known by weights learnt from all others."""
OF_PRIVACY = ("private", "employer", "relative", "authority", "train", "stored", "remove", "take", "trust")


def test_the_weights_are_learnt_from_the_utterances_and_concepts_of_today() -> None:
    reason = "run: python -m tests.practice.training --write"
    assert f"# Learnt from: {digest_of(read_utterances())}" in FILE.read_text(encoding="utf-8"), reason


@pytest.mark.slow
@pytest.mark.parametrize("author", sample(TALKS, of_each=len(TALKS)))
def test_what_an_author_does_is_known_by_what_others_wrote(author: str) -> None:
    found = measure_without(author, read_utterances())
    assert found.right >= LEAST_RIGHT * found.utterances, found


def test_each_act_and_topic_has_something_to_say_in_each_language() -> None:
    acts, topics, _ = learnt()
    elsewhere = {"bye", "confide", "show", "loss", "feature"}
    elsewhere |= {f"ask_{what}" for what in ("self", "world", "advice", "back")}
    names = {*acts, *(topic.partition("/")[2] for topic in topics)}
    for code in texts.LANGUAGES:
        with texts.speaking(code):
            silent = {each for each in names if not texts.answers(each) and each not in texts.questions()}
        assert silent == elsewhere


def test_what_only_one_act_says_weighs_for_it_and_the_same_utterances_give_the_same_weights() -> None:
    utterances = [
        Utterance(author="a", act=act, topic="", words=words)
        for act, words in (
            ("tea", "a pot of tea"), ("tea", "more tea"), ("rain", "more rain"), ("rain", "rain on us"),
        )
    ]  # fmt: skip
    weights = learn_acts(utterances)
    assert weights == learn_acts(utterances)
    assert weights["tea"]["tea"] > 0 > weights["rain"]["tea"]
    assert all(ALWAYS in own for own in weights.values())


@pytest.mark.parametrize(
    ("words", "act", "topic"),
    [
        ("My granny passed away on Sunday and I can't believe it", "confide", "loss"),
        ("Unser Kater ist vorgestern gestorben", "confide", "loss"),
        ("Se nos murió el abuelo en abril", "confide", "loss"),
        ("are you a human or a bot", "ask_self", "identity"),
        ("wer kann das hier alles lesen", "ask_self", "private"),
        ("does my boss get to see any of this", "ask_self", "employer"),
        ("¿mi madre puede leer esto?", "ask_self", "relative"),
        ("auf welchem Server wird das gespeichert", "ask_self", "stored"),
        ("cuánto cuesta esto", "ask_self", "real"),
        ("could you write an email to my landlord for me", "want_text", "write"),
        ("hola, buenas noches", "greet", ""),
        ("sorry for going on so long", "sorry", ""),
        ("so, ich muss jetzt los, mein Bus kommt", "bye", ""),
        ("no, de eso no quiero hablar", "refuse", ""),
    ],
)
def test_words_that_it_never_saw(words: str, act: str, topic: str) -> None:
    sensed = sense(words)
    assert (sensed.act, sensed.topic) == (act, topic)


def test_words_that_say_nothing_are_no_topic() -> None:
    assert not sense("zorp blick").topic
    assert ALWAYS in features_of("")


@pytest.mark.parametrize("code", texts.LANGUAGES)
def test_what_is_said_of_data_holds(code: texts.Language) -> None:
    """A deletion can be undone for ten minutes, files come back for thirty days, looks are logged."""
    with texts.speaking(code):
        said = {name: texts.questions()[name][0] for name in OF_PRIVACY}
    assert timedelta(minutes=10) == UNDO_TIME
    assert re.search(r"\b(?:ten|zehn|diez)\b", said["remove"])
    assert str(KEPT_DAYS) in said["remove"]
    assert re.search("Backups|Sicherungskopien|copias de seguridad", said["remove"])
    assert re.search("[Aa] single message|einzelne Nachricht|mensaje suelto", said["remove"])
    assert "JSON" in said["take"]
    for name in ("private", "employer", "relative"):
        assert re.search("logged|protokolliert|registrado", said[name]), name
        assert re.search("run this server|Server betreib|llevan (?:el|este) servidor", said[name]), name
