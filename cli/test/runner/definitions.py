"""The entities and triggers to which the automations and scripts of a started hub refer."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from configuration import as_list
from values import items_of

# Triggers that states, events and the clock fire. The hub refuses a device trigger, since there are no devices.
_FIRING = frozenset(
    (
        *("device", "event", "geo_location", "homeassistant", "numeric_state", "persistent_notification", "state"),
        *("sun", "tag", "template", "time", "time_pattern", "zone"),
    )
)
_TRIGGERS = ("trigger", "triggers", "wait_for_trigger")
_ENTITY = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


def without_state(hass: Any) -> list[str]:
    """The entities to which automations and scripts refer but that have no state."""
    named = {each for entity in _definitions(hass) for each in items_of(entity.referenced_entities)}
    return sorted(each for each in named if _ENTITY.fullmatch(each) and hass.states.get(each) is None)


def silent_triggers(hass: Any) -> list[dict[str, str]]:
    """The triggers of automations and scripts whose integration is not simulated, such as `webhook`."""
    return [
        {"trigger": name, "entity": entity.entity_id}
        for entity in _definitions(hass)
        for name in sorted(_silent_in(getattr(entity, "raw_config", None)))
    ]


def _definitions(hass: Any) -> Iterator[Any]:
    for domain in ("automation", "script"):
        component = hass.data.get(domain)
        yield from component.entities if component is not None else ()


def _silent_in(definition: Any) -> set[str]:
    found: set[str] = set()
    open_values = [definition]
    while open_values:
        value = open_values.pop()
        if isinstance(value, list):
            open_values.extend(value)
        elif isinstance(value, Mapping):
            for trigger in (each for key in _TRIGGERS for each in as_list(value.get(key))):
                name = trigger.get("trigger") or trigger.get("platform") if isinstance(trigger, Mapping) else None
                # A trigger with a dot belongs to a domain of entities, and reacts to their states.
                if isinstance(name, str) and name not in _FIRING and "." not in name:
                    found.add(name)
            open_values.extend(value.values())
    return found
