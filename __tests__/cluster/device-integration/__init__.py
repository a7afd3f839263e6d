"""Sets a config entry up with the behaviour in device.json."""

import asyncio

from homeassistant.exceptions import ConfigEntryAuthFailed

from .device import behaviour, fail_once, note


async def async_setup_entry(hass, entry):
    run = hass.async_add_executor_job
    now = await run(behaviour)
    await run(note, {"setup": entry.data.get("host")})
    await asyncio.sleep(now.get("setupSleep", 0))
    if await run(fail_once):
        raise RuntimeError("the set-up fails this time")
    if now.get("password") is not None and entry.data.get("password") != now["password"]:
        raise ConfigEntryAuthFailed("the device has another password")
    return True


async def async_unload_entry(hass, entry):
    return True
