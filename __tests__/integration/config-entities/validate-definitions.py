"""Prints the results of the hub's validation for the definitions in argv[1], a JSON list of [kind, definition]."""

import asyncio
import json
import logging
import os
import sys
import tempfile
from datetime import timedelta

from homeassistant import loader
from homeassistant.components.automation.config import async_validate_config_item as automation
from homeassistant.components.homeassistant.scene import PLATFORM_SCHEMA as SCENES
from homeassistant.components.script.config import async_validate_config_item as script
from homeassistant.config_entries import ConfigEntries
from homeassistant.core import HomeAssistant
from homeassistant.helpers import condition, entity, template, trigger
from homeassistant.helpers.script_variables import ScriptVariables
from homeassistant.helpers.template import Template
from homeassistant.core import State
from homeassistant.setup import async_setup_component


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, Template):
        return {"template": value.template}
    if isinstance(value, timedelta):
        return {"seconds": value.total_seconds()}
    if isinstance(value, ScriptVariables):
        return plain(value.as_dict())
    if isinstance(value, State):
        return {"state": value.state, "attributes": plain(dict(value.attributes))}
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)


async def validated(hass, kind, definition):
    definition = json.loads(json.dumps(definition))
    if kind == "automation":
        return plain(await automation(hass, "a", {"id": "a", **definition}))
    if kind == "script":
        return plain(await script(hass, "a", definition))
    return plain(SCENES({"platform": "homeassistant", "states": [definition]}))["states"]


async def main():
    logging.disable()
    hass = HomeAssistant(tempfile.mkdtemp())
    hass.config_entries = ConfigEntries(hass, {})
    loader.async_setup(hass)
    entity.async_setup(hass)
    template.async_setup(hass)
    await trigger.async_setup(hass)
    await condition.async_setup(hass)
    answers = []
    for kind, definition in json.loads(sys.argv[1]):
        try:
            answers.append({"valid": await validated(hass, kind, definition)})
        except Exception as error:
            answers.append({"error": f"{type(error).__name__}: {error}"})
    print(json.dumps(answers, sort_keys=True))
    sys.stdout.flush()
    os._exit(0)  # skips the shutdown of the hub

asyncio.run(main())
