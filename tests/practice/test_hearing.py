"""What the guided tour hears in any words: only an answer is one."""

import time
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coaching.engine.messages import NO_TEXT, OPENING_STUB
from coaching.practice.coach import texts
from coaching.practice.coach.conversation import NO_WORDS
from coaching.practice.coach.hearing import hear, is_about, items_in, rating_in
from coaching.practice.coach.spoken import language_of
from coaching.practice.coach.tables import ARCS, WALKS
from coaching.practice.coach.tour import answer
from coaching.practice.script import Note, Text
from coaching.tools import CHAT_TOOLS, TOOL_NAMES
from sessions_app.retries import GO_ON
from tests.practice.conftest import assistant, request_body, user
from tests.thoroughness import examples

HEARD = [
    ("I want to die", "danger"),
    ("my husband hits me", "danger"),
    ("I'd kill for a coffee", "answer"),
    ("hi there!", "hello"),
    ("Good morning", "hello"),
    ("thank you so much", "thanks"),
    ("ok", "yes"),
    ("hmm", "yes"),
    ("no thanks", "no"),
    ("idk", "later"),
    ("I don't know", "later"),
    ("let's skip that", "later"),
    ("later please", "later"),
    ("🙂", "empty"),
    ("?!", "empty"),
    ("asdf jkl qwer", "nonsense"),
    ("Why?", "question"),
    ("what do you mean", "question"),
    ("can you read this", "question"),
    ("Call mum, does that count?", "question"),
    ("What I want is a quiet week", "answer"),
    ("do the laundry", "answer"),
    ("When I wake up I stretch", "answer"),
    ("tell me a joke", "request"),
    ("I want you to be my friend", "request"),
    ("write the report", "answer"),
    ("you don't get it", "remark"),
    ("this is so stupid", "remark"),
    ("My boss is an idiot", "answer"),
    ("don't save that", "refusal"),
    ("stop", "leave"),
    ("never mind", "leave"),
    ("Stop smoking", "answer"),
    ("bye for now", "pause"),
    ("go on", "continue"),
    ("menu", "menu"),
    ("what did I say about Lisbon?", "recall"),
    ("let's do my weekly check-in", "wish"),
    ("I don't want a check-in today", "answer"),
    ("What is a life map?", "question"),
    ("Call the bank later", "answer"),
    ("No phone before noon", "answer"),
    ("Joy", "answer"),
    ("x " * 600, "long"),
]


@pytest.mark.parametrize(("words", "kind"), HEARD)
def test_it_hears_what_words_are(words: str, kind: str) -> None:
    assert hear(words).kind == kind


LANGUAGES = [
    ("Ich weiß gerade nicht mehr weiter", "de"),
    ("Hallo, wie geht es dir?", "de"),
    ("Hola", "es"),
    ("Quiero hablar de mi trabajo", "es"),
    ("Je suis très fatigué aujourd'hui", "fr"),
    ("Vorrei dormire di più, sono stanco", "it"),
    ("Eu quero falar sobre o meu trabalho", "pt"),
    ("Ik slaap slecht, goedemorgen", "nl"),
    ("Мне плохо сегодня", "other"),
    ("今日は疲れました", "other"),
    ("Dziś źle spałem i jestem zmęczony", "other"),
    ("Call Ana de la Cruz", ""),
    ("Practise Spanish and buy crème brûlée", ""),
    ("Lunch with Jürgen and Zoë", ""),
    ("Joy", ""),
    ("42", ""),
]


@pytest.mark.parametrize(("words", "language"), LANGUAGES)
def test_it_knows_a_handful_of_languages_from_english(words: str, language: str) -> None:
    assert language_of(words) == language


def test_a_correction_says_what_it_replaces() -> None:
    slots = ARCS["open_day"].slots
    heard = hear("no, not Monday but Tuesday", slots, last="priorities", last_words="Call Ana on Monday")
    assert (heard.kind, heard.old, heard.words) == ("correction", "Monday", "Tuesday")
    assert hear("not today but tomorrow", slots, last="priorities", last_words="Call Ana").kind == "answer"
    assert hear("the intention is wrong", slots, last="priorities").about == "intention"


@pytest.mark.parametrize(
    "words", ["omitir", "Omítelo", "omite esta pregunta", "por favor, omitir", "saltar", "sáltala"]
)
def test_the_words_of_the_buttons_skip_a_question_in_spanish(words: str) -> None:
    with texts.speaking("es"):
        assert hear(words).kind == "later"


@pytest.mark.parametrize("words", ["No me gusta hablar de eso", "No quiero hablar de eso"])
def test_what_nobody_wants_to_talk_about_is_heard_in_spanish(words: str) -> None:
    with texts.speaking("es"):
        assert is_about("not_about", words)


