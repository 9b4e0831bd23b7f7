"""Background requests without tools: summaries, briefs, titles and letters, made of topics and quotes."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import ACCOUNT_LANGUAGES, Conversation
from coaching.practice.coach.file_names import clip, join_words
from coaching.practice.coach.hearing import hear
from coaching.practice.coach.spoken import PATTERNS, spoken_language
from coaching.practice.coach.tables import BY_LANGUAGE, DOMAINS, part_within_sentence
from coaching.practice.script import Reply
from coaching.safety.card import danger_in

_TRANSCRIPT = re.compile(r"\A<transcript>\n(.*)\n</transcript>", re.DOTALL)
_LETTER = re.compile(r"\A<letter [^<>\n]*+>\n(.*)\n</letter>", re.DOTALL)
_LINE = re.compile(r'<line date="\w++ (\d{4}-\d\d-\d\d)">((?:[^<]++|<(?!/?line\b))*+)</line>')
_DONE = re.compile(r'<step (?=[^<>]*state="done")[^<>]*+>[^<“]*+“([^<”]++)”')
_BEGINNING = re.compile(r"\A<beginning>\n(.*)\n</beginning>", re.DOTALL)
_BRIEF = re.compile(
    r"\A<brief>\n((?:[^<]++|<(?!/brief>\n))*+)</brief>\n"
    r"<corrections>\n((?:[^<]++|<(?!/corrections>\n))*+)</corrections>\n"
    r"<struck>\n((?:[^<]++|<(?!/struck>\n))*+)</struck>\n"
    r"<transcript>\n(.*)\n</transcript>",
    re.DOTALL,
)
# What is said opens and closes no such section: its brackets are replaced.
_SAID = r"\n((?:[^\n<]++|\n(?!</said>)|<(?!said\b))*+)\n</said>"
_PERSON = re.compile(rf'<said by="person"(?: day="[^"<]*+")?+>{_SAID}')
_SAGE = re.compile(rf'<said by="sage"(?: day="[^"<]*+")?+>{_SAID}')
_NUMBERED = re.compile(rf'<said number="(\d++)" by="person" day="[^"<]*+"( as="answer")?+>{_SAID}')
_SENTENCE = re.compile(r"[^.!?\n…]+[.!?…”]*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TOPICS = {
    code: {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in topics.items()}
    for code, topics in PATTERNS["topics"].items()
}
_PROMISE = re.compile(r"\b(?:i['’]ll|i will|i['’]m going to|ich werde|voy a)\b", re.IGNORECASE)
_LANGUAGE = re.compile(r"^<language>(\w++)</language>", re.MULTILINE)
_TAPPED = "Tapped: "
_TITLE_WORDS = 6
_FEW_WORDS = 3
_SAYS_NOTHING = frozenset(
    {"hello", "thanks", "yes", "no", "continue", "later", "leave", "pause", "menu", "empty", "nonsense"}
)
"""What a sentence is heard as that no conversation is called by."""
_BRIEF_LINES = 20


def do_job(conversation: Conversation) -> Reply | None:
    """Answer a background request; None for a conversation. Recognised by its sections without tools."""
    sent = "" if conversation.offers_tools else conversation.newest_as_sent
    if found := _TRANSCRIPT.match(sent):
        words = _PERSON.findall(found[1])
        with _speaking_as([*_written(words), *([] if _written(words) else _SAGE.findall(found[1]))]):
            return Reply.of(" ".join(_summary(words)))
    if found := _BRIEF.match(sent):
        with _speaking_as([words for _, is_answer, words in _NUMBERED.findall(found[4]) if not is_answer]):
            return _brief(found)
    if found := _LETTER.match(sent):
        with _speaking_as([words for _, words in _LINE.findall(found[1])]):
            return Reply.of(json.dumps({"paragraphs": list(_letter(found[1]))}, ensure_ascii=False))
    if found := _BEGINNING.match(sent):
        words, answers = _PERSON.findall(found[1]), "\n".join(_SAGE.findall(found[1]))
        account = next((ACCOUNT_LANGUAGES.get(name) for name in _LANGUAGE.findall(sent)), None)
        code = spoken_language("\n".join(_written(words))) or account or spoken_language(answers)
        with texts.speaking(code or texts.ENGLISH):
            return Reply.of(_title(words, answers))
    return None


def _speaking_as(words: Sequence[str]) -> AbstractContextManager[None]:
    """Return a block in the language of a person's words."""
    return texts.speaking(spoken_language("\n".join(words)) or texts.ENGLISH)


def _brief(found: re.Match[str]) -> Reply:
    lines = [*found[1].splitlines(), *_brief_lines(found[4])]
    kept = [line for line in lines if line not in found[3].splitlines()][-_BRIEF_LINES:]
    kept = kept or [f"- {texts.of_job('talked')}"]
    left_open = [place for place, line in enumerate(kept, start=1) if _PROMISE.search(line)]
    return Reply.of(json.dumps({"lines": kept, "left_open": left_open[-3:]}, ensure_ascii=False))


