import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { Home, hub } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';
import { getBanned, OPERATOR_ADDRESS, setLoginThreshold, statusFrom } from './hub-in-sandbox';

let home: Home;
let operator: TestOperator;
let client: HubClient;
let url: string;

const bans = async () => readFile(join(await home.volumeOf('h'), 'ip_bans.yaml'), 'utf8');
const status = async () => (await home.get('hub', 'h')).status ?? {};
const podUid = async () => (await home.get('pod', 'h-0')).metadata.uid;
const recovered = (count: number) =>
  until(`the hub is well again after ban ${count}`, async () => {
    const { selfUnbanCount } = await status();
    const { status: isReady, reason, message } = (await home.condition('hub', 'h')) ?? {};
    if (selfUnbanCount === count && isReady === 'True') return true;
    throw new Error(`${String(selfUnbanCount)} restarts, ${reason}: ${message}`);
  });
const minutesAgo = (minutes: number) =>
  new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '');
/** Moves the times in the status back, as if that much time had passed, as the field manager of the operator. */
async function remember(fields: object): Promise<void> {
  const { status: present } = await home.get('hub', 'h');
  const input = JSON.stringify({ ...hub('h'), spec: undefined, status: { ...present, ...fields } });
  const asOperator = ['--server-side', '--subresource=status', '--field-manager=hub-operator-status'];
  await mustKubectl(['apply', ...asOperator, '--force-conflicts', '--filename=-'], {
    namespace: home.namespace,
    input,
  });
}

/** The operator looks at it again, and again. */
async function forcedReconciles(count = 2): Promise<void> {
  for (let pass = 0; pass < count; pass++) {
    const at = String(Date.now());
    await home.annotate('hub', 'h', `hub-operator.dev/reconcile-requested-at=${at}`);
    await until('it was looked at again', async () => (await status())['lastHandledReconcileAt'] === at);
  }
}

