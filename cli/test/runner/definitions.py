"""The entities and triggers to which the automations and scripts of a started hub refer."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from configuration import as_list
from triggers import is_silent, of_templates
from values import items_of

_TRIGGERS = ("trigger", "triggers", "wait_for_trigger")
_ENTITY = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


def without_state(hass: Any) -> list[str]:
    """The entities to which automations and scripts refer but that have no state."""
    named = {each for entity in _definitions(hass) for each in items_of(entity.referenced_entities)}
    return sorted(each for each in named if _ENTITY.fullmatch(each) and hass.states.get(each) is None)


def silent_triggers(hass: Any) -> list[dict[str, str]]:
    """The triggers whose integration is not simulated, such as `webhook`."""
    of_definitions = [
        {"trigger": name, "entity": entity.entity_id}
        for entity in _definitions(hass)
        for name in sorted(_silent_in(getattr(entity, "raw_config", None)))
    ]
    return [*of_definitions, *of_templates(hass)]


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
                if isinstance(name, str) and is_silent(name):
                    found.add(name)
            open_values.extend(value.values())
    return found
