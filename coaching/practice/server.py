"""The practice model: the Messages API server with the guided tour."""

from typing import Any

from coaching.practice.api.server import MessagesServer
from coaching.practice.coach.tour import answer
from coaching.practice.faults.fault import Fault, FaultBook
from coaching.practice.judge import Judge, judge_by_rules, words_to_judge
from coaching.practice.script import Reply


class PracticeServer(MessagesServer):
    """A Messages API server with the guided tour: `async with PracticeServer() as server`.

    Second looks are answered by `judge`, with `look_faults` of their own; `judged` are the words they held.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.judge: Judge = judge_by_rules
        self.look_faults = FaultBook()
        self.judged: list[str] = []

    def default_answer(self, body: dict[str, Any]) -> Reply:
        """Answer as the guided tour."""
        return answer(body)

    def answer_aside(self, body: dict[str, Any]) -> tuple[Reply, Fault | None] | None:
        """Answer a second look."""
        words = words_to_judge(body)
        if words is None:
            return None
        self.judged = [*self.judged[-99:], words]
        fault = self.look_faults.take(model=body["model"], last_user_text=words)
        return self.judge(words), fault
