"""The names that a home and a case have, to tell what is absent from what is misspelt."""

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from homeassistant import const as hub_const
from homeassistant.helpers import entity_registry

from integrations import folder_of

# Fields of actions that create an entity in the action's domain, such as `scene_id` of `scene.create`.
_CREATING = r"(?:scene_id|object_id)[^\w{]*"
# What follows the beginning of a name of which a template makes the rest: `light.{{ room }}`, `'light.' ~ room`.
_REST = r"(?:\{[{%]|%s|\\?['\"]\s*[~+])"


class Names:
    """The names in the files of a home and in a case, without those that the case expects to be absent."""

    def __init__(self, home: Mapping[str, Any], case: Mapping[str, Any]) -> None:
        steps = [_needed(step["expect"]) if "expect" in step else step for step in case["steps"]]
        recorded = list((case.get("history") or {}).get("entities", ()))
        self._parts = [home, case["given"], case["mock"], recorded, steps]

    def has(self, hass: Any, entity: str) -> bool:
        """Whether the entity has a state or is registered, or the home or the case names it or may make its name."""
        entities = entity_registry.async_get(hass)
        return hass.states.get(entity) is not None or entities.async_get(entity) is not None or self._may_make(entity)

    def has_field(self, action: str, field: str) -> bool:
        """Whether the data of a call of the action may have the field."""
        return _has_word(self._text, field) or _has_word(_sources(action.split(".")[0]), field)

    def has_attribute(self, hass: Any, entity: str, attribute: str) -> bool:
        """Whether the entity may have the attribute."""
        state = hass.states.get(entity)
        if (state is not None and attribute in state.attributes) or _has_word(self._text, attribute):
            return True
        integrations = [part for each in sorted(hass.config.components) for part in each.split(".")]
        domains = dict.fromkeys([entity.split(".")[0], "", *integrations])
        return any(_has_word(_sources(domain), attribute) for domain in domains)

    def _may_make(self, entity: str) -> bool:
        domain, object_id = entity.split(".", 1)
        begins = [rf"(?<![\w.]){domain}\.", *([_CREATING] if domain in ("group", "scene") else ())]
        return any(
            re.search(rf"{begin}{re.escape(object_id)}(?!\w)", self._text)
            or any(object_id.startswith(prefix) for prefix in re.findall(rf"{begin}(\w*){_REST}", self._text))
            for begin in begins
        )

    @functools.cached_property
    def _text(self) -> str:
        # The hub takes entity ids in upper case, too.
        return "\n".join(_texts(self._parts)).lower()


def _needed(expect: Mapping[str, Any]) -> list[Any]:
    """What an `expect` needs to be there: with a typo the case fails anyway."""
    calls = [[call.get("entity"), [*(call.get("data") or {})]] for call in expect["calls"]]
    return [calls, {entity: _present(state) for entity, state in expect["states"].items() if _present(state)}]


def _present(state: Mapping[str, Any]) -> list[str]:
    """The names that are expected to be there with a state. Empty if it is expected to be absent."""
    if {"exact": None} in (state, state.get("state")):
        return []
    attributes = state.get("attributes") or {}
    return ["state", *(name for name, value in attributes.items() if value != {"exact": None})]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(key)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text) is not None


@functools.cache
def _sources(domain: str) -> str:
    """The program of an integration of the hub, which names its attributes and the fields of its actions.

    Without a domain: the constants of the hub. Empty for an integration that the hub does not have.
    """
    folder = folder_of(domain)
    found = [*sorted(folder.glob("*.py")), folder / "services.yaml"] if domain else [Path(hub_const.__file__)]
    return "\n".join(path.read_text(encoding="utf-8") for path in found if path.is_file()).lower()
