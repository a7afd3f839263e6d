"""The entity ids that a home and a case name, to tell an absent entity from a misspelt one."""

import json
import re
from collections.abc import Mapping
from typing import Any

from homeassistant.helpers import entity_registry

_OF_A_HOME = ("automations", "scripts", "scenes", "configuration", "files", "blueprints")
# Fields of actions that create an entity in the action's domain, such as `scene_id` of `scene.create`.
_CREATING = r"(?:scene_id|object_id)\W*:\s*\W?"


class Names:
    """The entity ids in the files of a home, and those in a case outside of what it expects."""

    def __init__(self, home: Mapping[str, Any], case: Mapping[str, Any]) -> None:
        steps = [step for step in case["steps"] if "expect" not in step]
        self._parts = [*(home.get(part) for part in _OF_A_HOME), case["given"], case.get("history"), steps]
        self._text: str | None = None

    def has(self, hass: Any, entity: str) -> bool:
        """Whether the entity has a state or is registered, or the home or the case names it."""
        entities = entity_registry.async_get(hass)
        return (
            hass.states.get(entity) is not None or entities.async_get(entity) is not None or self._is_in_texts(entity)
        )

    def _is_in_texts(self, entity: str) -> bool:
        if self._text is None:
            self._text = json.dumps(self._parts, ensure_ascii=False, default=str)
        domain, object_id = entity.split(".", 1)
        created = rf"|{_CREATING}{re.escape(object_id)}" if domain in ("group", "scene") else ""
        return re.search(rf"(?<![\w.])(?:{re.escape(entity)}{created})(?!\w)", self._text) is not None
