import { URL_ANNOTATION } from '../../../sandbox/node';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub } from '../../cluster/home';
import { HubProxy } from '../../cluster/hub-proxy';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// Rare or brief answers of a hub, and answers of a proxy in front of it.

const PROXIED = 'example.org/proxied-hub';

let home: Home;
let operator: TestOperator;
let proxy: HubProxy | undefined;

/** Answers requests with these beginnings in place of the hub. */
const answering = (faults: Readonly<Record<string, number>>) => {
  if (proxy)
    proxy.fault = (what) => Object.entries(faults).find(([beginning]) => what.startsWith(beginning))?.[1];
};
const began = Date.now();
const status = async () => (await home.get('hub', 'h')).status ?? {};

beforeAll(async () => {
  home = new Home(await freshNamespace('proxied'));
  operator = await startTestOperator(home.namespace, { settings: { HUB_URL_ANNOTATION: PROXIED } });
  await home.apply(hub('h'), configuration('h'));
  const url = await until(
    'the hub has an address',
    async () => (await home.get('service', 'h')).metadata.annotations?.[URL_ANNOTATION],
  );
  proxy = await HubProxy.start(url);
  answering({ 'GET /manifest.json': 404 });
  await home.annotate('service', 'h', `${PROXIED}=${proxy.url}`);
});

afterEach(() => answering({}));
afterAll(() => proxy?.stop());

// All tests use one hub, and run in this order.
describe('a hub behind a proxy', () => {
  test('a hub that has not loaded its API is waited for', async () => {
    const { phase, bootstrap, conditions } = await until('it is waited for', async () => {
      const present = await status();
      const ready = present.conditions?.find(({ type }) => type === 'Ready');
      return ready?.reason === 'ApiNotLoaded' && present;
    });
    const { message } = conditions![0]!;
    expect(phase).toBe('Pending');
    expect(bootstrap).toMatchObject({ state: 'WaitForAPIReady', message });
    const { lastAttempt } = bootstrap as { lastAttempt: string }; // the status has whole seconds
    expect(Date.parse(lastAttempt)).toBeGreaterThan(began - 1_000);
    expect(Date.parse(lastAttempt)).toBeLessThanOrEqual(Date.now());
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: 'BootstrapReady', status: 'False', reason: 'InProgress', message }),
    );
    answering({});
    await home.ready('hub', 'h');
  });

  test('a 403 or 429 that is not a ban restarts nothing', async () => {
    const { uid } = (await home.get('pod', 'h-0')).metadata;
    for (const [answer, reason] of [
      [403, 'ApiNotLoaded'],
      [429, 'HubUnreachable'],
    ] as const) {
      answering({ 'GET /api/config': answer });
      await home.ready('hub', 'h', { status: 'False', reason });
      await operator.touch('Hub', 'h');
    }
    answering({});
    await home.ready('hub', 'h');
    expect((await home.get('pod', 'h-0')).metadata.uid).toBe(uid);
    expect(await status()).not.toHaveProperty('selfUnbanCount');
    expect((await status()).conditions!.map(({ type }) => type)).not.toContain('BanRecoveryFailed');
  });
});
