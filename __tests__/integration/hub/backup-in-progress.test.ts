import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshNamespace, until } from '../../cluster';
import { configuration, DEFAULT_CONFIGURATION, Home, hub } from '../../cluster/home';
import { running } from '../../cluster/http-settings';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';

const DOMAIN = 'slow_backup';

/** The files of an integration whose backups wait while its file `waits` exists. */
const FILES = {
  'manifest.json': JSON.stringify({
    domain: DOMAIN,
    name: 'Slow backup',
    version: '1.0.0',
    codeowners: [],
    documentation: 'https://example.org',
    iot_class: 'calculated',
    requirements: [],
  }),
  '__init__.py': `
from homeassistant.helpers import config_validation as cv

CONFIG_SCHEMA = cv.empty_config_schema("${DOMAIN}")


async def async_setup(hass, config):
    return True
`,
  'backup.py': `
import asyncio
from pathlib import Path


async def async_pre_backup(hass):
    while await hass.async_add_executor_job(Path(__file__).with_name("waits").exists):
        await asyncio.sleep(0.2)


async def async_post_backup(hass):
    pass
`,
};

let home: Home;
let directory: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('backup-in-progress'));
  await startTestOperator(home.namespace);
  directory = join(await restoreOnboarded(home, 'h'), 'custom_components', DOMAIN);
  await mkdir(directory, { recursive: true });
  for (const [name, content] of Object.entries({ ...FILES, waits: '' }))
    await writeFile(join(directory, name), content);
  await home.apply(hub('h'), configuration('h', `${DEFAULT_CONFIGURATION}${DOMAIN}:\n`));
  await home.ready('hub', 'h');
});

test('a changed pod is replaced after the end of a backup, which is complete', async () => {
  const client = await home.client('h');
  await running(client);
  const pod = async () => (await home.get('pod', 'h-0')).metadata;
  const { uid } = await pod();
  await client.connection.command('backup/generate', {
    agent_ids: ['backup.local'],
    name: 'Before the change',
  });
  await home.change('hub', 'h', { podTemplate: { metadata: { annotations: { changed: 'yes' } } } });
  await until('the Hub says that it waits', async () =>
    (await home.condition('hub', 'h'))?.message.includes(
      'A pending change of its pod waits for the end of a backup, for an hour at most.',
    ),
  );
  expect(await pod()).toMatchObject({ uid });
  await rm(join(directory, 'waits'));
  await until('the pod is replaced', async () => (await pod()).uid !== uid);
  expect((await home.ready('hub', 'h')).message).not.toContain('backup');
  const { backups } = await (await home.client('h')).connection.command('backup/info');
  expect(backups).toEqual([expect.objectContaining({ name: 'Before the change' })]);
});
