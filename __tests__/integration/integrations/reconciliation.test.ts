import type { HubClient } from '../../../operator/client/hub-client';
import type { ConfigEntry } from '../../../operator/client/flow-step';
import { freshNamespace } from '../../cluster';
import { Home, integration } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';

// The table of rules.md, "Integrations", row by row, and what follows from it, with one hub for all.

let home: Home;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('entries'));
  await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
});

/** Entries of a domain as the hub has them now. */
async function entriesOf(domain: string): Promise<readonly ConfigEntry[]> {
  return [...(await client.configEntries.refreshed()).values()].filter((entry) => entry.domain === domain);
}
const statusOf = async (name: string) => (await home.get('hubintegration', name)).status!;
const entryIdOf = async (name: string) => String((await statusOf(name))['entryID']);
const values = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, { value }]));
const random = (name: string, maximum: string) => ({
  steps: [
    { stepId: 'user', menuOption: 'sensor' },
    { stepId: 'sensor', values: values({ name, minimum: '1', maximum }) },
  ],
});

describe('HubIntegration', () => {
  test('an integration without questions is created, and its entry removed with the resource', async () => {
    await home.apply(integration('villa', 'moon', 'moon'));
    await home.ready('hubintegration', 'moon', { reason: 'EntryLoaded' });
    const [entry] = await entriesOf('moon');
    expect(await statusOf('moon')).toMatchObject({
      entryID: entry!.entry_id,
      title: entry!.title,
      entryState: 'loaded',
    });
    expect(await statusOf('moon')).not.toHaveProperty('pendingFlow');
    expect(await statusOf('moon')).not.toHaveProperty('adopted');
    await home.delete('hubintegration', 'moon');
    expect(await entriesOf('moon')).toEqual([]);
  });

  test('a menu and a form: a changed value keeps the entry', async () => {
    await home.apply(integration('villa', 'dice', 'random', random('Dice', '6')));
    await home.ready('hubintegration', 'dice', { reason: 'EntryLoaded' });
    const id = await entryIdOf('dice');
    await home.apply(integration('villa', 'dice', 'random', random('Dice', '20')));
    await home.ready('hubintegration', 'dice', { reason: 'EntryLoaded' });
    expect(await entryIdOf('dice')).toBe(id);
    expect(await entriesOf('random')).toHaveLength(1);
  });
});
