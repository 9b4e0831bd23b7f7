"""The coach's sentences for offering an arc, looking things up, and two approaches."""

from coaching.practice.coach.arc_wording import Question

_YES_NO = (("Yes, let's", "yes"), ("Not now", "no"))
ARC_OFFERS = {
    "life_mapping": Question(
        ("Shall we draw a map of your life together? Eight parts, a few words each; half an hour at most.",),
        _YES_NO,
    ),
    "open_day": Question(("If today has no plan yet: shall we open your day? Two minutes.",), _YES_NO),
    "close_day": Question(("Shall we close the day together? Three minutes, and it may rest.",), _YES_NO),
    "weekly_checkin": Question(("Shall we do your weekly check-in now? Ten minutes.",), _YES_NO),
}
ARC_DECLINED = (
    "Of course. I won't bring it up again.",
    "That's fine, we leave it.",
)
CANNOT_ENTER = (
    (
        "I can't begin that from inside this conversation just now. From the home page you can start it "
        "directly."
    ),
    "That one I can't open from here at the moment; the home page has a door to it.",
)
NOT_ENTERED = (
    "That didn't begin. What came back was: “{word}” We can simply go on here.",
    "I couldn't open it: “{word}” Let's go on as we are.",
)

DECIDE_WHAT = Question(
    (
        "What is really being decided there, and by when?",
        "Before the answer, the question: what exactly is the choice, and when does it have to be made?",
    )
)
DECIDE_COST = Question(
    (
        (
            "What would each way make room for, and what would it cost, in an ordinary week? And is "
            "there a third way?"
        ),
        (
            "Picture a plain Tuesday a year from now, once for each way. What do you see? And are there "
            "only two?"
        ),
    )
)
DECIDE_FEAR = Question(
    (
        "Which part of it is fact, and which is fear? And what would you tell a friend?",
        "What do you know, and what do you only fear? If a friend asked you the same, what would you say?",
    )
)
DECIDE_GUT = Question(
    (
        "No vote, only a look: which way does it lean at this moment?",
        "If you had to say it now, just to see how it feels?",
    ),
    (("Towards doing it", "do it"), ("Towards leaving it", "leave it"), ("Not yet", "not yet")),
)
DECIDE_STEP = Question(
    (
        (
            "Did that feel lighter or heavier as you chose it? And what is the one thing that you'd need "
            "to find out next?"
        ),
        "Notice what your body said to that. What would be a first step that you could still take back?",
    )
)
DECIDED = (
    "The choice stays yours; I'd only have the questions. That step is something to hold on to.",
    "I won't choose for you. But you know more about it now than when you asked.",
)

PATTERN_WHEN = Question(
    (
        (
            "That sounds like something that comes back. When else did it happen? Two more times, with "
            "what was going on."
        ),
        "Let's look whether it's a pattern: which other times come to mind, and what was alike in them?",
    )
)
PATTERN_PROTECTS = Question(
    (
        "Every pattern once solved something. What does this one spare you, or protect?",
        "It must be good for something, or it wouldn't stay. What do you get by it?",
    )
)
PLAN_TABLE = Question(
    (
        "Your life plan says: “{word}” What you tell runs against it. Which of the two is true?",
        (
            "Two things lie on the table: what you've just told, and your plan, which says “{word}”. "
            "Which one holds?"
        ),
    ),
    (
        ("The plan no longer fits", "plan"),
        ("The plan is right", "pattern"),
        ("I don't know yet", "open"),
    ),
)
PLAN_NEW = Question(
    (
        "Then how should it read, in your words?",
        "What should stand in the plan instead? Say it as it should read.",
    )
)
PLAN_CONFIRM = Question(
    ("I'd write as your direction: “{word}” Shall I?", "So the plan would say: “{word}” Is that it?"),
    (("Yes, write it", "yes"), ("No, leave the plan", "no")),
)
PATTERN_SIGN = Question(
    (
        "And when didn't it happen? What is the earliest sign by which you'd notice it next time?",
        "What is its very first sign, and what was different when it stayed away?",
    )
)
PATTERN_KEEP = Question(
    (
        "Shall I keep this pattern for you, as you told it?",
        "Would you like to have it written down as a pattern?",
    ),
    (("Yes, keep it", "yes"), ("No, just talk", "no")),
)
PATTERN_LOOKING = ("A look at what your life plan says about it.", "Let me see what stands in your plan.")
WRITTEN_BACK = (
    "Done: it's in {word}. You can read and change it under Files.",
    "Written, in {word}, and open to change.",
)
LEFT_AS_IT_IS = ("Then everything stays as it stands.", "All right, nothing gets changed.")

RECALLING = ("Looking through what we have said and written.", "Let me look.")
RECALL_FOUND = ("This is what I find:", "Here is what I have of it:")
RECALL_NOTHING = (
    "I've looked and find nothing about it. Tell me, and from then on it's there.",
    "There is nothing about it that I can find. What was it?",
)
RECALL_FAILED = (
    "I couldn't look it up just now. If you tell me again, we can go on from there.",
    "The search didn't work. What do you remember of it yourself?",
)
RECALL_IMPOSSIBLE = (
    "I can only see this conversation, and I don't want to make anything up. What do you remember of it?",
    "That lies outside of what I can see here. Tell me again?",
)
LOOKED_UP = ("This came back:", "Here is what came back:")
LOOK_UP_FAILED = ("That didn't work: “{word}” Shall we go on?", "I couldn't do that: “{word}”")
LOOK_UP_DECLINED = ("Then I leave it.", "All right, it isn't done.")

IN_PLAY = (
    "At the moment I have this in mind: {word}.",
    "What guides me just now: {word}.",
)
NOTHING_IN_PLAY = ("Nothing special is in play. We are just talking.",)
TO_ASK_FOR = (
    "Ask for any of these by its name. Below each answer, “Why this answer” shows what was in play:",
    "These are there for the asking; below each answer, “Why this answer” shows which was in play:",
)
BACK_TO_ARC = (
    "What we were in the middle of keeps its place.",
    "We go back to where we were whenever you like.",
)
NAMED_OPENINGS = {
    "decision-helper": (
        "Gladly. What is the choice, and what makes it hard?",
        "All right. Which choice is it this time, and by when?",
    ),
    "pattern-review": (
        "Gladly. What is it that keeps coming back?",
        "All right. What have you noticed, and when was it last there?",
    ),
    "domain-deep-dive": (
        "Gladly. Which part of your life, and what happened there last?",
        "All right. Which part of your life wants a closer look, and since when?",
    ),
    "crisis-support": (
        "I'm here, and nothing has to be solved now. What is it like for you at this moment?",
        "Then slowly. What would help most in the next hour?",
    ),
    "life-plan-revision": (
        "Gladly. Which line of your plan doesn't sound like you any more?",
        "All right. What in your plan is still yours, and what isn't?",
    ),
    "capture-review": (
        "Gladly. Which of your notes wants something from you, and which may simply go?",
        "All right. Which note comes to mind first, and what does it want to be?",
    ),
}
