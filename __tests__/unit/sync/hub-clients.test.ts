import type { Hub } from '../../../operator/kinds';
import type { ReconcileContext } from '../../../operator/runtime/sync-module';
import { type Child, childModule } from '../../../operator/sync/child';
import { HubClients } from '../../../operator/sync/hub-clients';
import type { Services } from '../../../operator/sync/services';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock } from '../manual-clock';

let secrets: Map<string, ReadonlyMap<string, string>>;
let phase: string;
let ready: 'True' | 'False';
let services: Services;
let hubs: HubClients;

beforeEach(() => {
  ready = 'True';
  phase = 'Running';
  secrets = new Map([['villa-api-token', new Map([['token', 'the-token']])]]);
  const hub = () =>
    ({
      metadata: { namespace: 'home', name: 'villa' },
      spec: {},
      status: {
        phase,
        url: 'http://127.0.0.1:9',
        conditions: [{ type: 'Ready', status: ready, reason: 'X', message: 'It is not well.' }],
      },
    }) as unknown as Hub;
  services = {
    clock: new ManualClock(),
    log: silentLog,
    settings: { hubSourceAddress: '', allowLocalHubs: false },
    secrets: { get: (_: string, name: string) => Promise.resolve(secrets.get(name)) },
    cache: {
      get: (kind: string, _: string, name: string) =>
        kind === 'Hub' ? hub() : secrets.has(name) ? { metadata: { name } } : undefined,
    },
    assertLeader: () => undefined,
  } as unknown as Services;
  hubs = new HubClients(services);
});

afterEach(() => hubs.close());

const redact = async (text: string) => {
  const reached = await hubs.reach('home', 'villa');
  if (!('client' in reached)) throw new Error(reached.outcome.message);
  return reached.client.rest.redact(text);
};

describe('HubClients', () => {
  test('masks the present values of the HubSecrets in messages of the hub', async () => {
    expect(await redact('the-token hunter2')).toBe('*** hunter2');
    secrets.set('villa-secrets', new Map([['secrets.yaml', 'wifi: "hunter2"\n']]));
    expect(await redact('the-token hunter2')).toBe('*** ***');
    secrets.set('villa-secrets', new Map([['secrets.yaml', 'wifi: "hunter3"\n']]));
    expect(await redact('the-token hunter3')).toBe('*** ***');
  });

  test('masks every line of a secrets.yaml that is no YAML', async () => {
    secrets.set('villa-secrets', new Map([['secrets.yaml', 'hunter2\n: [']]));
    expect(await redact('hunter2')).toBe('***');
  });

  test('give the client of a hub that runs although its Hub is not Ready, and none of another', async () => {
    ready = 'False';
    expect(await hubs.reach('home', 'villa')).toHaveProperty('client');
    ready = 'True';
    for (phase of ['Pending', 'Failed', 'Unknown'])
      expect(await hubs.reach('home', 'villa')).toMatchObject({ outcome: { reason: 'HubNotReady' } });
  });
});

describe('childModule', () => {
  const child = {
    metadata: { namespace: 'home', name: 'lights', uid: 'u' },
    spec: { hubRef: { name: 'villa' } },
  } as unknown as Child;
  let removed: number;
  const remove = () => {
    const module = childModule<Child>(services, hubs, {
      sync: () => Promise.reject(new Error('not asked')),
      remove: () => Promise.resolve((removed++, [])),
    });
    return module.remove!(child, {} as ReconcileContext);
  };

  beforeEach(() => {
    removed = 0;
  });

  test('removes the object although the Hub is not Ready, since its hub may respond', async () => {
    ready = 'False';
    expect(await remove()).toEqual([]);
    expect(removed).toBe(1);
  });

  test('skips the removal without a token, and says so in an event', async () => {
    secrets.clear();
    expect(await remove()).toMatchObject([{ reason: 'CleanupSkipped' }]);
    expect(removed).toBe(0);
  });
});
