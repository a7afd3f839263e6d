import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from 'js-yaml';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { automation, Home, script } from '../../cluster/home';
import type { HubProxy } from '../../cluster/hub-proxy';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { hubPid } from '../hub/hub-in-sandbox';
import { proxiedHub, throughProxies } from './proxied-hub';

// Faults of the hub during a burst: in the end every object exists once.

const FREEZE_DURATION = 60_000; // longer than a write may take
const RELOAD = 'POST /api/services/automation/reload';

let home: Home;
let operator: TestOperator;
let proxy: HubProxy;

beforeAll(async () => {
  home = new Home(await freshNamespace('faults'));
  operator = await startTestOperator(home.namespace, { settings: throughProxies });
  proxy = await proxiedHub(home, 'villa');
});

afterAll(() => proxy?.stop());

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
const apply = (all: readonly string[]) => home.apply(...all.map((name) => automation('villa', name)));
const allReady = async (all: readonly string[]) => {
  for (const name of all) await home.ready('hubautomation', name);
};
const inFile = async (prefix: string) => {
  const text = await readFile(join(await home.volumeOf('villa'), 'automations.yaml'), 'utf8');
  return (load(text) as { id: string }[])
    .map(({ id }) => id)
    .filter((id) => id.startsWith(prefix))
    .sort();
};
const writes = () => proxy.passed.filter(({ what }) => what.startsWith('POST /api/config/automation/'));

describe('automations of a hub that fails', () => {
  test('the hub answers 500 to some', async () => {
    let seen = 0;
    proxy.fault = (what) => (what.startsWith('POST /api/config/') && seen++ % 3 === 1 ? 500 : undefined);
    const all = names('failing', 9);
    await apply(all);
    await allReady(all);
    proxy.fault = () => undefined;
    expect(await inFile('failing')).toEqual([...all].sort());
    expect(writes().filter(({ status }) => status === 500).length).toBeGreaterThan(2);
    // What the hub had accepted was not sent again.
    const accepted = writes().filter(({ what, status }) => what.includes('failing') && status === 200);
    expect(accepted).toHaveLength(all.length);
  });

  test('the hub answers 500 to reloads: three attempts, 5 s apart, and the automation is there all the same', async () => {
    const attempts: number[] = [];
    proxy.fault = (what) => (what === RELOAD ? (attempts.push(Date.now()), 500) : undefined);
    const errors = () => operator.metric('controller_runtime_reconcile_errors_total');
    const before = await errors();
    await apply(['unreloaded']);
    await allReady(['unreloaded']);
    const reloadReady = () => home.condition('hubautomation', 'unreloaded', 'ReloadReady');
    expect(await reloadReady()).toMatchObject({ status: 'False', reason: 'ReloadFailed' });
    await operator.calm(); // the sweep after it asks for no other
    expect(attempts).toHaveLength(3);
    for (const [index, at] of attempts.slice(1).entries()) {
      expect(at - attempts[index]!).toBeGreaterThan(4_900);
      expect(at - attempts[index]!).toBeLessThan(30_000);
    }
    expect(await errors()).toBe(before);
    proxy.fault = () => undefined;
    await home.annotate('hubautomation', 'unreloaded', 'hub-operator.dev/reconcile-requested-at=mended');
    await until('it is reloaded', async () => (await reloadReady())?.status === 'True');
    expect(await reloadReady()).toMatchObject({ reason: 'ReloadSuccessful' });
  });

  test('no worker waits for a reload', async () => {
    await operator.stop();
    const alone = await startTestOperator(home.namespace, {
      settings: { ...throughProxies, WORKERS_PER_HUB: '1' },
    });
    const happened: string[] = [];
    proxy.fault = (what) => (what === RELOAD ? (happened.push('reload'), 500) : undefined);
    await apply(['reloading']);
    await until('its reload is tried', () => happened.length === 1);
    await home.apply(script('villa', 'meanwhile'));
    await home.ready('hubscript', 'meanwhile');
    happened.push('ready');
    await allReady(['reloading']);
    proxy.fault = () => undefined;
    expect(happened.indexOf('ready')).toBeLessThan(3); // before the last attempt
    await alone.stop();
    await operator.start();
  });

  test('what the hub refuses is shown in its own words, and sent again after an edit only', async () => {
    const sent = () => writes().filter(({ what }) => what.endsWith('/refused')).length;
    await home.apply(automation('villa', 'refused', { triggers: [{ trigger: 'sun', event: 'noon' }] }));
    const { message } = await home.ready('hubautomation', 'refused', {
      status: 'False',
      reason: 'RejectedByHub',
    });
    expect(message).toMatch(/Message malformed: expected 'sunset' or 'sunrise'/);
    expect(await home.condition('hubautomation', 'refused', 'Stalled')).toMatchObject({ status: 'True' });
    expect(await home.events('HubAutomation', 'refused')).toEqual([
      expect.stringMatching(/^Warning RejectedByHub/),
    ]);
    const passes = () => operator.metric('controller_runtime_reconcile_total', 'controller="HubAutomation"');
    const before = await passes();
    await apply(['accepted']);
    await allReady(['accepted']);
    await until('all were looked at', async () => (await passes()) > before + 12);
    expect(sent()).toBe(1);
    await home.apply(automation('villa', 'refused'));
    await allReady(['refused']);
    expect(await home.condition('hubautomation', 'refused', 'Stalled')).toBeUndefined();
    expect(sent()).toBe(2);
  });

  test('the hub is killed', async () => {
    const all = names('killed', 12);
    const before = writes().length;
    await apply(all);
    await until('some are written', () => writes().length >= before + 4);
    process.kill(await hubPid(home, 'villa'), 'SIGKILL');
    await allReady(all);
    expect(await inFile('killed')).toEqual([...all].sort());
  });

  test('a hub that is frozen holds up neither a deletion nor, in the end, anything else', async () => {
    const all = names('frozen', 6);
    const pid = await hubPid(home, 'villa');
    process.kill(pid, 'SIGSTOP');
    try {
      await apply(all);
      await until(
        'the first is under way',
        async () => (await home.get('hubautomation', 'frozen-0')).status !== undefined,
      );
      const began = Date.now();
      await mustKubectl(['delete', 'hubautomation', ...names('killed', 12)], home);
      expect(Date.now() - began).toBeLessThan(45_000); // twelve tries of 5 s would take longer;
      await sleep(FREEZE_DURATION - (Date.now() - began));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await allReady(all);
    expect(await inFile('frozen')).toEqual([...all].sort());
  });

  test('the operator is killed in the middle', async () => {
    const all = names('crash', 10);
    const before = writes().length;
    await apply(all);
    await until('some are written', () => writes().length >= before + 3);
    await operator.kill();
    await operator.start();
    await allReady(all);
    expect(await inFile('crash')).toEqual([...all].sort());
    for (const name of all) {
      expect((await home.get('hubautomation', name)).status).not.toHaveProperty('adopted');
    }
    const sent = writes()
      .slice(before)
      .filter(({ status }) => status === 200);
    expect(sent.length).toBeLessThanOrEqual(all.length + 1); // the one in flight may have to be sent again
  });
});
