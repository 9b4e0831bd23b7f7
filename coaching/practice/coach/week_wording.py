"""The coach's sentences for the weekly check-in and for staying with one domain."""

from coaching.practice.coach.arc_wording import Question

WEEKLY_GREETINGS = (
    "Hello. Let's look at your week: first in words, then in numbers.",
    "Good to see you. Ten minutes for the week that was.",
)
WEEKLY_ENTRIES = ("Good, let's look at your week.", "Gladly. A look back at the week, then.")
WEEK = Question(
    (
        "How was it, as you would tell a friend?",
        "What kind of week was it? A few sentences are enough.",
    )
)
PULSE = Question(
    (
        "And in numbers: how does each part of your life feel today? Leave out what you don't want to rate.",
        "Now the pulse: a number from 1 to 5 for each, as it feels today.",
    )
)
PULSE_SKIPPED = ("Then without numbers; words will do.", "No ratings this time; that's fine.")
MOVED = (
    "The biggest move is in {word}: from {old} to {new}.",
    "What stands out is {word}: it was {old}, now it is {new}.",
)
FIRST_PULSE = (
    (
        "That's your first pulse, so everything that follows will be measured against it. Highest is "
        "{high}, lowest {low}."
    ),
)
HELD = ("Your numbers held: nothing has moved since last time.",)
EVEN = ("All of them are level.",)
MOVEMENT = Question(
    (
        "What was going on with {word}?",
        "Tell me about {word}: what lies behind that number?",
    )
)
SURPRISE = Question(
    (
        "What in this week surprised you, or held in spite of everything?",
        "Which moment of the week would you like to keep?",
    )
)
THEMES = Question(
    (
        "If the week had two or three themes, which words would you give them?",
        "Two or three words as titles for this week: which would they be?",
    )
)
THEMES_GUESSED = Question(
    (
        "As themes of the week I'd write: {word}. Do they fit, or which words would you choose?",
        "What I heard as themes: {word}. Is that right, or what would you call them?",
    )
)
WEEK_INTENTION = Question(
    (
        "And one intention for the next week, small enough to survive a Wednesday?",
        "What is the one small thing that you want to carry into next week?",
    )
)

SCENE = Question(
    (
        (
            "Let's stay with {word} for a while; the rest of the week can be brief. Tell me one moment "
            "that shows how it is."
        ),
        "I'd like to stay with {word}. Which one scene of this week shows best what is going on there?",
    )
)
HOLDS = Question(
    (
        "And in {word}, what still works, even a little?",
        "What in {word} do you not want to lose?",
    )
)
STATUS = Question(
    ("Which word would you give {word} as it stands now?", "How would you name the state of {word} today?"),
    (
        ("In crisis", "in_crisis"),
        ("It needs attention", "needs_attention"),
        ("Okay", "okay"),
        ("Good", "good"),
        ("Thriving", "thriving"),
    ),
)
STEP = Question(
    (
        "What is the smallest step for {word} that would feel real, and when will it happen?",
        "For {word}, one small step with a day to it: what could that be?",
    )
)
STEP_DONE = ("Having looked at it is already something.", "That's a step that can happen.")
