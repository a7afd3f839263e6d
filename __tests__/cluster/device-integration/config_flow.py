"""A config flow whose forms behave as device.json says at the time when each is shown."""

import asyncio

try:
    import probatio
except ImportError:  # hubs before 2026.11
    import voluptuous as probatio

from homeassistant.config_entries import ConfigFlow, OptionsFlow
from homeassistant.core import callback

from .device import behaviour, note

DOMAIN = __package__.rpartition(".")[2]
AT_IMPORT = behaviour()


def fields(*names):
    return probatio.Schema({probatio.Required(name): str for name in names})


class DeviceFlow(ConfigFlow, domain=DOMAIN):
    VERSION = 1
    answers = {}

    async def behaviour(self):
        return await self.hass.async_add_executor_job(behaviour)

    async def is_rejected(self, answers):
        """Returns whether the device rejects the password. Each login is recorded."""
        now = await self.behaviour()
        if now.get("password") is None:
            return False
        await self.hass.async_add_executor_job(note, {"login": answers["password"]})
        return answers["password"] != now["password"]

    async def async_step_user(self, user_input=None):
        now = await self.behaviour()
        if now.get("picks") and user_input is None and not self.answers:
            return await self.async_step_pick()
        names = ["host"] if now.get("password") is None else ["host", "password"]
        if user_input is None:
            return self.async_show_form(step_id="user", data_schema=fields(*names))
        await asyncio.sleep(now.get("formSleep", 0))
        if await self.is_rejected(user_input):
            return self.async_show_form(
                step_id="user", data_schema=fields(*names), errors={"base": "invalid_auth"}
            )
        if now.get("hasUniqueId"):
            entry = await self.async_set_unique_id(user_input["host"])
            if entry and now.get("takesOver"):
                return self.async_update_reload_and_abort(
                    entry, data=user_input, reason="reconfigure_successful"
                )
            if not now.get("replaces"):
                self._abort_if_unique_id_configured()
        return self.async_create_entry(title=user_input["host"], data=user_input)

    async def async_step_pick(self, user_input=None):
        """A form that is shown only when device.json sets `picks`."""
        if user_input is None:
            return self.async_show_form(step_id="pick", data_schema=fields("device"))
        self.answers = user_input
        return await self.async_step_user()

    async def async_step_reauth(self, entry_data):
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(self, user_input=None):
        now = await self.behaviour()
        names = ["password"] if now.get("reauth") == "password" else []
        if user_input is None:
            return self.async_show_form(step_id="reauth_confirm", data_schema=fields(*names))
        await self.hass.async_add_executor_job(note, {"reauth": sorted(user_input)})
        if names and await self.is_rejected(user_input):
            return self.async_show_form(
                step_id="reauth_confirm", data_schema=fields(*names), errors={"base": "invalid_auth"}
            )
        return self.async_update_reload_and_abort(self._get_reauth_entry(), data_updates=user_input)

    if AT_IMPORT.get("reconfigures"):

        async def async_step_reconfigure(self, user_input=None):
            if user_input is None:
                return self.async_show_form(step_id="reconfigure", data_schema=fields("host"))
            await self.hass.async_add_executor_job(note, {"reconfigure": user_input["host"]})
            return self.async_update_reload_and_abort(
                self._get_reconfigure_entry(), data_updates=user_input
            )

    if AT_IMPORT.get("hasOptions"):

        @staticmethod
        @callback
        def async_get_options_flow(config_entry):
            return DeviceOptions()


class DeviceOptions(OptionsFlow):
    async def async_step_init(self, user_input=None):
        if user_input is not None:
            return self.async_create_entry(data=user_input)
        return self.async_show_form(step_id="init", data_schema=fields("interval"))
