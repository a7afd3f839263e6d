"""The triggers of integrations that are not simulated. They are not set up, so that they never fire.

The hub itself logs an error for such a trigger, which would fail each case of a home that has one. Its wait for such a
trigger would end at once, and would not last until its timeout as in a real hub.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Any

# Triggers that states, events and the clock fire. The hub refuses a device trigger, since there are no devices.
_FIRING = frozenset(
    (
        *("device", "event", "geo_location", "homeassistant", "numeric_state", "persistent_notification", "state"),
        *("sun", "tag", "template", "time", "time_pattern", "zone"),
    )
)
_INITIALIZE = "async_initialize_triggers"
# Key in the data of a hub: the names of the silent triggers in the section template.
_OF_TEMPLATES = "hub_test_silent_triggers"

_helper = importlib.import_module("homeassistant.helpers.trigger")
_of_hub = getattr(_helper, _INITIALIZE)


def is_silent(name: str) -> bool:
    """Whether nothing fires a trigger. One with a dot reacts to states of entities, except for events of calendars."""
    return name.startswith("calendar.") or ("." not in name and name not in _FIRING)


def of_templates(hass: Any) -> list[dict[str, str]]:
    """The silent triggers in the section template."""
    return [{"trigger": name, "entity": "the section template"} for name in sorted(hass.data.get(_OF_TEMPLATES, ()))]


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


# Modules of the hub ask the module of triggers for the function, or have imported it.
for _module in [*sys.modules.values()]:
    if getattr(_module, "__dict__", {}).get(_INITIALIZE) is _of_hub:
        setattr(_module, _INITIALIZE, _initialize)
