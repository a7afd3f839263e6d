import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Domain of a test integration. It has the flow steps that otherwise occur only in integrations that need a
 * network or a device.
 */
export const STEPS = 'all_steps';

const MANIFEST = {
  domain: STEPS,
  name: 'All steps',
  version: '1.0.0',
  config_flow: true,
  codeowners: [],
  dependencies: ['file_upload'],
  documentation: 'https://example.org',
  iot_class: 'calculated',
  requirements: [],
};

const INIT = `
async def async_setup_entry(hass, entry):
    return True


async def async_unload_entry(hass, entry):
    return True
`;

// The title of the entry is the text of the uploaded file, so that a test sees the content that arrived.
const CONFIG_FLOW = `
import asyncio

try:
    import probatio
except ImportError:  # before 2026.11
    import voluptuous as probatio

from homeassistant.components.file_upload import process_uploaded_file
from homeassistant.config_entries import ConfigFlow, OptionsFlow
from homeassistant.core import callback
from homeassistant.helpers import selector


class AllStepsFlow(ConfigFlow, domain="${STEPS}"):
    VERSION = 1
    task = None

    @staticmethod
    @callback
    def async_get_options_flow(config_entry):
        return AllStepsOptions()

    async def async_step_user(self, user_input=None):
        return self.async_show_menu(step_id="user", menu_options=["file", "work", "login", "lamp", "door"])

    async def async_step_file(self, user_input=None):
        if user_input is None:
            field = selector.FileSelector(config=selector.FileSelectorConfig(accept=".txt"))
            schema = probatio.Schema({probatio.Required("certificate"): field})
            return self.async_show_form(step_id="file", data_schema=schema)

        def read():
            with process_uploaded_file(self.hass, user_input["certificate"]) as path:
                return path.name + " " + path.read_text()

        return self.async_create_entry(title=await self.hass.async_add_executor_job(read), data={})

    async def async_step_work(self, user_input=None):
        if self.task is None:
            self.task = self.hass.async_create_task(asyncio.sleep(1))
        if not self.task.done():
            return self.async_show_progress(step_id="work", progress_action="work", progress_task=self.task)
        return self.async_show_progress_done(next_step_id="worked")

    async def async_step_worked(self, user_input=None):
        return self.async_create_entry(title="Worked", data={})

    async def async_step_lamp(self, user_input=None):
        return self.async_create_entry(title="Lamp", data={})

    async def async_step_door(self, user_input=None):
        return self.async_create_entry(title="Door", data={})

    async def async_step_login(self, user_input=None):
        return self.async_external_step(step_id="login", url="https://example.org/login")


class AllStepsOptions(OptionsFlow):
    async def async_step_init(self, user_input=None):
        return self.async_show_menu(step_id="init", menu_options=["colour", "size"])

    async def async_step_size(self, user_input=None):
        return self.async_abort(reason="not_of_this_test")

    async def async_step_colour(self, user_input=None):
        if user_input is not None:
            return self.async_create_entry(data=user_input)
        suggested = {"suggested_value": self.config_entry.options.get("colour")}
        schema = probatio.Schema({probatio.Required("colour", description=suggested): str})
        return self.async_show_form(step_id="colour", data_schema=schema)
`;

/** Puts the integration on the volume of a hub that has not started yet. */
export async function addStepIntegration(volume: string): Promise<void> {
  const directory = join(volume, 'custom_components', STEPS);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'manifest.json'), JSON.stringify(MANIFEST));
  await writeFile(join(directory, '__init__.py'), INIT);
  await writeFile(join(directory, 'config_flow.py'), CONFIG_FLOW);
}
