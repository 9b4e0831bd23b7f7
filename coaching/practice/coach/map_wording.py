"""The coach's sentences for life mapping."""

from coaching.practice.coach.arc_wording import Question

GROUPS = {
    "work": ("Work and money", ("career", "finances")),
    "people": ("People and play", ("relationships", "play")),
    "body": ("Body and learning", ("health", "learning")),
    "making": ("Making and meaning", ("creativity", "meaning")),
}
ANY_GROUP = ("You choose", "any")
ENOUGH = ("That's enough for today", "enough")

MAP_GREETINGS = (
    (
        "We'll draw a map of your life: eight parts of it, two at a time, a few words each. I write a "
        "page for every one, "
        "then an overview and a plan. Say “later” to whatever you'd rather leave; what is saved is "
        "saved, so we can stop "
        "anywhere."
    ),
)
MAP_ENTRIES = (
    (
        "Good, let's draw the map: eight parts of your life, two at a time, in your words. “Later” is "
        "always an answer."
    ),
)
FIRST = Question(("Which first?", "Where would you like to begin?"))
NEXT = Question(("Where next?", "Which one now?", "And from here?"))
GROUP = Question(
    (
        "How do {word} stand? A sentence each; a number from 1 to 5 too, if you like.",
        "Tell me about {word}. What is good, what isn't? Numbers from 1 to 5 are welcome.",
        (
            "Then {word}: how is each of them at the moment? A word like thriving, okay or needs "
            "attention helps as well."
        ),
        "And how is it with {word}? Say as much as you like, or “later”.",
    )
)
ONE = Question(
    (
        "And what about {word}?",
        "That leaves {word}. How does it stand?",
        "And {word}: a few words, or “later”?",
        "I haven't heard of {word} yet.",
        "One is missing here: {word}.",
    )
)
GROUP_WRITTEN = ("Written: {word}.", "I've written {word}.", "That's on the map now: {word}.")
ALL_PULSE = Question(
    (
        "All eight have their place. One look across: how does each feel today, from 1 to 5?",
        "That was the last of them. Now all eight side by side, from 1 to 5.",
    )
)
ACROSS = ("Strongest at the moment: {high}. Asking for most: {low}.",)
DIRECTION = Question(
    (
        "When you look at it as a whole: what hangs together, and in which direction do you want to go?",
        "Seen from above: what pulls the rest along, and where should it lead within a year?",
    )
)
FIRST_STEP = Question(
    (
        "And a first step in that direction, for this week?",
        "What would be a first step, small enough for this week?",
    )
)
REMEMBER = Question(
    (
        "Last one: what should I remember about you, so that you never have to say it twice?",
        "And what should I always know about you when we talk?",
    )
)
