"""The calls that one `expect` considers, and the assignment of calls to its items."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from services import Call
from values import matches

# The indexes of the items of `calls` that a call matches.
Fits = tuple[int, ...]


def fits(item: Mapping[str, Any], call: Call) -> bool:
    """Whether a call matches an item of `calls` or `none`."""
    return (
        item["action"] == call.action
        and set(item.get("entity") or ()) <= set(call.entities)
        and item.get("by") in (None, call.by, call.script)
        and all(matches(each, call.data.get(key)) for key, each in (item.get("data") or {}).items())
    )


class Mismatch(NamedTuple):
    """An item of `calls` with a wrong number of calls, and that number."""

    item: Mapping[str, Any]
    seen: int
    is_times: bool


class Expectation:
    """Assigns each call to one item that it matches.

    An item with `times` needs exactly that many calls, any other item one or more. A call counts for one item only. If
    some assignment fulfils all items, it is found: whenever a further call finds no room, earlier calls are moved along
    a path of items (a maximum matching). Calls that match one set of items are counted together.
    """

    def __init__(self, items: Sequence[Mapping[str, Any]], none: Sequence[Mapping[str, Any]], only: bool) -> None:
        self._items = items
        self._none = none
        self._only = only
        self._needed: list[int] = [1 if item.get("times") is None else item["times"] for item in items]
        self._held: list[Counter[Fits]] = [Counter() for _ in items]
        # Calls for which no item had room. Further calls never make room for them.
        self._left: Counter[Fits] = Counter()
        self.unexpected: list[Call] = []

    def add(self, call: Call) -> None:
        kind = tuple(index for index, item in enumerate(self._items) if fits(item, call))
        if any(fits(item, call) for item in self._none) or (self._only and not kind):
            self.unexpected.append(call)
        if kind and (self._left[kind] or not self._place(kind, self._needed)):
            self._left[kind] += 1

    def is_met(self) -> bool:
        return all(held.total() >= needed for held, needed in zip(self._held, self._needed, strict=True))

    def mismatches(self) -> Iterator[Mismatch]:
        """The items with too few calls and, at the end of `within`, items with `times` that have too many."""
        for item, held, needed in zip(self._items, self._held, self._needed, strict=True):
            if held.total() < needed:
                yield Mismatch(item, held.total(), item.get("times") is not None)
        surplus = self._surplus()
        for index, item in enumerate(self._items):
            if surplus[index]:
                yield Mismatch(item, self._held[index].total() + surplus[index], True)

    def _surplus(self) -> Counter[int]:
        """The number of calls, by item, that match only items with `times` and find no room there."""
        room = [item.get("times") for item in self._items]
        surplus: Counter[int] = Counter()
        for kind, count in self._left.items():
            counted = [index for index in kind if self._items[index].get("times") is not None]
            if not counted:
                continue
            for done in range(count):
                if not self._place(kind, room):
                    surplus[counted[0]] += count - done
                    break
        self._left.clear()
        return surplus

    def _place(self, kind: Fits, room: Sequence[int | None]) -> bool:
        """Assigns a call to an item with room, or moves other calls to make room. A room of None is unlimited."""
        came_from: dict[int, tuple[int, Fits] | None] = dict.fromkeys(kind)
        queue = deque(kind)
        while queue:
            index = queue.popleft()
            most = room[index]
            if most is None or self._held[index].total() < most:
                self._move_along(index, kind, came_from)
                return True
            for held in [held for held, count in self._held[index].items() if count > 0]:
                for other in held:
                    if other not in came_from:
                        came_from[other] = (index, held)
                        queue.append(other)
        return False

    def _move_along(self, index: int, kind: Fits, came_from: Mapping[int, tuple[int, Fits] | None]) -> None:
        while (step := came_from[index]) is not None:
            previous, moved = step
            self._held[previous][moved] -= 1
            self._held[index][moved] += 1
            index = previous
        self._held[index][kind] += 1
