"""Automations and scripts that cause their own next run, detected by the contexts of the hub's events."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

MOST_RUNS_WITHIN_A_SECOND = 100
# More than a user presses a button, or an automation corrects itself.
MOST_RUNS_BY_ITSELF = 20
# Seconds in which the runs for MOST_RUNS_BY_ITSELF are counted.
SPAN = 60.0
MOST_CHAINS = 5_000

# Times of the runs that led to a run, by entity id. The run itself is included.
Chain = Mapping[str, tuple[float, ...]]


class Runaway(SystemExit):
    """An automation or script runs without end: the case is stopped, since its clock would hardly advance."""

    def __init__(self, entity: str) -> None:
        super().__init__(f"{entity} ran {MOST_RUNS_WITHIN_A_SECOND} times within one second")
        self.entity = entity


class Loops:
    """The runs of one case."""

    def __init__(self) -> None:
        self._second = -1
        self._runs_of_second: Counter[str] = Counter()
        # Chains by the id of the context of their last run, the oldest first.
        self._chains: dict[str, Chain] = {}
        self._found: set[str] = set()

    def add(self, entity: str, context: Any, now: float) -> str | None:
        """Records a run.

        Args:
            entity: entity id of the automation or script.
            context: the context of the run; its parent is the context of the cause.
            now: seconds since the start of the case.

        Returns:
            A message about a loop that continues through delays, once for each loop.

        Raises:
            Runaway: there are so many runs that the clock hardly advances.
        """
        self._count(entity, int(now))
        cause = self._chains.get(context.id) or self._chains.get(context.parent_id or "") or {}
        recent = {each: kept for each, times in cause.items() if (kept := tuple(t for t in times if t > now - SPAN))}
        times = (*recent.get(entity, ()), now)
        # Other entities of the loop run equally often, and one message per loop is enough.
        is_known = not self._found.isdisjoint(recent)
        self._keep(context.id, {**recent, entity: times[-MOST_RUNS_WITHIN_A_SECOND - 1 :]})
        # Runs within one second are limited separately.
        if is_known or len(times) <= MOST_RUNS_BY_ITSELF or now - times[0] < 1:
            return None
        self._found.add(entity)
        return (
            f"{entity} has caused itself {MOST_RUNS_BY_ITSELF} times within a minute: "
            "end the loop by a condition, or allow it by these words in allowWarnings"
        )

    def _count(self, entity: str, second: int) -> None:
        if second != self._second:
            self._second = second
            self._runs_of_second.clear()
        self._runs_of_second[entity] += 1
        if self._runs_of_second[entity] > MOST_RUNS_WITHIN_A_SECOND:
            raise Runaway(entity)

    def _keep(self, context: str, chain: Chain) -> None:
        self._chains[context] = chain
        if len(self._chains) > MOST_CHAINS:
            del self._chains[next(iter(self._chains))]
