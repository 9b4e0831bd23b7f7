"""The facts that signals are computed from, as plain values."""

from dataclasses import dataclass
from datetime import datetime

from coaching.clock.days import TimeBracket, time_bracket
from coaching.safety.intensity import CALM, Intensity


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeFacts:
    """A user's facts at one moment. `local_time` is aware, in the user's time zone.

    `domain_statuses` are pairs of domain and status, in the domains' order, without empty statuses.
    `days_to_quarter_end` is 0 on the quarter's last day. `is_map_begun`: a page of the map exists, or the map
    was offered before. `is_grieving`: the last messages speak of a loss without danger. `arc` is the
    session's current one, or empty. `holds_offers`: danger was days ago, so nothing is offered unasked.
    `messages` is how many of their last messages in this conversation are looked at. `is_first_talk`: it
    is the first one, on its first day. `is_about_client`: it was opened from a client who is somebody else.
    `asks_for_plan`: the last message names a safety plan. `is_plan_fitting`: danger was on an earlier
    day, and a plan may be offered.
    """

    local_time: datetime
    has_life_map: bool
    has_plan_today: bool
    has_log_today: bool
    is_checkin_due: bool
    domain_statuses: tuple[tuple[str, str], ...] = ()
    unfolded_captures: int = 0
    days_to_quarter_end: int = 91
    intensity: Intensity = CALM
    is_grieving: bool = False
    is_map_begun: bool = False
    is_first_talk: bool = False
    is_about_client: bool = False
    messages: int = 0
    arc: str = ""
    asks_for_plan: bool = False
    is_plan_fitting: bool = False
    holds_offers: bool = False

    @property
    def time_bracket(self) -> TimeBracket:
        return time_bracket(self.local_time)
