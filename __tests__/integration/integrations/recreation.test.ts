import type { ConfigEntry } from '../../../operator/client/connection/flow-step';
import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { Home, integration } from '../../cluster/home';
import type { HubProxy } from '../../cluster/hub-proxy';
import { killAtRequest } from '../../cluster/kill-at-request';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { addStepIntegration, STEPS } from '../../cluster/step-integration';
import { proxiedHub, throughProxies } from '../config-entities/proxied-hub';

const KIND = 'hubintegration';
const FLOW = '/api/config/config_entries/flow';
const ENTRY = '/api/config/config_entries/entry';

let home: Home;
let operator: TestOperator;
let proxy: HubProxy;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('recreation'));
  operator = await startTestOperator(home.namespace, { settings: throughProxies });
  proxy = await proxiedHub(home, 'villa', addStepIntegration);
  client = await home.client('villa');
});

afterEach(() => proxy.mend());
afterAll(() => proxy?.stop());

const entries = async (): Promise<readonly ConfigEntry[]> =>
  [...(await client.configEntries.refreshed()).values()].filter(({ domain }) => domain === STEPS);
const ids = async () => (await entries()).map(({ entry_id: id }) => id);
const statusOf = async (name: string) => (await home.get(KIND, name)).status!;
const entryIdOf = async (name: string) => (await statusOf(name))['entryID'] as string | undefined;
/** Answers of a flow that only asks for a choice in a menu. */
const chosen = (menuOption: string) => ({
  steps: [{ stepId: 'user', menuOption }],
  reconfigure: 'Recreate',
});

/** Kills the operator when the hub has processed the request, before the operator has the answer. */
const killedAt = (isHit: (what: string) => boolean, act: () => Promise<unknown>) =>
  killAtRequest(operator, proxy, { moment: 'answer', isHit }, act);

describe('reconfigure: Recreate', () => {
  test('an operator that is killed in the new flow leaves the decision to a user, and one that is killed in the removal of the former entry leaves one entry', async () => {
    await home.apply(integration('villa', 'changed', STEPS, chosen('lamp')));
    await home.ready(KIND, 'changed', { reason: 'EntryLoaded' });
    const [first] = await ids();

    // The hub has created the second entry, and the operator does not know.
    await killedAt(
      (what) => what.startsWith(`POST ${FLOW}/`),
      () => home.change(KIND, 'changed', chosen('door')),
    );
    const second = (await ids()).find((id) => id !== first);
    expect(await entries()).toHaveLength(2);
    expect(await statusOf('changed')).toMatchObject({
      entryID: first,
      pendingFlow: { entryIDs: [first] },
    });
    await operator.start();
    const { message } = await home.ready(KIND, 'changed', { status: 'False', reason: 'ConfigFlowFailed' });
    expect(message).toMatch(/was interrupted.*“Door”.*remove it in the hub/);
    await operator.calm();
    expect(await ids()).toEqual([first, second]);
    // A user removes the second entry, and the flow runs again.
    await client.configEntries.remove(second!);
    await home.ready(KIND, 'changed', { reason: 'EntryLoaded' });
    await until('the first one is gone', async () => !(await ids()).includes(first!));
    const [taken] = await ids();
    expect(await entries()).toMatchObject([{ entry_id: await entryIdOf('changed'), title: 'Door' }]);
    await until('it is done', async () => (await statusOf('changed'))['pendingFlow'] === undefined);
    expect(await statusOf('changed')).not.toHaveProperty('pendingFlow');
    await home.event('HubIntegration', 'changed', /^Warning EntryRecreated: .*“Door”/);

    // The hub has removed the former entry, and the operator does not know.
    await killedAt(
      (what) => what.startsWith(`DELETE ${ENTRY}/`),
      () => home.change(KIND, 'changed', chosen('lamp')),
    );
    const [third, ...others] = await ids();
    expect(others).toEqual([]);
    expect(third).not.toBe(taken);
    await operator.start();
    await until(
      'the removal has ended',
      async () => (await statusOf('changed'))['pendingFlow'] === undefined,
    );
    await home.ready(KIND, 'changed', { reason: 'EntryLoaded' });
    expect(await entryIdOf('changed')).toBe(third);
    expect(await entries()).toMatchObject([{ entry_id: third, title: 'Lamp' }]);
  });
});
