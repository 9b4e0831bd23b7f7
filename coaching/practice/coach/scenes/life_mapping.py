"""Life mapping: two domains at a time, a page for each, then overview, plan and context.

What the user says about any domain is kept; "later" is an answer. Pages are saved as soon as they are
complete, so the user may stop at any time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coaching.practice.coach.arc_files import STILL_OPEN, ArcFile, preview, quotes
from coaching.practice.coach.arc_hearing import hear_domains, hear_rating, hear_status, is_skip
from coaching.practice.coach.arc_steps import is_pulse_settled, show_pulse
from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.arc_wording import NODS, PASSED, Choice
from coaching.practice.coach.file_names import files_in_words
from coaching.practice.coach.listening import DOMAINS, domains_in, is_heavy, is_substance
from coaching.practice.coach.map_wording import (
    ACROSS,
    ALL_PULSE,
    ANY_GROUP,
    DIRECTION,
    ENOUGH,
    FIRST,
    FIRST_STEP,
    GROUP,
    GROUP_WRITTEN,
    GROUPS,
    MAP_ENTRIES,
    MAP_GREETINGS,
    NEXT,
    ONE,
    REMEMBER,
)
from coaching.practice.coach.story import Exchange
from coaching.practice.coach.wording import HEAVY_REPLIES, join_words, pick
from coaching.practice.script import Reply

GREETINGS, ENTRIES = MAP_GREETINGS, MAP_ENTRIES
_WORDS_OF_A_CHOICE = 5
_LATER = "*Left for later, as you wished.*"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What was said about each domain. `at` is the position of the last words about it."""

    told: Mapping[str, Sequence[str]]
    later: frozenset[str]
    at: Mapping[str, int]

    @property
    def known(self) -> Sequence[str]:
        """Return the answered domains, in the fixed order."""
        return [name for name in DOMAINS if name in self.told or name in self.later]


def go_on(arc: ArcTalk, lead: str = "") -> Reply:
    """Take the next step of the map."""
    heard = _listen(arc)
    if arc.is_beginning:
        return _ask_for_domains(arc, heard, lead) or arc.ask(DIRECTION, lead)
    if written := arc.write(*(_page(name, heard) for name in heard.known)):
        return written
    if any(exchange.value == ENOUGH[1] for exchange in arc.exchanges):
        return arc.complete(is_leaving=True)
    lead = lead or _react(arc)
    if not arc.is_hurried and (asked := _ask_for_domains(arc, heard, lead)):
        return asked
    if not is_pulse_settled(arc):
        return show_pulse(arc, ALL_PULSE, lead)
    for question in (DIRECTION, FIRST_STEP, REMEMBER):
        if not arc.is_settled(question):
            return arc.ask(question, lead)
    return arc.write(*_last_files(arc, heard)) or arc.complete()


def _ask_for_domains(arc: ArcTalk, heard: _Heard, lead: str) -> Reply | None:
    """Ask for the domains that were named but not answered, then for a group, then which one is next."""
    groups = [key for key, (_, names) in GROUPS.items() if any(name not in heard.known for name in names)]
    for key in groups:
        open_names = [name for name in GROUPS[key][1] if name not in heard.known]
        label = join_words(GROUPS[key][1])
        if _has_been_asked(arc, label) and len(open_names) < len(GROUPS[key][1]):
            return arc.ask(ONE, lead, word=open_names[0])
    if not groups:
        return None
    chosen = _chosen_group(arc, groups)
    if not chosen and len(groups) > 1 and not _is_choice_made(arc):
        question = NEXT if FIRST.is_in(_all_asked(arc)) or heard.known else FIRST
        choices: list[Choice] = [(GROUPS[key][0], key) for key in groups]
        choices.append(ENOUGH if heard.known else ANY_GROUP)
        return arc.ask(question, lead, choices=choices)
    names = [name for name in GROUPS[chosen or groups[0]][1] if name not in heard.known]
    if len(names) == 1:
        return arc.ask(ONE, lead, word=names[0])
    return arc.ask(GROUP, lead, word=join_words(names))


def _listen(arc: ArcTalk) -> _Heard:
    """Sort everything that was said by domain."""
    told: dict[str, list[str]] = {}
    later: set[str] = set()
    at: dict[str, int] = {}
    asked_alone: Counter[str] = Counter()
    for exchange in arc.exchanges:
        if exchange.is_tapped or _is_about_the_whole(exchange) or _is_choice(exchange):
            continue
        asked = _asked_in(exchange)
        if not asked and not (is_substance(exchange.answer) and domains_in(exchange.answer)):
            continue
        heard = hear_domains(exchange.answer, asked)
        for name, words in heard.told.items():
            told.setdefault(name, []).extend(words)
            later.discard(name)
            at[name] = exchange.position
        later |= {name for name in heard.later if name not in told}
        if len(asked) == 1:
            asked_alone[asked[0]] += 1
            later |= {name for name in asked if asked_alone[name] > 1 and name not in told}
    return _Heard(told, frozenset(later), at)


