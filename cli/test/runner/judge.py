"""The step `expect`: waits for the expected calls and states, and describes the differences."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from clock import SETTLE, clock
from expectation import Expectation, Mismatch
from names import Names
from record import MOST_CALLS, Record, seen
from services import TARGET_KEYS, Call
from values import Plain, cut, described, matches

Fault = dict[str, Any]
Until = Callable[[float], Any]

# Seconds. Actions that follow from each other may have pauses of less than a second, so `expect` without `within` waits
# this long for calls and states.
SAME_SECOND = 0.6
MOST_SHOWN_CALLS = 10
MOST_UNEXPECTED = 20
MOST_REMEMBERED_CALLS = 2_000
MOST_CHARACTERS = 40_000


class Judge:
    """One `expect` of a case."""

    def __init__(self, expect: Mapping[str, Any], hass: Any, record: Record, names: Names) -> None:
        self._states: Mapping[str, Mapping[str, Any]] = expect["states"]
        self._hass = hass
        self._names = names
        self._record = record
        self._none: Sequence[Mapping[str, Any]] = expect["none"]
        self._check = Expectation(expect["calls"], expect["none"], expect["only"])
        self._calls: deque[Call] = deque(maxlen=MOST_REMEMBERED_CALLS)
        self._bound = Plain(MOST_CHARACTERS)
        self._within = float(expect["within"])
        counts = any(item.get("times") is not None for item in expect["calls"])
        self._is_whole = bool(expect["none"]) or bool(expect["only"]) or counts

    async def faults(self, until: Until) -> list[Fault]:
        """Waits as long as the step allows, and returns the faults. `until` runs the hub up to a moment."""
        begin = clock.epoch()
        if unknown := [*self._unknown_names()]:
            return unknown
        if self._is_whole and self._within:
            await until(begin + self._within)
        await self._wait(begin + max(self._within, SAME_SECOND))
        if self._record.dropped:
            self._record.dropped = 0
            message = f"There were more than {MOST_CALLS} calls since the expect before: put an expect between them."
            return [{"kind": "step", "message": message}]
        return [*self._of_calls(), *self._of_unexpected(), *self._of_states()]

    def _unknown_names(self) -> Iterator[Fault]:
        """Names of what must be absent that the home does not have: with a typo they would always pass."""
        for item in self._none:
            for problem in self._unknown_of_call(item):
                yield {"kind": "step", "message": f"none has {problem}"}
        for entity, state in self._states.items():
            if {"exact": None} in (state, state.get("state")) and not self._names.has(self._hass, entity):
                way = "and neither the home nor the case has such an entity: correct it."
                yield {"kind": "step", "message": f"{entity} is expected to have no state, {way}"}
            for name, value in (state.get("attributes") or {}).items():
                if value == {"exact": None} and not self._names.has_attribute(self._hass, entity, name):
                    way = "which neither the hub nor the home nor the case has: correct it."
                    yield {"kind": "step", "message": f"{entity} is expected to have no attribute {name}, {way}"}

    def _unknown_of_call(self, item: Mapping[str, Any]) -> Iterator[str]:
        """Why no call can fit an item of `none`, as the ends of sentences."""
        action, by = item["action"], item.get("by")
        if problem := self._hass.services.problem_of(action):
            yield f"{action}, {problem}"
        if by is not None and self._hass.states.get(by) is None:
            yield f"calls by {by}, which the home does not have: correct it."
        for entity in item.get("entity") or ():
            if not self._names.has(self._hass, entity):
                yield f"{entity}, which neither the home nor the case has: correct it, or add it to given."
        for field in item.get("data") or ():
            if field in TARGET_KEYS:
                yield f"{field} in data of {action}, which never have the target: write it as `entity`."
            elif not self._names.has_field(action, field):
                yield f"{field} in data of {action}, which neither the hub nor the home nor the case has: correct it."

    def _is_done(self) -> bool:
        for call in self._record.take_calls():
            self._calls.append(call)
            self._check.add(call)
        return self._check.is_met() and not any(True for _ in self._of_states())

    async def _wait(self, deadline: float) -> None:
        """Returns at the first moment at which all calls were made and all states are as expected."""
        while not self._is_done() and (left := deadline - clock.epoch()) > 0:
            self._record.changed.clear()
            try:
                async with asyncio.timeout(left):
                    await self._record.changed.wait()
            except TimeoutError:
                continue
            # The hub reports the author of a call one turn of the loop later. Another call of the same run, which
            # `none`, `times` and `only` count as well, follows after some turns.
            await asyncio.sleep(SETTLE if self._is_whole else 0)

    def _of_calls(self) -> Iterator[Fault]:
        for mismatch in self._check.mismatches():
            yield {
                "kind": "times" if mismatch.is_times else "missing-call",
                "message": _mismatch(mismatch),
                "expected": mismatch.item,
                "seen": [seen(call, self._bound) for call in self._nearest(mismatch.item)],
            }

    def _nearest(self, item: Mapping[str, Any]) -> list[Call]:
        """The last calls of this action, or the last of all calls if there are none."""
        same = [call for call in self._calls if call.action == item["action"]]
        return (same or list(self._calls))[-MOST_SHOWN_CALLS:]

    def _of_unexpected(self) -> Iterator[Fault]:
        unexpected = self._check.unexpected
        for call in unexpected[:MOST_UNEXPECTED]:
            of = f" of {', '.join(call.entities[:MOST_SHOWN_CALLS])}" if call.entities else ""
            by = f" by {call.by}" if call.by else ""
            message = f"Unexpected call: {call.action}{of}{by}."
            yield {"kind": "unexpected-call", "message": message, "seen": [seen(call, self._bound)], "by": call.by}
        if len(unexpected) > MOST_UNEXPECTED:
            message = f"There were {len(unexpected) - MOST_UNEXPECTED} further unexpected calls."
            yield {"kind": "unexpected-call", "message": message}

    def _of_states(self) -> Iterator[Fault]:
        for entity, expected in self._states.items():
            is_value = not expected.keys() <= {"state", "attributes"}
            parts: Mapping[str, Any] = {"state": expected} if is_value else expected
            message = self._state_problem(entity, parts)
            if message:
                yield {"kind": "state", "message": message, "expected": expected}

    def _state_problem(self, entity: str, parts: Mapping[str, Any]) -> str | None:
        state = self._hass.states.get(entity)
        has_gone = state is None or (state.state == "unavailable" and state.attributes.get("restored") is True)
        value = parts.get("state")
        if value == {"exact": None}:
            return None if has_gone else f"{entity} is {state.state}, expected no state."
        if state is None:
            return f"{entity} has no state{f', expected {described(value)}' if value else ''}."
        if value is not None and not matches(value, state.state):
            return f"{entity} is {state.state}, expected {described(value)}."
        for name, each in (parts.get("attributes") or {}).items():
            if not matches(each, state.attributes.get(name)):
                have = cut(str(state.attributes.get(name, "absent")), 200)
                return f"{name} of {entity} is {have}, expected {described(each)}."
        return None


def _mismatch(mismatch: Mismatch) -> str:
    item, count = mismatch.item, mismatch.seen
    entities = f" of {', '.join(item['entity'])}" if item.get("entity") else ""
    data = f" with {described({'object': item['data']})}" if item.get("data") else ""
    by = f" by {item['by']}" if item.get("by") else ""
    call = f"{item['action']}{entities}{data}{by}"
    if not mismatch.is_times:
        return f"Missing call: {call}."
    times = item["times"]
    return f"Expected {times} {'call' if times == 1 else 'calls'} of {call}, seen {count}."
