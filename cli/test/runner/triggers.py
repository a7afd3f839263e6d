"""The triggers of integrations that are not simulated. They are not set up, so that they never fire.

The hub itself logs an error for such a trigger, which would fail each case of a home that has one. Its wait for such a
trigger would end at once, and would not last until its timeout as in a real hub. It refuses the automation if the
packages of the integration are not installed.
"""

import functools
import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

from integrations import folder_of

# Triggers that states, events and the clock fire. The hub refuses a device trigger, since there are no devices.
_FIRING = frozenset(
    (
        *("device", "event", "geo_location", "homeassistant", "numeric_state", "persistent_notification", "state"),
        *("sun", "tag", "template", "time", "time_pattern", "zone"),
    )
)
# Types of integrations that bring their own events. Triggers of the other types react to states of entities.
_BRINGING = frozenset(("device", "hub", "service"))
_INITIALIZE = "async_initialize_triggers"
_VALIDATE = "async_validate_trigger_config"
# Key in the data of a hub: the names of the silent triggers in the section template.
_OF_TEMPLATES = "hub_test_silent_triggers"

_helper = importlib.import_module("homeassistant.helpers.trigger")
_of_hub = getattr(_helper, _INITIALIZE)
_validate_of_hub = getattr(_helper, _VALIDATE)


def is_silent(name: str) -> bool:
    """Whether nothing fires a trigger. One with a dot mostly reacts to states of entities."""
    if "." not in name:
        return name not in _FIRING
    # Triggers of calendars and lists read the entities of an integration, not their states.
    return name.startswith(("calendar.", "todo.")) or _is_brought(name)


def _is_brought(name: str) -> bool:
    """Whether a trigger such as `knx.telegram` is that of a network, a device or a service."""
    return "." in name and _brings_events(name.split(".")[0])


@functools.cache
def _brings_events(domain: str) -> bool:
    """Whether the hub has an integration with this domain that gets events. The sun and the moon are computed."""
    path = folder_of(domain) / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return manifest.get("integration_type") in _BRINGING and manifest.get("iot_class") != "calculated"


def of_templates(hass: Any) -> list[dict[str, str]]:
    """The silent triggers in the section template."""
    return [{"trigger": name, "entity": "the section template"} for name in sorted(hass.data.get(_OF_TEMPLATES, ()))]


async def _validate(hass: Any, triggers: list[Any]) -> list[Any]:
    """Checks triggers as the hub does, except for those of integrations, whose packages may be absent."""
    return [
        each if _is_brought(str(each["platform"])) else (await _validate_of_hub(hass, [each]))[0] for each in triggers
    ]


async def _initialize(hass: Any, triggers: list[Any], *args: Any, **kwargs: Any) -> Callable[[], None] | None:
    """Sets up triggers as the hub does. A silent one counts as disabled, so that the others keep their numbers."""
    names = [str(each["platform"]) for each in triggers]
    silent = {name for name in names if is_silent(name)}
    enabled = [
        {**each, "enabled": False} if name in silent else each for each, name in zip(triggers, names, strict=True)
    ]
    _action, domain = args[:2]
    if domain == "template":
        hass.data.setdefault(_OF_TEMPLATES, set()).update(silent)
    return await _of_hub(hass, enabled, *args, **kwargs) or (_nothing if silent else None)


def _nothing() -> None:
    """Removes no trigger."""


# Modules of the hub ask the module of triggers for the functions, or have imported them.
for _module in [*sys.modules.values()]:
    for _name, _former, _own in ((_INITIALIZE, _of_hub, _initialize), (_VALIDATE, _validate_of_hub, _validate)):
        if getattr(_module, "__dict__", {}).get(_name) is _former:
            setattr(_module, _name, _own)
