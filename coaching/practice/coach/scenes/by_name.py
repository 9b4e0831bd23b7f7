"""Approaches requested by name, and the skills in use.

Elsewhere an approach is never announced; here the user has mentioned it first.
"""

import re
from collections.abc import Mapping, Sequence

from coaching.practice.coach.arc_talk import ArcTalk, say
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.offer_wording import (
    BACK_TO_ARC,
    IN_PLAY,
    NAMED_OPENINGS,
    NOTHING_IN_PLAY,
    TO_ASK_FOR,
)
from coaching.practice.coach.scenes.skills import load_quietly
from coaching.practice.coach.story import ARCS, open_span, read_story, skill_sections
from coaching.practice.coach.wording import INTRODUCTION, join_words, pick
from coaching.practice.script import Reply

_ASKING = re.compile(
    r"\b(?:which|what) (?:\w+ ){0,3}(?:skills?|approach(?:es)?) (?:\w+ ){0,4}"
    r"(?:in (?:play|use|mind)|active|are there|(?:do|are|can) you (?:have|use|using|know))\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:use|using|try|load|take|start|begin|do|want|like|need|with|please|let'?s|can (?:we|you)|could "
    r"(?:we|you)|show|open|switch)\b",
    re.IGNORECASE,
)
_DIRECTORY = re.compile(r"^Approaches \(`load_skill`\):\n((?:- .*\n?)+)", re.MULTILINE)
_LINE = re.compile(r"^- ([a-z-]+): (.*)$", re.MULTILINE)
_FEW_WORDS = 4


def say_what_is_in_play(conversation: Conversation) -> Reply | None:
    """Name the skills in use and those available, when asked."""
    talk = _talk(conversation)
    if talk.newest is None or talk.newest.is_tapped or not _ASKING.search(talk.newest.answer):
        return None
    names = [_in_words(name) for name in _in_play(talk)]
    told = pick(IN_PLAY, conversation).format(word=join_words(names)) if names else NOTHING_IN_PLAY[0]
    lines = [f"- **{_in_words(name)}**: {says}" for name, says in _directory(conversation).items()]
    return say(told, *([pick(TO_ASK_FOR, conversation), "\n".join(lines)] if lines else []))


def take_up(conversation: Conversation) -> Reply | None:
    """Start an approach that the user names; None if none is named."""
    talk = _talk(conversation)
    name = _named(talk)
    if not name:
        return None
    if quiet := load_quietly(talk, name):
        return quiet
    arc = talk.story.arc
    introduction = INTRODUCTION if conversation.position == 0 else ""
    back = pick(BACK_TO_ARC, conversation) if arc else ""
    return say(introduction, pick(NAMED_OPENINGS[name], conversation), back)


def _talk(conversation: Conversation) -> ArcTalk:
    story = read_story(conversation)
    return ArcTalk(conversation, story, story.arc or open_span(story))


def _named(talk: ArcTalk) -> str:
    """Return the approach that the newest message requests, not only mentions."""
    if talk.newest is None or talk.newest.is_tapped or talk.conversation.is_last_round:
        return ""
    words = talk.newest.answer
    if not _WISH.search(words) and len(words.split()) > _FEW_WORDS:
        return ""
    return next((name for name in NAMED_OPENINGS if _pattern(name).search(words)), "")


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{name.replace('-', '[ _-]*')}\b", re.IGNORECASE)


def _in_play(talk: ArcTalk) -> Sequence[str]:
    """Return the skills whose text is in the request, the current arc first."""
    loaded = [call.outcome for call in talk.story.calls if call.outcome.name == "load_skill"]
    names = [name for message in talk.conversation.messages for name in skill_sections(message)]
    names += [
        str(outcome.input.get("name", "")).partition("/")[0] for outcome in loaded if not outcome.is_error
    ]
    arc = [talk.story.arc.name.replace("_", "-")] if talk.story.arc else []
    approaches = [name for name in names if name and name.replace("-", "_") not in ARCS]
    return list(dict.fromkeys([*arc, *approaches]))


def _directory(conversation: Conversation) -> Mapping[str, str]:
    found = _DIRECTORY.search(conversation.system_text)
    return dict(_LINE.findall(found[1])) if found else {}


def _in_words(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")
