import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Puts a custom integration on the volume of a hub, as a HubCommunityRepository does. The hub finds the
 * integration when it starts.
 * @param setup the lines of its `async_setup(hass, config)`
 */
export async function addCustomIntegration(volume: string, domain: string, ...setup: string[]) {
  const directory = join(volume, 'custom_components', domain);
  await mkdir(directory, { recursive: true });
  const manifest = { domain, name: domain, version: '1.0.0', documentation: '', codeowners: [] };
  await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest));
  const lines = ['import asyncio', '', '', 'async def async_setup(hass, config):'];
  const body = setup.map((line) => `    ${line}`);
  await writeFile(join(directory, '__init__.py'), [...lines, ...body, ''].join('\n'));
}
