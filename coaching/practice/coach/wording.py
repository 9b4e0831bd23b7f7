"""The coach's sentences, chosen without repetition.

Text only; `scenes/` decides when to use it.
"""

from collections.abc import Sequence

from coaching.practice.coach.conversation import Conversation

INTRODUCTION = (
    "Before we begin, one plain thing: I'm the practice coach. I follow a script and there is no "
    "real model behind me, so my answers are simple. What you write here and what we save is "
    "real, though, and it's yours."
)
FIRST_GREETINGS = (
    "Hello, and welcome. I'm Sage.",
    "Hello. I'm Sage, and I'm glad you're here.",
)
FIRST_QUESTION = (
    "So, to start somewhere: what matters to you most at the moment? It can be one word, or a long story."
)
OFFERS = (
    "Shall I write down what you've told me so far? It would go into a file that belongs to you.",
    "Would you like me to write this down, in your own words, so that it doesn't get lost?",
    "If you like, I can write down what we have so far. Shall I?",
)
ACKNOWLEDGEMENTS = (
    "Thank you for telling me.",
    "I hear you.",
    "That's worth staying with.",
    "Thank you, that helps me to see it.",
    "Good that you say it out loud.",
    "I'm with you.",
)
REFLECTION_OPENINGS = (
    "Let me say back what I heard:",
    "If I follow you:",
    "So, in your words:",
    "What stays with me:",
    "As I understand it:",
)
WORD_QUESTIONS = (
    "When you say “{word}”, what does that look like on an ordinary day?",
    "“{word}” stays with me. What is the most important part of it for you?",
    "What would have to change about “{word}” for you to breathe more easily?",
    "If “{word}” went a little better next month, how would you notice first?",
)
OPEN_QUESTIONS = (
    "What would you like to be different a month from now?",
    "What makes this matter to you right now?",
    "What have you already tried, and what did it teach you?",
    "Where in your week do you notice it most?",
    "What is the smallest step that would still count?",
    "Who in your life would be glad if this moved?",
    "What do you want to keep exactly as it is?",
    "If a good friend told you the same story, what would you say to them?",
)
SHORT_ANSWER_REPLIES = (
    "That's all right, there's no hurry. What was on your mind just before you wrote to me?",
    "Fair enough. Let's make it smaller: what was the best moment of this week, and what was the hardest?",
    (
        "You don't have to know yet. Which of these pulls at you most today: work, people, your "
        "health, or something else entirely?"
    ),
    "Then let's start from the body: how did you sleep, and how much energy is there today?",
    (
        "We can also leave it there for now. Is there one small thing that you'd like to have done by "
        "tomorrow evening?"
    ),
)
QUESTION_REPLIES = (
    (
        "That's a real question, and a script like me has no honest answer to it. But you may have "
        "half of one: what does your first instinct say?"
    ),
    (
        "I can't answer that well, I only follow a script. What would make one answer feel more right "
        "to you than another?"
    ),
    "I'd rather not pretend to know. What would you need to find out before you could decide?",
)
DOMAIN_QUESTIONS: dict[str, Sequence[str]] = {
    "career": (
        "When did your work last give you energy rather than take it?",
        "What would you miss if you left it, and what wouldn't you miss for a moment?",
    ),
    "relationships": (
        "Who comes to mind first, and what would you like them to know?",
        "What does a good hour with the people who matter to you look like?",
    ),
    "health": (
        "How does your body tell you that it's too much, and what does it tell you when it's good?",
        "What is one thing that reliably does you good, even a little?",
    ),
    "finances": (
        "What would “enough” mean here, in a way that you could actually notice?",
        "Which part of it do you avoid looking at, and what would make looking easier?",
    ),
    "learning": (
        "What draws you to it, and what would you do with it once you can?",
        "How do you learn best when nobody is watching?",
    ),
    "creativity": (
        "When did you last make something only because you wanted to?",
        "What would you make if nobody ever saw it?",
    ),
    "play": (
        "When did you last lose track of time in a good way?",
        "What did you love doing at ten that you've stopped doing?",
    ),
    "meaning": (
        "What would you like to be able to say about this year when it's over?",
        "Where do you already live by what matters to you, even in a small way?",
    ),
}
HEAVY_REPLIES = (
    (
        "That sounds heavy, and I'm sorry that you're carrying it. You don't have to sort it out here, "
        "and I'm only a script, so please let somebody close to you know as well, or a doctor if it "
        "doesn't ease."
    ),
    (
        "That is a lot for one person. Be gentle with yourself today; and if it gets too much, somebody "
        "you trust will serve you better than a practice script can."
    ),
)
HEAVY_QUESTIONS = (
    "What would make the next hour a little lighter?",
    "Who could you be with today, even for a short while?",
    "What has helped you through a time like this before?",
)
CRISIS_REPLIES = (
    (
        "I'm really glad you told me, and I want to be plain with you: I'm a script, and what you've "
        "just written deserves a person.\n\n"
        "If you are in danger now, please call your local emergency number: 112 in Europe, 911 in the "
        "US and Canada, 999 in the UK, 000 in Australia. For somebody to talk to at any hour, "
        "[findahelpline.com](https://findahelpline.com) lists free lines in your country; in the US and "
        "Canada you can call or text 988, in the UK and Ireland call 116 123.\n\n"
        "Is there somebody who could be with you right now? You don't have to find the right words; "
        "“I'm not okay, can you come?” is enough."
    ),
    (
        "I'm still here, and I still mean it: please reach a person now. Your emergency number if you "
        "are in danger, or a line from [findahelpline.com](https://findahelpline.com), or somebody you "
        "trust. Have you been able to reach anybody?"
    ),
)
AFTER_CRISIS_REPLIES = {
    "yes": "I'm glad. Stay close to them, and let them help with the next hour. You can come back "
    "here any time; the people on those lines are awake for you now.",
    "other": "I hear you, and I'm not going to steer away from it. Please try one person or one line now, "
    "even if it feels like too much: 112, 911, 999 or 000 in danger, or [findahelpline.com]"
    "(https://findahelpline.com). You matter more than any conversation here.",
}
FOREIGN_REPLIES = (
    (
        "I'm sorry: my script knows only English. With a real model behind me I would answer in your "
        "language; until then, would you like to try it in English?"
    ),
    (
        "I can see that you wrote to me, but my script can't read it. "
        "A few English words would help me to follow."
    ),
)
RETRY_OFFER = "Shall I try once more, or do we go on?"
THANKS_REPLIES = (
    "You're welcome. Is there something else you'd like to look at, or shall we leave it here for today?",
    "Gladly. What would you like to do next?",
    "With pleasure. We can go on, or you can let it rest; both are fine.",
)
GOODBYE_REPLIES = (
    "Take good care of yourself. It was good to listen to you.",
    "Then until next time. Be kind to yourself today.",
)
NOTHING_TO_SAVE = (
    (
        "Gladly, but there's nothing here yet that I could write down. Tell me a little about what's "
        "on your mind, and I'll put it into a file for you."
    ),
    "I'd like to, but so far I have no words of yours to write. What should stand there?",
)
CANNOT_SAVE = (
    (
        "I'd write that down, but I can't reach your files just now. Everything you said stays here in "
        "the conversation, so nothing is lost. Shall we go on?"
    ),
    (
        "I can't save it at this moment. It's all still here in our conversation, and we can try "
        "again in a while."
    ),
)
DECLINED_REPLIES = (
    "All right, nothing gets written down. We just talk.",
    "Of course. It stays between us and this page.",
)


def pick(options: Sequence[str], conversation: Conversation, *, shift: int = 0) -> str:
    """Return an option that the coach hasn't used yet, starting with the one for its position."""
    start = (conversation.position + shift) % len(options)
    turned = [*options[start:], *options[:start]]
    return next((option for option in turned if not is_said(option, conversation.spoken)), turned[0])


def has_offered(conversation: Conversation) -> bool:
    """Return whether the user's newest words answer an offer to write things down."""
    return any(offer in conversation.answered_text for offer in (*OFFERS, RETRY_OFFER))


def offered_within(conversation: Conversation, replies: int) -> bool:
    """Return whether one of the coach's last `replies` contained an offer."""
    recent = conversation.coach_texts[-replies:]
    return any(offer in text for text in recent for offer in OFFERS)


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence: `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def is_said(option: str, said: str) -> bool:
    """Return whether an option was used, with anything in its placeholders."""
    return all(piece.strip() in said for piece in option.split("{word}") if piece.strip(" “”."))
