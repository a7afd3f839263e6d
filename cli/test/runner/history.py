"""States of the past, as the command line packs them (cli/test/protocol.ts, `History`)."""

import heapq
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# Helpers that have an action for each state. Timers, schedules, groups and templates follow the definitions.
REPLAYED_HELPERS = frozenset(
    (
        *("counter", "input_boolean", "input_button", "input_datetime", "input_number", "input_select"),
        "input_text",
    )
)
NO_STATES = ("unavailable", "unknown")


class Change(NamedTuple):
    """A state of an entity. `at`: the epoch seconds from which on it has it."""

    at: float
    entity: str
    state: str
    attributes: Mapping[str, Any]


def given(history: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The states at the beginning."""
    begin = float(history["from"])
    firsts = (next(_changes_of(history, entity), None) for entity in history["entities"])
    return {
        first.entity: {"state": first.state, "attributes": first.attributes}
        for first in firsts
        if first is not None and first.at <= begin
    }


def changes(history: Mapping[str, Any]) -> Iterator[Change]:
    """The states after the beginning, of all entities, in the order of their times."""
    begin = float(history["from"])
    streams = [_changes_of(history, entity) for entity in history["entities"]]
    merged = heapq.merge(*streams, key=lambda change: change.at)
    return (change for change in merged if change.at > begin)


def can_replay(entity: str, state: str, owned: frozenset[str]) -> bool:
    """Whether a state of the past is played: the entities that the home makes follow from the rest, but for helpers."""
    return entity not in owned or (entity.split(".")[0] in REPLAYED_HELPERS and state not in NO_STATES)


def _changes_of(history: Mapping[str, Any], entity: str) -> Iterator[Change]:
    packed = history["entities"][entity]
    texts, sets = packed["texts"], packed["sets"]
    milliseconds = 0
    for after, state, attributes in zip(packed["after"], packed["states"], packed["attributes"], strict=True):
        milliseconds += after
        yield Change(float(history["from"]) + milliseconds / 1_000, entity, texts[state], sets[attributes])
