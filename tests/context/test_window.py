"""The window: at least the minimum, moving in whole steps."""

from hypothesis import given
from hypothesis import strategies as st

from coaching.context.window import window_start, windowed
from sessions_app.models import Message


@given(count=st.integers(0, 500), minimum=st.integers(1, 40), step=st.integers(1, 40))
def test_at_least_the_minimum_is_inside_and_less_than_a_step_more(
    count: int, minimum: int, step: int
) -> None:
    inside = count - window_start(count, minimum=minimum, step=step)
    assert inside >= min(count, minimum)
    assert inside < minimum + step


@given(count=st.integers(0, 500), minimum=st.integers(1, 40), step=st.integers(1, 40))
def test_the_edge_stays_or_moves_by_whole_steps(count: int, minimum: int, step: int) -> None:
    before = window_start(count, minimum=minimum, step=step)
    after = window_start(count + 1, minimum=minimum, step=step)
    assert after - before in (0, step)


def test_a_window_never_begins_with_the_assistant() -> None:
    roles = ["user", "user"] + ["assistant", "user"] * 20
    messages = [Message(number=number, role=role) for number, role in enumerate(roles, start=1)]
    window = windowed(messages, minimum=15, step=20)
    assert window[0].role == "user"
    assert len(window) >= 15
