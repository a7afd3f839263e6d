"""Recorded states, as packed by the command line (cli/test/protocol.ts, `History`)."""

import heapq
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# Helpers with an action for each state. Timers, schedules, groups and templates follow from the definitions.
REPLAYED_HELPERS = frozenset(
    (
        *("counter", "input_boolean", "input_button", "input_datetime", "input_number", "input_select"),
        "input_text",
    )
)
NO_STATES = ("unavailable", "unknown")


class Change(NamedTuple):
    """A state of an entity. `at`: epoch seconds from which the entity has it."""

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
    """The states of all entities after the beginning, in chronological order."""
    begin = float(history["from"])
    streams = [_changes_of(history, entity) for entity in history["entities"]]
    merged = heapq.merge(*streams, key=lambda change: change.at)
    return (change for change in merged if change.at > begin)


def can_replay(entity: str, state: str, owned: frozenset[str]) -> bool:
    """Whether a recorded state is replayed: for helpers, and for all entities that the home does not create itself."""
    return entity not in owned or (entity.split(".")[0] in REPLAYED_HELPERS and state not in NO_STATES)


def _changes_of(history: Mapping[str, Any], entity: str) -> Iterator[Change]:
    packed = history["entities"][entity]
    texts, sets = packed["texts"], packed["sets"]
    milliseconds = 0
    for after, state, attributes in zip(packed["after"], packed["states"], packed["attributes"], strict=True):
        milliseconds += after
        yield Change(float(history["from"]) + milliseconds / 1_000, entity, texts[state], sets[attributes])