def test_a_spoken_list_becomes_short_lines() -> None:
    assert items_in("First I need to call mum and dad, then finish the report.") == (
        "Call mum and dad",
        "Finish the report",
    )
    assert items_in("1. taxes\n2. a walk") == ("Taxes", "A walk")


def test_only_what_is_clearly_a_rating_counts_as_one() -> None:
    assert rating_in("I sleep badly, 2 out of 5") == 2
    assert rating_in("3/5") == 3
    assert rating_in("I have 3 kids and 2 dogs") is None
    assert rating_in("up at 5:30, on 3/5/2027") is None


def test_no_question_is_part_of_another() -> None:
    questions = [slot.question for walk in WALKS.values() for slot in walk.slots]
    assert len(set(questions)) == len(questions)
    assert not [(a, b) for a in questions for b in questions if a != b and a in b]


def test_what_the_application_says_for_the_person_is_known() -> None:
    assert {GO_ON, NO_TEXT, OPENING_STUB} < NO_WORDS


SKILL = '<skill name="{name}">\n## Goal\n</skill>'
ASKED = {name: walk.slots[0].question for name, walk in ARCS.items()}


STRANGE = (
    "<skill name=" * 1500,
    "<a>" * 6000,
    "later " * 3000,
    " " * 19_000 + "x",
    "no, " * 5000,
    "1. " * 6000,
    "i should i " * 1800,
    "a" * 20_000,
    "“" * 20_000,
    "not x but " * 90,
    "change the " * 90,
)


@pytest.mark.slow
@pytest.mark.parametrize(("arc", "strange"), list(zip(cycle(ARCS), STRANGE, strict=False)))
def test_long_strange_words_are_taken_at_once(arc: str, strange: str) -> None:
    skill = SKILL.format(name=arc.replace("_", "-"))
    body = request_body(tools=CHAT_TOOLS.definitions())
    body["messages"] = [user(skill, "hi"), assistant(ASKED[arc]), user(strange)]
    begun = time.process_time()
    assert answer(body).blocks
    assert time.process_time() - begun < 2.0


SAID = st.one_of(
    st.text(min_size=1, max_size=200).filter(str.strip),
    st.sampled_from(
        [words for words, _ in HEARD] + ["yes", "change", "tired", "plan my day", "Weigh a decision"]
    ),
)


@pytest.mark.slow
@given(said=st.lists(SAID, min_size=1, max_size=8), arc=st.sampled_from([*ARCS, ""]))
@settings(max_examples=examples(100), deadline=None)
def test_whatever_is_said_it_has_an_answer_that_can_be_sent_back(said: list[str], arc: str) -> None:
    body = request_body(tools=CHAT_TOOLS.definitions(), messages=[])
    for words in said:
        context = [SKILL.format(name=arc.replace("_", "-"))] if arc and not body["messages"] else []
        body["messages"].append(user(*context, words))
        reply = answer(body)
        assert reply.blocks
        assert all(block.text.strip() for block in reply.blocks if isinstance(block, Text | Note))
        texts = [block.text for block in reply.blocks if isinstance(block, Text)]
        asked = [call.input.get("prompt", "") for call in reply.calls]
        body["messages"].append(assistant("\n".join([*texts, *asked]).strip() or "Mm-hm."))


@pytest.mark.slow
@pytest.mark.parametrize(
    "offered", [{"load_skill"}, {"show_options"}, {"save_file"}, {"read_file"}, set(), TOOL_NAMES]
)
def test_it_calls_no_tool_that_the_request_does_not_offer(offered: frozenset[str]) -> None:
    tools = [tool for tool in CHAT_TOOLS.definitions() if tool["name"] in offered]
    wishes = [
        "hi", "plan my day", "Draw my life map", "let's decide something", "Do you remember the cello?",
        "note something about me", "I work nights", "yes", "use the decision helper", "I want to die", "menu",
    ]  # fmt: skip
    called: set[str] = set()
    for arc in ("", *ARCS):
        body = request_body(tools=tools, messages=[])
        for wish in wishes:
            context = [SKILL.format(name=arc.replace("_", "-"))] if arc and not body["messages"] else []
            body["messages"].append(user(*context, wish))
            reply = answer(body)
            called |= {made.name for made in reply.calls}
            said = "\n".join(block.text for block in reply.blocks if isinstance(block, Text))
            body["messages"].append(assistant(said or "Mm-hm."))
    assert called <= offered
    assert called or not offered & {"load_skill", "show_options", "save_file"}
