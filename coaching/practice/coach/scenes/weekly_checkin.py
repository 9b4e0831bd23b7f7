"""The weekly check-in: the week in words, a pulse check, what moved, themes and one intention.

It stays with a domain in trouble and keeps the rest brief.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from coaching.practice.coach.arc_files import ArcFile, bold_items, preview, quotes
from coaching.practice.coach.arc_hearing import hear_list, is_skip, one_line
from coaching.practice.coach.arc_steps import is_pulse_settled, react_to_words, show_pulse, words_for_or_first
from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.arc_wording import NODS
from coaching.practice.coach.header import domains_in_crisis
from coaching.practice.coach.listening import (
    DOMAINS,
    domains_in,
    hear_intent,
    salient_words,
)
from coaching.practice.coach.scenes.deep_dive import build_page, stay_with, step_of
from coaching.practice.coach.week_wording import (
    EVEN,
    FIRST_PULSE,
    HELD,
    MOVED,
    MOVEMENT,
    PULSE,
    PULSE_SKIPPED,
    SURPRISE,
    THEMES,
    THEMES_GUESSED,
    WEEK,
    WEEK_INTENTION,
    WEEKLY_ENTRIES,
    WEEKLY_GREETINGS,
)
from coaching.practice.coach.wording import HEAVY_REPLIES, join_words, pick
from coaching.practice.script import Reply

GREETINGS, ENTRIES = WEEKLY_GREETINGS, WEEKLY_ENTRIES
_STILL_LOW = 2
Ratings = Mapping[str, Mapping[str, Any]]


def go_on(arc: ArcTalk, lead: str = "") -> Reply:
    """Take the next step of the check-in."""
    if not _told(arc) and not arc.is_settled(WEEK):
        return arc.ask(WEEK, lead)
    lead = lead or _react(arc)
    if not is_pulse_settled(arc):
        return show_pulse(arc, PULSE, lead)
    if (domain := _in_trouble(arc)) and (staying := stay_with(arc, domain, lead)):
        return staying
    if not domain and (asked := _ask_about_movement(arc, lead)):
        return asked
    if not _are_themes_settled(arc):
        guessed = _guess_themes(arc)
        if len(guessed) > 1:
            return arc.ask(THEMES_GUESSED, lead, word=join_words([f"“{theme}”" for theme in guessed]))
        return arc.ask(THEMES, lead)
    if not step_of(arc, domain) and not arc.is_settled(WEEK_INTENTION):
        return arc.ask(WEEK_INTENTION, lead)
    return arc.write(*_files(arc, domain)) or arc.complete()


def ratings_of(arc: ArcTalk) -> Ratings:
    """Return the pulse taken in this arc, or empty."""
    return next((e.ratings for e in reversed(arc.exchanges) if e.ratings is not None), {})


def _told(arc: ArcTalk) -> str:
    return words_for_or_first(arc, WEEK)


def _react(arc: ArcTalk) -> str:
    newest = arc.newest
    if newest is None:
        return ""
    if newest.ratings is not None:
        return _say_moved(newest.ratings)
    if not newest.is_tapped and PULSE.is_in(newest.question):
        return pick(PULSE_SKIPPED, arc.conversation)
    if newest.is_tapped or THEMES.is_in(newest.question) or THEMES_GUESSED.is_in(newest.question):
        return pick(NODS, arc.conversation)
    return react_to_words(arc, newest.answer, HEAVY_REPLIES)


def _say_moved(ratings: Ratings) -> str:
    domain = _moved(ratings)
    news = {name: entry["new"] for name, entry in ratings.items() if isinstance(entry.get("new"), int)}
    if not news:
        return ""
    if domain:
        values = ratings[domain]
        return MOVED[len(news) % len(MOVED)].format(word=domain, old=values["old"], new=values["new"])
    if any(entry.get("old") is not None for entry in ratings.values()):
        return HELD[0]
    high, low = max(news, key=news.__getitem__), min(news, key=news.__getitem__)
    return EVEN[0] if news[high] == news[low] else FIRST_PULSE[0].format(high=high, low=low)


def _moved(ratings: Ratings) -> str:
    """Return the domain that moved most, falls before rises; empty if none did."""
    changes = {
        name: entry["change"] for name, entry in ratings.items() if isinstance(entry.get("change"), int)
    }
    moved = [name for name in changes if changes[name]]
    return max(moved, key=lambda name: (abs(changes[name]), -changes[name]), default="")


def _in_trouble(arc: ArcTalk) -> str:
    """Return the domain to stay with: rated 1, fallen far, named, or in crisis.

    One whose page says in crisis counts until the pulse improves.
    """
    ratings = ratings_of(arc)
    for name, entry in sorted(ratings.items(), key=lambda item: item[1].get("new") or 5):
        new, change = entry.get("new"), entry.get("change")
        if new == 1 or (isinstance(new, int) and new == 2 and isinstance(change, int) and change <= -2):
            return name
    told = [s for text in (_told(arc), *_notes(arc)) for s in text.split(".") if "in crisis" in s.lower()]
    known = [
        name
        for name in domains_in_crisis(arc.conversation)
        if (ratings.get(name, {}).get("new") or 1) <= _STILL_LOW
    ]
    return next((name for sentence in told for name in domains_in(sentence)), "") or next(iter(known), "")


def _notes(arc: ArcTalk) -> Sequence[str]:
    return [exchange.answer for exchange in arc.exchanges if exchange.ratings is not None]


def _ask_about_movement(arc: ArcTalk, lead: str) -> Reply | None:
    ratings = ratings_of(arc)
    lowest = min(ratings, key=lambda name: ratings[name].get("new") or 5, default="")
    domain = _moved(ratings) or (lowest if (ratings.get(lowest, {}).get("new") or 5) < 4 else "")
    question = MOVEMENT if domain else SURPRISE
    if arc.is_settled(MOVEMENT) or arc.is_settled(SURPRISE):
        return None
    return arc.ask(question, lead, word=domain)


def _are_themes_settled(arc: ArcTalk) -> bool:
    return arc.is_settled(THEMES) or arc.is_settled(THEMES_GUESSED)


def _guess_themes(arc: ArcTalk) -> list[str]:
    """Return up to three of the user's words as possible themes."""
    return [word.lower() for word in salient_words(f"{_told(arc)}\n{arc.words_for(MOVEMENT, SURPRISE)}", 3)]


