"""The coach's sentences for opening and closing a day, and for grounding."""

from coaching.practice.coach.arc_wording import Question

OPEN_DAY_GREETINGS = (
    "Good morning. Two minutes for the day before it starts.",
    "Good morning. Let's give this day a shape.",
)
OPEN_DAY_ENTRIES = ("Good, let's open the day. Two minutes.", "Gladly. Two minutes for the day.")
WAKE = Question(
    ("How did you wake up today?", "First you: how is it to be you this morning?"),
    (
        ("Rested", "rested"),
        ("All right", "all right"),
        ("Tired", "tired"),
        ("It's all too much", "too much"),
    ),
)
WAKE_REACTIONS = {
    "rested": "Good. That's something to build on.",
    "all right": "All right is enough to begin with.",
    "tired": "Then the plan may be a small one.",
}
MATTERS = Question(
    (
        "What matters today? One to three things are plenty.",
        "Which one to three things would make this a good day?",
    )
)
MATTERS_CHOICE = Question(
    (
        "Then just one: which would do this day good?",
        "Let's make it smaller: which of these would help today most?",
    ),
    (
        ("One thing that I've put off", "One thing that I've put off"),
        ("Time with somebody", "Time with somebody"),
        ("Something for my body", "Something for my body"),
        ("A real pause", "A real pause"),
    ),
)
THREE_KEPT = ("I've taken the first three; the rest may come along if there is room.",)
INTENTION = Question(
    (
        "And how would you like to be in this day? An intention is a way of being, like “unhurried”.",
        "One more: in which spirit do you want to go through it? A word is enough.",
    )
)
INTENTION_CHOICE = Question(
    ("Would one of these fit today?", "Perhaps one of these?"),
    (
        ("Unhurried", "Unhurried"),
        ("One thing at a time", "One thing at a time"),
        ("Kind to myself", "Kind to myself"),
        ("Finish what I open", "Finish what I open"),
    ),
)

GROUND = Question(
    (
        (
            "That's a lot at once. You don't have to plan anything now. Put both feet on the floor and "
            "let one breath "
            "out, slowly. What would help most, right now?"
        ),
        (
            "Then the plan can wait. Feel the chair under you, and breathe out longer than in. What do "
            "you need first?"
        ),
    ),
    (
        ("To be heard", "heard"),
        ("To calm down", "calm"),
        ("To sort things", "sort"),
    ),
)
GROUND_NEXT = {
    "heard": Question(
        (
            "I'm here. Tell me what is the heaviest part of it; you needn't put it well.",
            "Then say it as it comes. What weighs most?",
        )
    ),
    "calm": Question(
        (
            "Look around you and name five things that you can see. Take your time. What are they?",
            "Say slowly what is around you: what do you see, what do you hear?",
        )
    ),
    "sort": Question(
        (
            "Not the whole day: only the next hour. What is in it, and what of that could wait?",
            "Only the next hour, then. What has to happen in it, and who could help?",
        )
    ),
}
GROUND_AFTER = (
    (
        "You've just got through the last few minutes, and that was you. I'm only a script; somebody who "
        "knows you can "
        "do more, so please let one person know how it is."
    ),
    "That took some doing. And because I'm a script and no more: who could you tell about this today?",
)
GROUND_RETURN = Question(
    (
        "Shall we still give the day a very small plan, or leave it?",
        "A small plan for today, or none at all?",
    ),
    (("A very small one", "small"), ("Leave it for today", "leave")),
)
KIND_THING = Question(
    (
        "Then one kind thing, for you: what could it be today?",
        "What is the one kind thing that this day should hold?",
    )
)

CLOSE_DAY_GREETINGS = (
    "Good evening. Let's lay this day down.",
    "Good evening. A few minutes, and the day may rest.",
)
CLOSE_DAY_ENTRIES = ("Good, let's close the day.", "Gladly. Let's lay the day down.")
DAY = Question(("How was the day, before we ask what got done?", "What was this day like, from the inside?"))
ENERGY = Question(
    ("How much energy is left?", "And your energy, at the end of it?"),
    (("Plenty", "plenty"), ("Some", "some"), ("Little", "little"), ("None at all", "none")),
)
MOOD = Question(
    ("Which mood does the day leave you in?", "And the mood, in a word?"),
    (
        ("Content", "content"),
        ("Calm", "calm"),
        ("Mixed", "mixed"),
        ("Tense", "tense"),
        ("Low", "low"),
    ),
)
TOUCHED = Question(
    ("Which part of life was it mostly about?", "Where in your life did this day mostly happen?"),
    (
        ("Work", "career"),
        ("People", "relationships"),
        ("My body", "health"),
        ("Learning something", "learning"),
        ("Making something", "creativity"),
        ("Fun and rest", "play"),
    ),
)
KEEP = Question(
    (
        (
            "Which moment of it is worth keeping? And is there something that you want to put down "
            "before you sleep?"
        ),
        "One moment to keep, one thing to let go of for tonight: what comes to mind?",
    )
)
CONFIRM = Question(
    (
        "It's saved. In short: {word}. Does that feel right?",
        "The log says: {word}. Is it right so?",
        "So it stands now: {word}. Is that true to the day?",
    ),
    (("Yes, that's it", "yes"), ("Change something", "change")),
)
CHANGE = Question(
    (
        "What should be different? Say it as it should stand, or name what I should leave out.",
        "Tell me what to change: something to add, to leave out, or another word for mood or energy.",
        "Gladly. How should it read?",
    )
)
HARD_DAY = ("A hard day may stay a hard day.", "That was a lot for one day; it needn't be made pretty.")
