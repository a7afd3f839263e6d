import { URL_ANNOTATION } from '../../../sandbox/node';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub } from '../../cluster/home';
import { HubProxy } from '../../cluster/hub-proxy';
import { startTestOperator } from '../../cluster/operator';

// What a hub answers seldom or only for a moment, and what something in front of it answers.

const PROXIED = 'example.org/proxied-hub';

let home: Home;
let proxy: HubProxy;

/** Answers requests of that beginning in place of the hub. */
const answering = (faults: Readonly<Record<string, number>>) => {
  proxy.fault = (what) => Object.entries(faults).find(([beginning]) => what.startsWith(beginning))?.[1];
};
const status = async () => (await home.get('hub', 'h')).status ?? {};

beforeAll(async () => {
  home = new Home(await freshNamespace('proxied'));
  await startTestOperator(home.namespace, { settings: { HUB_URL_ANNOTATION: PROXIED } });
  await home.apply(hub('h'), configuration('h'));
  const url = await until(
    'the hub has an address',
    async () => (await home.get('service', 'h')).metadata.annotations?.[URL_ANNOTATION],
  );
  proxy = await HubProxy.start(url);
  answering({ 'GET /manifest.json': 404 });
  await home.annotate('service', 'h', `${PROXIED}=${proxy.url}`);
});

afterAll(() => proxy?.stop());

// One hub lives through these in order.
describe('a hub behind a proxy', () => {
  test('a hub that has not loaded its API is waited for', async () => {
    const { message } = await home.ready('hub', 'h', { status: 'False', reason: 'ApiNotLoaded' });
    const { phase, bootstrap } = (await status()) as { phase: string; bootstrap: { lastAttempt: string } };
    expect(phase).toBe('Pending');
    expect(bootstrap).toMatchObject({ state: 'WaitForAPIReady', message });
    expect(Math.abs(Date.parse(bootstrap.lastAttempt) - Date.now())).toBeLessThan(180_000);
    expect(await home.condition('hub', 'h', 'BootstrapReady')).toMatchObject({
      status: 'False',
      reason: 'InProgress',
      message,
    });
    answering({});
    await home.ready('hub', 'h');
  });

  test('a 403 or 429 that is no ban restarts nothing', async () => {
    const { uid } = (await home.get('pod', 'h-0')).metadata;
    for (const [answer, reason] of [
      [403, 'ApiNotLoaded'],
      [429, 'HubUnreachable'],
    ] as const) {
      answering({ 'GET /api/config': answer });
      await home.ready('hub', 'h', { status: 'False', reason });
      const asked = proxy.passed.length;
      await home.annotate('hub', 'h', `hub-operator.dev/reconcile-requested-at=${answer}`);
      await until('it was asked again', () => proxy.passed.length > asked);
    }
    answering({});
    await home.ready('hub', 'h');
    expect((await home.get('pod', 'h-0')).metadata.uid).toBe(uid);
    expect(await status()).not.toHaveProperty('selfUnbanCount');
    expect(await home.condition('hub', 'h', 'BanRecoveryFailed')).toBeUndefined();
  });
});
