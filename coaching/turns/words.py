"""What Sage says itself where the model's words are missing or cut."""

from coaching.engine.ports import Words

WORDS = Words(
    refused=(
        "I'm sorry, I can't help with that one. I'd like to stay with you on what's behind it, though: "
        "would you like to put it another way, or talk about something else?"
    ),
    cut_in_words="That answer got too long and was cut. Say “go on” and I'll continue.",
    cut_in_call="What I wanted to do got too long, so I didn't do it. Ask me for a smaller step.",
    too_long="This conversation got too long for one answer. Start a new one to go on.",
    nothing_said="I have nothing more to say to that just now. Try putting it differently.",
)
