import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { forceReconcile } from '../../cluster/forced-reconcile';
import { Home, hub } from '../../cluster/home';
import { ObjectHistory } from '../../cluster/object-history';
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
    // Ready was False before the count was raised.
    if (selfUnbanCount === count && isReady === 'True') return true;
    throw new Error(`${String(selfUnbanCount)} restarts, ${reason}: ${message}`);
  });
const minutesAgo = (minutes: number) =>
  new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '');
/** Moves times in the status, with the field manager of the operator, as if more or less time had passed. */
async function remember(fields: object): Promise<void> {
  const asOperator = ['--server-side', '--subresource=status', '--field-manager=hub-operator-status'];
  await until('the status is written', async () => {
    const { status: present, metadata } = await home.get('hub', 'h');
    // with the version, concurrent writes of the operator are not undone
    const { name, resourceVersion } = metadata;
    const status = { ...present, ...fields };
    await mustKubectl(['apply', ...asOperator, '--force-conflicts', '--filename=-'], {
      namespace: home.namespace,
      input: JSON.stringify({ ...hub('h'), metadata: { name, resourceVersion }, spec: undefined, status }),
    });
    return true;
  });
}

/** Sets the last restart to less than five minutes ago, however long a step of the tests takes. */
const restartedLately = () => remember({ lastSelfUnban: minutesAgo(-3) });
const isAbsent = async (type: string) =>
  !(await status()).conditions?.some((condition) => condition.type === type);
const givenUp = (reason: string, message: RegExp, fields: object) =>
  until('recovery is given up', async () => {
    const present = await status();
    const conditions = [
      {
        type: 'BanRecoveryFailed',
        status: 'True',
        reason,
        message: expect.stringMatching(message) as string,
      },
      { type: 'Stalled', status: 'True', reason: 'HubBanned' },
    ].map((condition) => expect.objectContaining(condition) as object);
    expect(present).toMatchObject({ ...fields, phase: 'Failed' });
    expect(present.conditions).toEqual(expect.arrayContaining(conditions));
    return true;
  });