def _themes(arc: ArcTalk) -> list[str]:
    guessed = arc.answer_to(THEMES_GUESSED)
    if guessed is not None:
        if hear_intent(guessed.answer, was_offered=True) == "yes" or guessed.answer.lower().startswith(
            ("they", "that")
        ):
            return _guess_themes(arc)
        return [] if is_skip(guessed.answer) else list(hear_list(guessed.answer, 3))
    words = arc.words_for(THEMES)
    if not words:
        return _guess_themes(arc) if arc.is_hurried else []
    return list(hear_list(words if "," in words or "\n" in words else words.replace(" and ", ", "), 3))


def _files(arc: ArcTalk, domain: str) -> Sequence[ArcFile]:
    intention = step_of(arc, domain) or arc.words_for(WEEK_INTENTION)
    files = [_checkin(arc, domain, intention)]
    if intention:
        files.append(
            ArcFile(
                file_type="weekly-plan",
                title="This week",
                sections=[("What I carry into it", quotes(intention))],
                attributes={"intention": one_line(intention), "preview_line": preview(intention)},
            )
        )
    if page := build_page(arc, domain):
        files.append(page)
    return files


def _checkin(arc: ArcTalk, domain: str, intention: str) -> ArcFile:
    told, more = _told(arc), arc.words_for(MOVEMENT, SURPRISE)
    themes, ratings = _themes(arc), ratings_of(arc)
    page = build_page(arc, domain)
    deep = [line for _, lines in page.sections for line in lines] if page else []
    touched = [name for name in DOMAINS if name in domains_in(f"{told}\n{more}") or name == domain]
    return ArcFile(
        file_type="check-in",
        title="The week",
        sections=[
            ("As you told it", quotes(told)),
            *(
                [("The pulse", [_pulse_line(name, ratings[name]) for name in DOMAINS if name in ratings])]
                if ratings
                else []
            ),
            *(
                [("Looked at more closely", [*quotes(more, *_notes(arc)), *deep])]
                if more or deep or any(_notes(arc))
                else []
            ),
            ("Themes", bold_items(themes)),
            ("For the week to come", quotes(intention)),
        ],
        attributes={"themes": themes, "domains_touched": touched, "preview_line": preview(told)},
    )


def _pulse_line(name: str, entry: Mapping[str, Any]) -> str:
    before = f", before {entry['old']}" if entry.get("old") is not None else ""
    return f"- **{name.title()}**: {entry.get('new')}{before}"
