import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GROUP_VERSION } from '../../operator/kinds/group';
import { objectNames } from '../../operator/kinds/object-names';
import { freshNamespace, until } from '../cluster';
import { adminCluster } from '../cluster/admin-cluster';
import { ApiProxy } from '../cluster/api-proxy';
import { automation, configuration, Home, hub } from '../cluster/home';
import { startTestOperator, type TestOperator } from '../cluster/operator';
import { STAND_IN } from '../cluster/stand-in-hub';

// The cost of a hub's restart for the API server. The hub in the pod is a lightweight stand-in: a real one
// needs minutes to take hundreds of automations, and the counted writes depend on the operator alone. The
// unit test unit/sync/hub-restart.test.ts counts the cost of 500 without a cluster.

const CHILDREN = 100;
const CREATES_AT_ONCE = 20;
/** A shell command that starts the hub when a file on its volume is removed. */
const HELD_BACK = 'while [ -e "$0" ]; do sleep 0.2; done; exec "$1" "$2"';

let home: Home;
let operator: TestOperator;
/** The number of writes of the status of each automation. */
const statusWrites = new Map<string, number>();
/** Names of the events that were written for automations. */
const events: string[] = [];

async function createChildren(): Promise<void> {
  const cluster = adminCluster();
  const path = `/apis/${GROUP_VERSION}/namespaces/${home.namespace}/hubautomations`;
  let next = 0;
  const create = async () => {
    for (let index = next++; index < CHILDREN; index = next++)
      await cluster.request({ method: 'POST', path, body: automation('villa', `automation-${index}`) });
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, create));
}

const noneReady = async () => {
  const children = await home.list('hubautomations');
  const unaware = children.filter(
    ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
  );
  if (unaware.length > 0) throw new Error(`${unaware.length} of ${children.length} are still Ready`);
  return true;
};

const allReady = async () => {
  const children = await home.list('hubautomations');
  const waiting = children.filter(
    ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True',
  );
  if (waiting.length > 0) throw new Error(`${waiting.length} of ${children.length} are not Ready`);
  return children.length === CHILDREN;
};

beforeAll(async () => {
  home = new Home(await freshNamespace('hub-restart'));
  const proxy = await ApiProxy.start((moment, { method, path, body }) => {
    const name = /\/hubautomations\/([^/]+)\/status$/.exec(path)?.[1];
    if (moment === 'before' && method === 'PATCH' && name !== undefined)
      statusWrites.set(name, (statusWrites.get(name) ?? 0) + 1);
    // The name of an event begins with that of its resource, even in a request that increments its count.
    const event = /\/events(?:\/(.+))?$/.exec(path);
    const eventName = event?.[1] ?? (body as { metadata?: { name?: string } } | undefined)?.metadata?.name;
    if (moment === 'before' && event && eventName?.startsWith('automation-')) events.push(eventName);
    return Promise.resolve('on');
  });
  operator = await startTestOperator(home.namespace, {
    kubeconfig: proxy.kubeconfig,
    settings: { LOG_LEVEL: 'info' },
  });
  const env = [{ name: 'STATE_FILE', value: '/config/stand-in.json' }];
  const container = {
    name: 'hub',
    command: ['sh', '-c', HELD_BACK, '/config/held-back', process.execPath, STAND_IN],
    env,
  };
  await home.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: objectNames('villa').apiToken },
      stringData: { token: 'a token that a stand-in takes' },
    },
    configuration('villa'),
    hub('villa', {
      bootstrap: { enabled: false },
      podTemplate: { spec: { containers: [container] } },
    }),
  );
  await home.ready('hub', 'villa');
  await createChildren();
  await until('all automations are Ready', allReady);
  await operator.calm();
});

describe('the restart of a hub', () => {
  test(`with ${CHILDREN} automations costs two status writes of each, also of one that notices before the Hub, and no event of one`, async () => {
    const before = await operator.events('Hub', 'villa');
    statusWrites.clear();
    events.length = 0;
    // The hub must not come back before all automations have noticed the restart.
    const heldBack = join(await home.volumeOf('villa'), 'held-back');
    await writeFile(heldBack, '');
    try {
      await home.delete('pod', 'villa-0', { wait: false });
      await until('all automations have noticed', noneReady);
      await home.ready('hub', 'villa', { status: 'False', reason: 'PodNotReady' });
    } finally {
      await rm(heldBack);
    }
    await until('all automations are Ready', allReady);
    await operator.calm();
    expect([...statusWrites.keys()]).toHaveLength(CHILDREN);
    expect([...statusWrites].filter(([, writes]) => writes !== 2)).toEqual([]);
    const ofTheHub = without(await operator.events('Hub', 'villa'), before);
    expect(ofTheHub.filter((event) => event.startsWith('Warning PodNotReady'))).toEqual([]);
    // Depending on timing the former pod is being replaced, or is gone and the next one is not created yet,
    // or the operator has lost its connection to the hub before the watch event of the pod.
    expect(ofTheHub.join('\n')).toMatch(/^(Normal PodNotReady: Pod villa-0 |Warning HubUnreachable: )/m);
    expect(events).toEqual([]);
  });
});

/** Returns the elements that occur more often in the list than in the other one. */
function without(list: readonly string[], other: readonly string[]): string[] {
  const rest = [...other];
  return list.filter((each) => {
    const index = rest.indexOf(each);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}