beforeAll(async () => {
  home = new Home(await freshNamespace('ban'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'h');
  client = await home.client('h');
  url = client.rest.address.url;
  // The hub reads the file when it starts, and changing the threshold restarts it.
  await appendFile(
    join(await home.volumeOf('h'), 'ip_bans.yaml'),
    `\n192.168.77.7:\n  banned_at: '2026-11-20T22:14:37+00:00'\n`,
  );
  await setLoginThreshold(client, 3);
  await home.ready('hub', 'h');
});

// All tests use one hub, and run in this order.
describe('a hub that bans the operator', () => {
  test('is not restarted for failed logins, refusals and other 403s that are not bans', async () => {
    const before = await podUid();
    expect(await statusFrom(OPERATOR_ADDRESS, url, '/api/config', 'wrong')).toBe(401);
    expect(await statusFrom(OPERATOR_ADDRESS, url, '/api/states/sun.sun', 'wrong')).toBe(401);
    for (let pass = 0; pass < 2; pass++) await forceReconcile(home, 'hub', 'h');
    await home.ready('hub', 'h');
    expect(await podUid()).toBe(before);
    expect(await status()).not.toHaveProperty('selfUnbanCount');
  });

  test('is restarted without the ban on the operator, and with those on others', async () => {
    const before = await podUid();
    const history = await ObjectHistory.of(home, 'hub', 'h');
    const began = Date.now();
    await getBanned(OPERATOR_ADDRESS, url);
    const restarting = await history.find('a restart is counted', (state) =>
      state.status?.['selfUnbanCount'] === undefined ? undefined : state.status,
    );
    const { selfUnbanCount, lastSelfUnban, banWindow } = restarting;
    expect({ selfUnbanCount, banWindow }).toEqual({
      selfUnbanCount: 1,
      banWindow: { startedAt: lastSelfUnban, restarts: 1 },
    });
    expect(restarting.conditions).toContainEqual(
      expect.objectContaining({ type: 'BanRecoveryFailed', status: 'False', reason: 'Recovering' }),
    );
    expect(Date.parse(String(lastSelfUnban))).toBeGreaterThanOrEqual(began);
    expect(Date.parse(String(lastSelfUnban))).toBeLessThan(Date.now() + 1_000); // rounded up

    await recovered(1);
    expect(await podUid()).not.toBe(before);
    // The file had the ban, because the hub writes it before it answers with 403.
    expect((await home.get('pod', 'h-0')).status).toMatchObject({
      initContainerStatuses: expect.arrayContaining([
        expect.objectContaining({
          name: 'unban-operator-ip',
          state: {
            terminated: expect.objectContaining({
              message: expect.stringContaining(
                `"result": "removed", "address": "${OPERATOR_ADDRESS}"`,
              ) as string,
            }) as object,
          },
        }),
      ]) as object[],
    });
    expect(await bans()).not.toContain(OPERATOR_ADDRESS);
    expect(await bans()).toContain('192.168.77.7');
    expect(await statusFrom(OPERATOR_ADDRESS, url, '/manifest.json')).toBe(200);
    // The success has reset the window; the count of all restarts stays.
    expect(await status()).toMatchObject({ selfUnbanCount: 1, lastSelfUnban });
    expect(await status()).not.toHaveProperty('banWindow');
    expect(await isAbsent('BanRecoveryFailed')).toBe(true);
    const events = (await operator.events('Hub', 'h')).filter((event) => event.includes('SelfUnban'));
    expect(events).toEqual([
      expect.stringMatching(
        /^Warning SelfUnban: .*to lift the ban on 127\.0\.0\.2 \(restart 1 of 3 in 30 minutes\)/,
      ),
    ]);
  });

  test('is not restarted again within five minutes, also by an operator that was restarted', async () => {
    const before = await podUid();
    await restartedLately();
    await getBanned(OPERATOR_ADDRESS, url);
    const { message } = await home.ready('hub', 'h', { status: 'False', reason: 'HubBanned' });
    expect(message).toMatch(/The next restart is not before .*Z/);
    await operator.kill();
    await operator.start();
    for (let pass = 0; pass < 2; pass++) await forceReconcile(home, 'hub', 'h');
    await home.ready('hub', 'h', { status: 'False', reason: 'HubBanned' });
    expect(await podUid()).toBe(before);
    expect(await status()).toMatchObject({ selfUnbanCount: 1 });
  });

  test('is restarted again after that', async () => {
    await remember({ lastSelfUnban: minutesAgo(6) });
    await forceReconcile(home, 'hub', 'h');
    await recovered(2);
    expect(await bans()).not.toContain(OPERATOR_ADDRESS);
  });

  test('is given up after three restarts in thirty minutes, only reported with banRecovery.enabled false, and recovered again when the window ends', async () => {
    await restartedLately();
    await getBanned(OPERATOR_ADDRESS, url);
    await home.ready('hub', 'h', { status: 'False', reason: 'HubBanned' });
    const before = await podUid();
    await remember({ lastSelfUnban: minutesAgo(6), banWindow: { startedAt: minutesAgo(10), restarts: 3 } });
    await forceReconcile(home, 'hub', 'h');
    await givenUp('RestartLimitExceeded', /ip_bans\.yaml/, { selfUnbanCount: 2 });
    expect(await podUid()).toBe(before);

    // From here on bans are only reported.
    await home.change('hub', 'h', { banRecovery: { enabled: false } });
    const { message } = await home.ready('hub', 'h', { status: 'False', reason: 'HubBanned' });
    expect(message).toContain('banRecovery.enabled is false');
    expect(await isAbsent('BanRecoveryFailed')).toBe(true);
    await remember({ lastSelfUnban: minutesAgo(12), banWindow: { startedAt: minutesAgo(31), restarts: 3 } });
    for (let pass = 0; pass < 2; pass++) await forceReconcile(home, 'hub', 'h');
    expect(await podUid()).toBe(before);
    await home.change('hub', 'h', { banRecovery: { enabled: true } });
    await recovered(3);
    expect(await isAbsent('BanRecoveryFailed')).toBe(true);
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
    // One restart was enough to see that restarts do not lift this ban: neither five minutes nor two more
    // restarts were needed.
    const why = /127\.0\.0\.9 is not among the bans; banned are .*127\.0\.0\.2/;
    await givenUp('RestartDidNotHelp', why, { selfUnbanCount: 4 });
    await misled.stop();
  });
});
