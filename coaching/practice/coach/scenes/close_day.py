"""Closing the day: how it was, what to keep, a log in the user's words; completed only after their yes."""

import re
from collections.abc import Sequence

from coaching.practice.coach.arc_files import ArcFile, preview, quotes
from coaching.practice.coach.arc_hearing import is_skip
from coaching.practice.coach.arc_steps import react_to_words, words_for_or_first
from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.arc_wording import Question
from coaching.practice.coach.day_wording import (
    CHANGE,
    CLOSE_DAY_ENTRIES,
    CLOSE_DAY_GREETINGS,
    CONFIRM,
    DAY,
    ENERGY,
    HARD_DAY,
    KEEP,
    MOOD,
    TOUCHED,
)
from coaching.practice.coach.listening import (
    DOMAINS,
    domains_in,
    hear_intent,
    sentences_of,
)
from coaching.practice.coach.story import Exchange
from coaching.practice.coach.wording import join_words
from coaching.practice.script import Reply

GREETINGS, ENTRIES = CLOSE_DAY_GREETINGS, CLOSE_DAY_ENTRIES
_LEAVE_OUT = re.compile(
    r"\b(?:leave out|remove|delete|take out|drop|without|don'?t (?:mention|"
    r"write))\b(?: the part about| the| that| my| about)*\s*(.*)",
    re.IGNORECASE,
)
_FURTHER_WORDS = {
    "plenty": "energetic|full of energy|lots",
    "little": "tired|low energy",
    "none": "exhausted|empty|drained",
    "content": "happy|glad|grateful",
    "calm": "peaceful|relaxed",
    "tense": "stressed|anxious|nervous|angry",
    "low": "sad|down|gloomy",
}


def go_on(arc: ArcTalk, lead: str = "") -> Reply:
    """Take the next step of closing the day."""
    if not _told(arc) and not arc.is_settled(DAY):
        return arc.ask(DAY, lead)
    lead = lead or _react(arc)
    for question in (ENERGY, MOOD):
        if not arc.is_settled(question):
            return arc.ask(question, lead)
    if not arc.is_settled(KEEP):
        return arc.ask(KEEP, lead)
    if not _touched(arc) and not arc.is_settled(TOUCHED):
        return arc.ask(TOUCHED, lead)
    answer = arc.answer_to(CONFIRM)
    if answer is not None and _wants_change(answer) and _correction(arc, answer) is None:
        return arc.ask(CHANGE)
    written = arc.write(_log(arc))
    if written is not None:
        return written
    is_confirmed = answer is not None and not _wants_change(answer) and not _is_correction(answer)
    if not arc.saves_of(("daily-log", "")) or is_confirmed:
        return arc.complete()
    return arc.ask(CONFIRM, word=_summary(arc))


def _react(arc: ArcTalk) -> str:
    newest = arc.newest
    if newest is None or newest.is_tapped:
        return ""
    return react_to_words(arc, newest.answer, HARD_DAY)


def _told(arc: ArcTalk) -> str:
    """Return how the day was, from the answer or the user's first words."""
    return words_for_or_first(arc, DAY)


def _wants_change(answer: Exchange) -> bool:
    if answer.is_tapped:
        return answer.value == "change"
    if hear_intent(answer.answer, was_offered=True) in {"yes", "goodbye", "thanks"}:
        return False
    return is_skip(answer.answer) or bool(
        re.fullmatch(r"\W*(?:no|not quite|change|change something|almost)\W*", answer.answer, re.IGNORECASE)
    )


def _is_correction(answer: Exchange) -> bool:
    """Return whether the user wrote a correction instead of yes or no."""
    if answer.is_tapped or _wants_change(answer):
        return False
    return hear_intent(answer.answer, was_offered=True) not in {"yes", "thanks", "goodbye", "unsure"}


def _correction(arc: ArcTalk, confirm: Exchange) -> Exchange | None:
    change = arc.answer_to(CHANGE)
    return change if change is not None and change.position > confirm.position else None


def _corrections(arc: ArcTalk) -> Sequence[Exchange]:
    return [
        exchange
        for exchange in arc.exchanges
        if CHANGE.is_in(exchange.question) or (CONFIRM.is_in(exchange.question) and _is_correction(exchange))
    ]


def _choice(arc: ArcTalk, values: Sequence[str], first: str) -> str:
    """Return the tapped or typed value; a correction with another value counts."""
    chosen = first
    for correction in _corrections(arc):
        for value in values:
            if re.search(
                rf"\b(?:{value}|{_FURTHER_WORDS.get(value, value)})\b", correction.answer, re.IGNORECASE
            ):
                chosen = value
    return chosen


def _energy(arc: ArcTalk) -> str:
    return _choice(arc, [value for _, value in ENERGY.choices], _said(arc, ENERGY))


def _mood(arc: ArcTalk) -> str:
    return _choice(arc, [value for _, value in MOOD.choices], _said(arc, MOOD))


def _said(arc: ArcTalk, question: Question) -> str:
    answer = arc.answer_to(question)
    if answer is None or (not answer.is_tapped and is_skip(answer.answer)):
        return ""
    return (answer.value or " ".join(answer.answer.split())[:80]).lower()


def _touched(arc: ArcTalk) -> list[str]:
    tapped = arc.answer_to(TOUCHED)
    text = "\n".join([*_sentences(arc), tapped.answer if tapped else ""])
    names = set(domains_in(text)) | ({tapped.value} if tapped and tapped.value in DOMAINS else set())
    return [name for name in DOMAINS if name in names]


def _sentences(arc: ArcTalk) -> Sequence[str]:
    """Return the log's quotes: everything said about the day, except what should be left out."""
    told = [*sentences_of(_told(arc)), *sentences_of(arc.words_for(KEEP))]
    for correction in _corrections(arc):
        out = _LEAVE_OUT.search(correction.answer)
        if out:
            words = [
                word
                for word in re.findall(r"\w{4,}", out[1].lower())
                if word not in {"part", "about", "that"}
            ]
            told = [s for s in told if not any(word in s.lower() for word in words)]
        else:
            told += sentences_of(correction.answer)
    return told


def _log(arc: ArcTalk) -> ArcFile:
    told = _sentences(arc)
    kept = [sentence for sentence in sentences_of(arc.words_for(KEEP)) if sentence in told]
    day = [sentence for sentence in told if sentence not in kept]
    energy, mood, touched = _energy(arc), _mood(arc), _touched(arc)
    signs = [f"- **{name}**: {value}" for name, value in (("Energy", energy), ("Mood", mood)) if value]
    corrections = _corrections(arc)
    return ArcFile(
        file_type="daily-log",
        title="The day",
        sections=[
            ("As you told it", quotes(*day)),
            *([("Worth keeping, and to let go", quotes(*kept))] if kept else []),
            ("How it leaves you", [*signs, *([f"- **About**: {join_words(touched)}"] if touched else [])]),
        ],
        attributes={
            "energy": energy,
            "mood_signal": mood,
            "domains_touched": touched,
            "preview_line": preview(day[0] if day else ""),
        },
        newer_than=corrections[-1].position if corrections else 0,
    )


def _summary(arc: ArcTalk) -> str:
    energy, mood, touched = _energy(arc), _mood(arc), _touched(arc)
    parts = [f"energy {energy}" if energy else "", f"mood {mood}" if mood else ""]
    parts += [f"about {join_words(touched)}" if touched else ""]
    first = preview(_sentences(arc)[0]) if _sentences(arc) else ""
    parts.insert(0, f"“{first}”" if first else "")
    return ", ".join(part for part in parts if part) or "a day without many words"
