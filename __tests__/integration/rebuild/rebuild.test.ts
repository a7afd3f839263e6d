import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace } from '../../cluster';
import { BUNDLE } from '../../cluster/command-line';
import { Home } from '../../cluster/home';
import { HubToExport } from '../../cluster/hub-to-export';
import { startTestOperator } from '../../cluster/operator';
import { differencesOf } from './differences';
import { BLUEPRINT, clientOf, FILES, furnish, INTEGRATIONS } from './home-of-a-household';
import { page, unexpected, unused } from './not-in-git';
import { snapshotOf } from './snapshot';

// A home that was made in the UI of a hub is exported, and set up again from its files alone.

const PAGE = join(__dirname, '../../../docs/explanation/what-git-does-not-have.md');
/** The hub of the sandbox lacks the package of Google Translate; the kitchen sink always asks for a new login. */
const UNUSABLE = /^(google-translate|kitchen-sink)/;

const clients: HubClient[] = [];
const hubs: HubToExport[] = [];
afterAll(async () => {
  for (const client of clients) client.close();
  await Promise.all(hubs.map((each) => each.dispose()));
});

async function start(files: Readonly<Record<string, string>>, language: string) {
  const hub = await HubToExport.start(files, INTEGRATIONS, language);
  hubs.push(hub);
  const client = clientOf(hub);
  clients.push(client);
  return { hub, client };
}

/** Adds the blueprints of the files of a hub to its export. */
async function convertBlueprints(hub: HubToExport) {
  const path = (name: string) => hub.path(name);
  const options = ['--hub=villa', '--output=json', `--to=${path('converted')}`];
  const args = [BUNDLE, 'convert', hub.process.configDir, ...options];
  // Exit code 3: other files of the folder stay.
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(
    (error: unknown) => error as { stdout: string },
  );
  const { written } = JSON.parse(stdout) as { written: readonly string[] };
  const found = written.filter((file) => file.startsWith('blueprints/'));
  for (const file of found)
    await cp(join(path('converted'), file), join(path('villa'), file), { recursive: true });
  return found.map((file) => ({ kind: 'HubBlueprint', name: basename(file, '.yaml') }));
}

test.each(['en', 'de'])(
  'a home in %s is equal after it was set up again from its files',
  async (language) => {
    const home = new Home(await freshNamespace(`rebuild-${language}`));
    const before = await start(FILES, language);
    await furnish(before.client);
    const { written, notExpressed, contents } = await before.hub.export(home.namespace, 'villa');
    // The hub shows no text of a blueprint: its file is converted.
    expect(notExpressed.map(({ object }) => object)).toEqual([`blueprint automation/${BLUEPRINT}`]);
    expect((await before.hub.export(home.namespace, 'again')).contents).toEqual(contents);
    const blueprints = await convertBlueprints(before.hub);

    await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
    const usable = [...blueprints, ...written].filter(({ name }) => !UNUSABLE.test(name));
    const after = await start({}, language);
    await after.hub.adopt(home, before.hub.path('villa'), usable);
    const found = differencesOf(await snapshotOf(before.client), await snapshotOf(after.client));
    expect(unexpected(found)).toEqual([]);
    expect(unused(found)).toEqual([]);
  },
);

test('applied to the hub of the export, the files write nothing', async () => {
  const home = new Home(await freshNamespace('rebuild-same'));
  const [hub] = hubs;
  await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
  const { written } = await hub!.export(home.namespace, 'same');
  const usable = written.filter(({ name }) => !UNUSABLE.test(name));
  expect(await hub!.adopt(home, hub!.path('same'), usable)).toEqual([]);
});

test('the page of what Git does not have names each difference', async () => {
  expect(await readFile(PAGE, 'utf8')).toBe(page());
});
