"""Each part is killed, frozen and restarted, the next only when the last one serves and everybody is back."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tests.drill.load import Load, until
from tests.drill.parts import Part

How = Literal["kill", "freeze", "roll"]
WAYS: tuple[How, ...] = get_args(How)
DOWN_SECONDS = 2.0
"""`RestartSec` of the units."""
FROZEN_SECONDS = 10.0
"""Longer than a lease: others take over its turns."""
REST_SECONDS = 4.0
BACK_SECONDS = 60.0


@dataclass(slots=True, kw_only=True)
class Disruption:
    """One part, what happened to it, and when (the loop's clock)."""

    part: Part
    how: How
    began: float
    served: float = 0.0
    """When it served again."""
    ended: float = 0.0
    """When everybody's page was connected again, too."""
    is_everybody_back: bool = False

    @property
    def name(self) -> str:
        return f"{self.how} {self.part.name}"


async def disrupt(part: Part, how: How, load: Load, say: Callable[[str], None]) -> Disruption:
    """Disrupt a part, and wait until it serves and everybody is back."""
    loop = asyncio.get_running_loop()
    disruption = Disruption(part=part, how=how, began=loop.time())
    if how == "kill":
        await asyncio.to_thread(part.kill)
        await asyncio.sleep(DOWN_SECONDS)
        await asyncio.to_thread(part.start)
    elif how == "freeze":
        part.freeze()
        await asyncio.sleep(FROZEN_SECONDS)
        part.thaw()
    else:
        await asyncio.to_thread(part.restart)
    await asyncio.to_thread(part.wait_until_it_serves)
    disruption.served = loop.time()
    is_back = await until(lambda: load.are_all_connected, BACK_SECONDS)
    disruption.ended = loop.time()
    disruption.is_everybody_back = is_back
    seconds = disruption.served - disruption.began
    say(f"{disruption.name}: served after {seconds:.1f} s" + ("" if is_back else ", not everybody came back"))
    await asyncio.sleep(REST_SECONDS)
    return disruption


def chosen(parts: Sequence[Part], names: Sequence[str], *, is_short: bool) -> list[Part]:
    """Return the parts to disrupt: those named, or all; of each kind only one in a short drill.

    Ends the drill if a name is unknown.
    """
    unknown = set(names) - {"none", *(part.name for part in parts), *(part.kind for part in parts)}
    if unknown:
        raise SystemExit(f"There is no part {', '.join(sorted(unknown))}.")
    if names:
        return [part for part in parts if part.name in names or part.kind in names]
    if is_short:
        kinds = {part.kind: part for part in reversed(parts)}
        return [part for part in parts if kinds[part.kind] is part]
    return list(parts)
