"""The coach's sentences in every arc, and the questions of each.

Text only; `scenes/` decides when to use it. The wordings of different questions must be distinct: the coach
recognises past questions by them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

Choice = tuple[str, str]
"""A choice: its label and its value."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question in several wordings, with `{word}` for a name; `choices` are answers to tap."""

    wordings: Sequence[str]
    choices: Sequence[Choice] = ()

    def is_in(self, text: str, word: str = "") -> bool:
        """Return whether a text asks this question, about `word` if that is given."""
        place = re.escape(word) if word else ".{1,200}?"
        return any(
            re.search(place.join(map(re.escape, wording.split("{word}"))), text) for wording in self.wordings
        )


SHORT_INTRODUCTION = (
    "One plain thing first: I'm the practice coach, a script without a real model behind me. "
    "What we save is real, and yours."
)
ENGLISH_ONLY = "My script knows only English; I'll write down whatever you say just as you say it."

LOOKING = ("First a look at what stands there already.", "Looking at what is there before I write.")
WRITING = ("Writing {word}.", "I'm writing {word} now.", "Now for {word}.")
GOING_ON = ("That's everything; closing this now.", "All of it is in its place. Closing.")
OUT_OF_ROUNDS = (
    "I've used up my steps for one answer. What the files show is saved; say “go on” and I'll do the rest.",
    "That was as much as fits into one answer. Say “go on”, and I'll finish it.",
)
NOT_SAVED = (
    "I couldn't save {word}, not even on a second try, and I don't want to pretend otherwise.",
    "It didn't work: {word} is not saved, though I tried twice.",
)
UNABLE_TO_COMPLETE = (
    (
        "We're through, and what was saved is saved. Only the closing itself isn't in my hands just now; "
        "you can simply leave it here."
    ),
    "That was all. I can't close this myself at the moment, but nothing of it is lost.",
)
NOT_COMPLETED = (
    "I couldn't close this. What came back was: “{word}” Everything that was saved stays.",
    "The closing didn't work; the answer was: “{word}” What we saved is safe.",
)
STILL_MISSING = (
    "Left open: {word}. That can wait for another time.",
    "Not part of it this time: {word}. It may come later.",
)
PAUSED = (
    "Go, by all means. This waits here for you for a day; we go on where we stopped.",
    "Of course. I keep our place for a day, and what is saved stays saved.",
)
STILL_HERE = ("Where were we?", "Back to us.", "Now, then.")
NODS = (
    "Thank you.",
    "Good, I have that.",
    "I hear you.",
    "Thank you for saying it so plainly.",
    "That's clear.",
    "Noted, in your words.",
)
PASSED = ("That can stay open.", "We leave that.", "No need to know that today.")

FAREWELLS = {
    "open_day": (
        "Your plan for today is saved. Go gently, and have a good day.",
        "Saved: that's your day. I wish you an hour in it that is only yours.",
    ),
    "close_day": (
        "The day is written down; you can let it go now. Sleep well.",
        "That's the day, laid down in your words. Rest well.",
    ),
    "weekly_checkin": (
        "That's your week, written down. Thank you for looking at it so honestly.",
        "The week has its page now. Well looked at.",
    ),
    "life_mapping": (
        "Your life map is drawn. You find it under Life map, and every page of it is yours to change.",
        "That's the map: all of it in your own words, under Life map, and open to change.",
    ),
}
LEFT_FAREWELLS = (
    "Then we leave it here. Thank you for the try.",
    "All right, that's the end of it for today.",
)
NEXT_CHECKIN = ("Your next check-in is on {word}.", "We look at the week again on {word}.")
CONVERSATION_GOES_ON = (
    "We can go on talking, if there is more.",
    "And beside that: is there anything else on your mind?",
    "I'm still here if you'd like to talk on.",
)