beforeAll(async () => {
  home = new Home(await freshNamespace('ban'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'h');
  client = await home.client('h');
  url = client.rest.address.url;
  // The hub reads it when it starts, which setting the threshold makes it do.
  await appendFile(
    join(await home.volumeOf('h'), 'ip_bans.yaml'),
    `\n192.168.77.7:\n  banned_at: '2026-11-20T22:14:37+00:00'\n`,
  );
  await setLoginThreshold(client, 3);
  await home.ready('hub', 'h');
});

// One hub lives through these in order.
describe('a hub that bans the operator', () => {
  test('is not restarted for failed logins, refusals and other 403s that are no ban', async () => {
    const before = await podUid();
    expect(await statusFrom(OPERATOR_ADDRESS, url, '/api/config', 'wrong')).toBe(401);
    expect(await statusFrom(OPERATOR_ADDRESS, url, '/api/states/sun.sun', 'wrong')).toBe(401);
    await forcedReconciles();
    expect(await podUid()).toBe(before);
    expect((await home.condition('hub', 'h'))!.status).toBe('True');
    expect(await status()).not.toHaveProperty('selfUnbanCount');
  });

  test('is restarted without the ban on the operator, and with those on others', async () => {
    const before = await podUid();
    await getBanned(OPERATOR_ADDRESS, url);
    expect(await bans()).toContain(OPERATOR_ADDRESS);
    const recovering = await until('recovery is under way', async () =>
      home.condition('hub', 'h', 'BanRecoveryFailed'),
    );
    expect(recovering).toMatchObject({ status: 'False', reason: 'Recovering' });
    const { selfUnbanCount, lastSelfUnban, banWindow } = await status();
    expect({ selfUnbanCount, banWindow }).toEqual({
      selfUnbanCount: 1,
      banWindow: { startedAt: lastSelfUnban, restarts: 1 },
    });
    expect(Math.abs(Date.parse(String(lastSelfUnban)) - Date.now())).toBeLessThan(180_000);

    await recovered(1);
    expect(await podUid()).not.toBe(before);
    expect(await bans()).not.toContain(OPERATOR_ADDRESS);
    expect(await bans()).toContain('192.168.77.7');
    expect(await statusFrom(OPERATOR_ADDRESS, url, '/manifest.json')).toBe(200);
    // The success has reset the window; what ever happened stays told.
    expect(await status()).toMatchObject({ selfUnbanCount: 1, lastSelfUnban });
    expect(await status()).not.toHaveProperty('banWindow');
    expect(await home.condition('hub', 'h', 'BanRecoveryFailed')).toBeUndefined();
    const events = (await home.events('Hub', 'h')).filter((event) => event.includes('SelfUnban'));
    expect(events).toEqual([
      expect.stringMatching(
        /^Warning SelfUnban: .*to lift the ban on 127\.0\.0\.2 \(restart 1 of 3 in 30 minutes\)/,
      ),
    ]);
  });

  test('is not restarted again within five minutes, also by an operator that was started anew', async () => {
    const before = await podUid();
    await getBanned(OPERATOR_ADDRESS, url);
    const { message } = await home.ready('hub', 'h', { status: 'False', reason: 'HubBanned' });
    expect(message).toMatch(/The next restart is not before .*Z/);
    await operator.kill();
    await operator.start();
    await forcedReconciles();
    expect((await home.condition('hub', 'h'))!.reason).toBe('HubBanned');
    expect(await podUid()).toBe(before);
    expect(await status()).toMatchObject({ selfUnbanCount: 1 });
  });

  test('is restarted again after that', async () => {
    await remember({ lastSelfUnban: minutesAgo(6) });
    await forcedReconciles(1);
    await recovered(2);
    expect(await bans()).not.toContain(OPERATOR_ADDRESS);
  });

  test('is given up after three restarts in thirty minutes, only reported where banRecovery.enabled is false, and taken up again when the window ends', async () => {
    await getBanned(OPERATOR_ADDRESS, url);
    await home.ready('hub', 'h', { status: 'False', reason: 'HubBanned' });
    const before = await podUid();
    await remember({ lastSelfUnban: minutesAgo(6), banWindow: { startedAt: minutesAgo(20), restarts: 3 } });
    await forcedReconciles(1);
    const failed = await until('recovery is given up', async () => {
      const condition = await home.condition('hub', 'h', 'BanRecoveryFailed');
      return condition?.status === 'True' && condition;
    });
    expect(failed).toMatchObject({
      reason: 'RestartLimitExceeded',
      message: expect.stringContaining('ip_bans.yaml'),
    });
    expect(await home.condition('hub', 'h', 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'HubBanned',
    });
    expect(await podUid()).toBe(before);
    expect(await status()).toMatchObject({ selfUnbanCount: 2, phase: 'Failed' });

    // Only reported, from now on.
    await home.change('hub', 'h', { banRecovery: { enabled: false } });
    const { message } = await home.ready('hub', 'h', { status: 'False', reason: 'HubBanned' });
    expect(message).toContain('banRecovery.enabled is false');
    expect(await home.condition('hub', 'h', 'BanRecoveryFailed')).toBeUndefined();
    await remember({ lastSelfUnban: minutesAgo(12), banWindow: { startedAt: minutesAgo(31), restarts: 3 } });
    await forcedReconciles();
    expect(await podUid()).toBe(before);
    await home.change('hub', 'h', { banRecovery: { enabled: true } });
    await recovered(3);
    expect(await home.condition('hub', 'h', 'BanRecoveryFailed')).toBeUndefined();
  });

  test('is given up at once when the hub sees the operator under another address than POD_IP', async () => {
    await operator.stop();
    const misled = await startTestOperator(home.namespace, { settings: { POD_IP: '127.0.0.9' } });
    await remember({ lastSelfUnban: minutesAgo(6) });
    await until(
      'the pod is told that address',
      async () => (await home.get('configmap', 'h-operator-ip')).data?.['ip'] === '127.0.0.9',
    );
    await home.ready('hub', 'h');
    await getBanned(OPERATOR_ADDRESS, url);
    const failed = await until('recovery is given up', async () => {
      const condition = await home.condition('hub', 'h', 'BanRecoveryFailed');
      return condition?.status === 'True' && condition;
    });
    // One restart was tried; five minutes or two more restarts were not needed to see that it does not help.
    expect(failed).toMatchObject({
      reason: 'RestartDidNotHelp',
      message: expect.stringMatching(/127\.0\.0\.9 is not among the bans; banned are .*127\.0\.0\.2/),
    });
    expect(await status()).toMatchObject({ selfUnbanCount: 4 });
    await misled.stop();
  });
});