def _summary(words: Sequence[str]) -> list[str]:
    words = _written(words)
    topics = _topics_in("\n".join(words))
    topic = texts.of_job("about", topics=topics) if topics else texts.of_job("talked")
    told = [sentence for text in words if _says_something(text) for sentence in _sentences(text)]
    if not told:
        return [topic, texts.of_job("short")]
    last = [texts.of_job("towards_end", words=clip(told[-1], 300))] if len(told) > 1 else []
    return [topic, texts.of_job("said", words=clip(told[0], 300)), *last]


def _brief_lines(transcript: str) -> Iterator[str]:
    for number, is_answer, words in _NUMBERED.findall(transcript):
        if is_answer and (answer := _answered(" ".join(words.split()))):
            yield f"- {texts.of_job('answered', words=clip(answer, 200))} [{number}]"
        elif not is_answer and _says_something(words):
            yield f"- {texts.of_job('said', words=clip(_sentences(words)[0], 80))} [{number}]"


def _answered(words: str) -> str:
    """Return an answer without what requests say of it in English; of ratings and cards nothing is left."""
    if texts.language() == texts.ENGLISH:
        return words
    return words.removeprefix(_TAPPED) if words.startswith(_TAPPED) else ""


def _letter(sent: str) -> Iterator[Mapping[str, object]]:
    """Yield a letter's paragraphs: how the month began and ended, what came up again, what was done."""
    told = sorted((day, _sentences(words)[0]) for day, words in _LINE.findall(sent) if _says_something(words))
    if not told:
        return
    begin, end = told[0], told[-1]
    if begin[0] != end[0]:
        yield _paragraph("moved", texts.of_job("moved"), begin, end)
    for name, pattern in _topics():
        days = {day: sentence for day, sentence in told[1:-1] if pattern.search(sentence)}
        if len(days) > 1:
            yield _paragraph("recurs", texts.of_job("recurs", topics=name), *list(days.items())[:2])
    for quote in _DONE.findall(sent):
        said = next((each for each in told if each[1] == quote), None)
        if said is not None:
            yield _paragraph("done", texts.of_job("done"), said)


def _paragraph(kind: str, text: str, *quotes: tuple[str, str]) -> Mapping[str, object]:
    return {"kind": kind, "text": text, "quotes": [{"words": words, "day": day} for day, words in quotes]}


def _title(said: Sequence[str], answers: str) -> str:
    """Return the subjects of what was written, else its first sentence that says something.

    Without one, the conversation is called by its arc, or by what was tapped first.
    """
    if danger_in("\n".join(said)):
        return "-"
    words = "\n".join(_written(said))
    if topics := _topics_in(words):
        return topics[0].upper() + topics[1:]
    told = [each for each in _sentences(words) if not _says_nothing(each)]
    tapped = [each.removeprefix(_TAPPED) for each in said if each.startswith(_TAPPED)]
    first = [*told, *_arcs_begun(answers), *tapped, texts.of_job("conversation")][0].split()
    return " ".join(first[:_TITLE_WORDS]).rstrip(".,;:!?") + ("…" if len(first) > _TITLE_WORDS else "")


def _says_nothing(sentence: str) -> bool:
    """Return whether no conversation is called by a sentence; of few words the language may not show."""
    is_brief = len(sentence.split()) <= _FEW_WORDS
    for code in texts.LANGUAGES if is_brief else (texts.language(),):
        with texts.speaking(code):
            if hear(sentence).kind in _SAYS_NOTHING:
                return True
    return False


def _arcs_begun(answers: str) -> Sequence[str]:
    """Return the names of the arcs whose opening Sage has said."""
    names = {value: label for label, value in texts.choices("menu")}
    walks = [walk for known in BY_LANGUAGE.values() for walk in known.values() if walk.is_arc]
    return [names[walk.name] for walk in walks if walk.opening in answers]


def _written(said: Sequence[str]) -> Sequence[str]:
    return [words for words in said if not words.startswith(_TAPPED)]


def _topics_in(text: str) -> str:
    return join_words([name for name, pattern in _topics() if pattern.search(text)])


def _topics() -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return the names of topics in the language that is spoken, each with its pattern."""
    patterns = _TOPICS[texts.language()]
    return [(part_within_sentence(name), patterns[name]) for name in DOMAINS]


def _sentences(text: str) -> list[str]:
    return [" ".join(part.split()) for part in _SENTENCE.findall(text) if _WORD.search(part)]


def _says_something(text: str) -> bool:
    return len(_WORD.findall(text)) >= 3 and hear(text).kind in {
        "answer",
        "foreign",
        "grief",
        "long",
        "remark",
    }