def _asked_in(exchange: Exchange) -> Sequence[str]:
    """Return the domains that a question named."""
    for _, names in GROUPS.values():
        if GROUP.is_in(exchange.question, join_words(names)):
            return names
    return [name for name in DOMAINS if ONE.is_in(exchange.question, name)]


def _is_choice(exchange: Exchange) -> bool:
    """Return whether words only choose how to continue."""
    was_choice = FIRST.is_in(exchange.question) or NEXT.is_in(exchange.question)
    return was_choice and len(exchange.answer.split()) <= _WORDS_OF_A_CHOICE


def _is_about_the_whole(exchange: Exchange) -> bool:
    return any(question.is_in(exchange.question) for question in (DIRECTION, FIRST_STEP, REMEMBER))


def _has_been_asked(arc: ArcTalk, label: str) -> bool:
    return GROUP.is_in(_all_asked(arc), label)


def _all_asked(arc: ArcTalk) -> str:
    return "\n\n".join(exchange.question for exchange in arc.exchanges)


def _is_choice_made(arc: ArcTalk) -> bool:
    """Return whether the newest answer chose "You choose", or skipped the choice."""
    newest = arc.newest
    if newest is None:
        return False
    was_choice = FIRST.is_in(newest.question) or NEXT.is_in(newest.question)
    return was_choice and (
        newest.value == ANY_GROUP[1] or (not newest.is_tapped and not domains_in(newest.answer))
    )


def _chosen_group(arc: ArcTalk, groups: Sequence[str]) -> str:
    newest = arc.newest
    if newest is None:
        return ""
    if newest.value in groups:
        return newest.value
    if newest.is_tapped or not (FIRST.is_in(newest.question) or NEXT.is_in(newest.question)):
        return ""
    words = newest.answer.lower()
    named = [key for key in groups if any(part in words for part in GROUPS[key][0].lower().split(" and "))]
    found = [key for key in groups if set(GROUPS[key][1]) & set(domains_in(newest.answer))]
    return next(iter([*named, *found]), "")


def _react(arc: ArcTalk) -> str:
    if arc.saved_now:
        return pick(GROUP_WRITTEN, arc.conversation).format(word=join_words(files_in_words(arc.saved_now)))
    newest = arc.newest
    if newest is None:
        return ""
    if newest.ratings:
        news = {
            name: entry["new"] for name, entry in newest.ratings.items() if isinstance(entry.get("new"), int)
        }
        high, low = max(news, key=lambda n: news[n], default=""), min(news, key=lambda n: news[n], default="")
        return ACROSS[0].format(high=high, low=low) if news and news[high] > news[low] else ""
    if newest.is_tapped:
        return ""
    if is_heavy(newest.answer):
        return pick(HEAVY_REPLIES, arc.conversation)
    return pick(PASSED if is_skip(newest.answer) else NODS, arc.conversation)


def _page(name: str, heard: _Heard) -> ArcFile:
    words = heard.told.get(name, ())
    if not words:
        return ArcFile(
            file_type="domain",
            file_name=name,
            title=name.title(),
            sections=[("Where it stands", [_LATER])],
            attributes={"preview_line": "Left for later"},
            is_kept_if_there=True,
        )
    status, rating = hear_status(words), hear_rating(words)
    return ArcFile(
        file_type="domain",
        file_name=name,
        title=name.title(),
        sections=[("Where it stands, as you told it", quotes(*words)), ("Next small step", [STILL_OPEN])],
        attributes={"status": status, "updated_rating": rating, "preview_line": preview(words[0])},
        quotes_under="Where it stands, as you told it",
        newer_than=heard.at.get(name, 0),
    )


def _last_files(arc: ArcTalk, heard: _Heard) -> Sequence[ArcFile]:
    direction, step, remember = (arc.words_for(question) for question in (DIRECTION, FIRST_STEP, REMEMBER))
    ratings: dict[str, Any] = {}
    for exchange in arc.exchanges:
        ratings |= exchange.ratings or {}
    lines = [_overview_line(name, heard, ratings.get(name, {}).get("new")) for name in DOMAINS]
    overview = ArcFile(
        file_type="overview",
        title="My life, as it stands",
        sections=[("The eight", lines), ("How it hangs together", quotes(direction))],
        attributes={"domains_touched": list(heard.told), "preview_line": preview(direction)},
    )
    plan = ArcFile(
        file_type="life-plan",
        title="Where I want to go",
        sections=[("Direction", quotes(direction)), ("First step", quotes(step))],
        attributes={"preview_line": preview(direction)},
    )
    context = ArcFile(
        file_type="sage-context",
        title="What to remember",
        sections=[("In your words", quotes(remember)), ("What you are heading for", quotes(direction, step))],
        attributes={"preview_line": preview(remember)},
    )
    return [overview, plan, context]


def _overview_line(name: str, heard: _Heard, rating: Any) -> str:
    words = heard.told.get(name)
    said = (
        f"“{preview(words[0])}”"
        if words
        else "left for later"
        if name in heard.later
        else "not spoken of yet"
    )
    number = rating or (hear_rating(words) if words else None)
    return f"- **{name.title()}**{f' ({number} of 5)' if number else ''}: {said}"
