import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { freshNamespace, until } from '../../cluster';
import { automation, Home, scene, script, thaw } from '../../cluster/home';
import type { HubProxy } from '../../cluster/hub-proxy';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { proxiedHub, throughProxies } from './proxied-hub';

// Faults of the hub during a burst. At the end every object must exist exactly once.

const RELOAD = 'POST /api/services/automation/reload';
/** Number of times that the operator is killed during a removal. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 8);

let home: Home;
let operator: TestOperator;
let proxy: HubProxy;

beforeAll(async () => {
  home = new Home(await freshNamespace('faults'));
  operator = await startTestOperator(home.namespace, { settings: throughProxies });
  proxy = await proxiedHub(home, 'villa');
});

afterEach(() => proxy.mend());
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
    expect(await inFile('failing')).toEqual([...all].sort());
    expect(writes().filter(({ status }) => status === 500).length).toBeGreaterThan(2);
    // Payloads that the hub had accepted were not sent again.
    const accepted = writes().filter(({ what, status }) => what.includes('failing') && status === 200);
    expect(accepted).toHaveLength(all.length);
  });

  // unit/client/config-entities/reloads.test.ts shows with a manual clock that the attempts are 5 s apart.
  test('the hub answers 500 to reloads: three attempts, and the automation is loaded nevertheless', async () => {
    // No reload of the previous test may still follow.
    for (const name of names('failing', 9))
      await until(`${name} is reloaded`, async () => {
        const condition = await home.condition('hubautomation', name, 'ReloadReady');
        return condition?.status === 'True';
      });
    await operator.calm();
    let attempts = 0;
    proxy.fault = (what) => (what === RELOAD ? (attempts++, 500) : undefined);
    const before = await operator.failures();
    await apply(['unreloaded']);
    await allReady(['unreloaded']);
    const reloadReady = (expected: object) =>
      until('ReloadReady says it', async () => {
        const condition = await home.condition('hubautomation', 'unreloaded', 'ReloadReady');
        expect(condition).toMatchObject(expected);
        return true;
      });
    await reloadReady({ status: 'False', reason: 'ReloadFailed' });
    await home.event('HubAutomation', 'unreloaded', /^Warning ReloadFailed: .*ReloadID/);
    await operator.calm(); // the check of the entities afterwards requests no further reload
    expect(attempts).toBe(3);
    expect(await operator.failures()).toEqual(before);
    proxy.mend();
    await home.annotate('hubautomation', 'unreloaded', 'hub-operator.dev/reconcile-requested-at=mended');
    await reloadReady({ status: 'True', reason: 'ReloadSuccessful' });
  });

  test('no worker waits for a reload', async () => {
    await operator.stop();
    const alone = await startTestOperator(home.namespace, {
      settings: { ...throughProxies, WORKERS_PER_HUB: '1' },
    });
    // The first attempt fails, and a pause follows. The second one gets no answer before the other automation
    // is Ready.
    let attempts = 0;
    proxy.fault = (what) => (what === RELOAD && ++attempts === 1 ? 500 : undefined);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    proxy.hold = (moment, what) => (what === RELOAD && moment === 'answer' ? released : undefined);
    try {
      await apply(['reloading']);
      await until('its reload is tried', () => attempts > 0);
      await home.apply(script('villa', 'meanwhile'));
      await home.ready('hubscript', 'meanwhile');
      const { conditions } = (await home.get('hubautomation', 'reloading')).status ?? {};
      expect(conditions?.find(({ type }) => type === 'ReloadReady')?.status).not.toBe('True');
      release();
      await allReady(['reloading']);
    } finally {
      release();
      await alone.stop();
      await operator.start();
    }
  });

  test('a refused definition is shown in the hub’s own words, and sent again only after an edit', async () => {
    const sent = () => writes().filter(({ what }) => what.endsWith('/refused')).length;
    await home.apply(automation('villa', 'refused', { triggers: [{ trigger: 'sun', event: 'noon' }] }));
    const { message } = await home.ready('hubautomation', 'refused', {
      status: 'False',
      reason: 'RejectedByHub',
    });
    // Hubs before 2026 have the second form of the message.
    expect(message).toMatch(/Message malformed: (expected 'sunset' or 'sunrise'|not a valid value)/);
    expect(await home.condition('hubautomation', 'refused', 'Stalled')).toMatchObject({ status: 'True' });
    expect(await operator.events('HubAutomation', 'refused')).toEqual([
      expect.stringMatching(/^Warning RejectedByHub/),
    ]);
    await apply(['accepted']);
    await allReady(['accepted']);
    await operator.touch('HubAutomation', 'refused');
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
    const killed = await home.hubProcess('villa');
    process.kill(killed, 'SIGKILL');
    await until('the hub was started again', async () => (await home.hubProcess('villa')) !== killed);
    await home.ready('hub', 'villa');
    await allReady(all);
    expect(await inFile('killed')).toEqual([...all].sort());
  });

  test('a hub that is frozen blocks neither a deletion nor, in the end, other work', async () => {
    await operator.stop();
    const impatient = await startTestOperator(home.namespace, {
      settings: { ...throughProxies, HUB_WRITE_TIMEOUT: '5' },
    });
    const all = names('frozen', 6);
    const pid = await home.hubProcess('villa');
    // Waits until a write is in flight, so that the hub freezes during it.
    const frozen = new Promise<void>((resolve) => {
      proxy.hold = (moment, what) => {
        if (moment !== 'request' || !what.startsWith('POST /api/config/automation/config/frozen'))
          return undefined;
        proxy.hold = () => undefined;
        process.kill(pid, 'SIGSTOP');
        resolve();
        return undefined;
      };
    });
    try {
      await apply(all);
      await frozen;
      await until('the write is given up', () => proxy.cut.some((what) => what.includes('/frozen-')));
      await Promise.all(names('killed', 12).map((name) => home.delete('hubautomation', name)));
      thaw(pid);
      const events = names('killed', 12).map((name) => impatient.events('HubAutomation', name));
      const skipped = (await Promise.all(events)).flat();
      // Each of the four workers may try once: the other resources are released without an attempt.
      expect(skipped.filter((event) => event.includes('a moment ago')).length).toBeGreaterThanOrEqual(8);
      await allReady(all);
      expect(await inFile('frozen')).toEqual([...all].sort());
    } finally {
      thaw(pid);
      await impatient.stop();
      await operator.start();
    }
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
    expect(sent.length).toBeLessThanOrEqual(all.length + 1); // the write in flight may have to be sent again
  });

  test('an id that is changed back during the removal of its object leaves nothing behind, even if the hub takes long for the removal', async () => {
    await home.apply(automation('villa', 'turning', { id: 'turn_a' }), scene('villa', 'slow'));
    await allReady(['turning']);
    await home.ready('hubscene', 'slow');
    await operator.calm();
    const drifts = await operator.metric('hub_operator_drift_total');
    const removals = ['automation/config/turn_a', 'scene/config/slow'].map(
      (path) => `DELETE /api/config/${path}`,
    );
    const held = new Set<string>();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    proxy.hold = (moment, what) => {
      if (moment !== 'request' || !removals.includes(what)) return undefined;
      held.add(what);
      return released;
    };
    const asked = () => proxy.passed.filter(({ what }) => what === 'GET /manifest.json').length;
    try {
      await home.change('hubautomation', 'turning', { id: 'turn_b' });
      await home.delete('hubscene', 'slow', { wait: false });
      await until('both removals are in flight', () => held.size === 2);
      await home.change('hubautomation', 'turning', { id: 'turn_a' });
      const before = asked();
      await until('the operator asks whether the hub answers', () => asked() > before);
      expect(await home.exists('hubscene', 'slow')).toBe(true);
      expect((await home.get('hubautomation', 'turning')).status).toMatchObject({ automationId: 'turn_b' });
    } finally {
      proxy.mend();
      release();
    }
    await allReady(['turning']);
    const { status } = await home.get('hubautomation', 'turning');
    expect(status).toMatchObject({ automationId: 'turn_a' });
    expect(status).not.toHaveProperty('adopted');
    expect(status).not.toHaveProperty('formerIds');
    await until('the scene is gone', async () => !(await home.exists('hubscene', 'slow')));
    expect((await operator.events('HubScene', 'slow')).join()).not.toContain('CleanupSkipped');
    await home.change('hubautomation', 'turning', { id: 'turn_c' });
    await allReady(['turning']);
    expect(await inFile('turn_')).toEqual(['turn_c']);
    expect(await registered(/^(turn_.|slow)$/)).toEqual(['turn_c']);
    await operator.calm();
    expect(await operator.metric('hub_operator_drift_total')).toBe(drifts);
  });

  test(`an operator that is killed ${ROUNDS} times in the middle of removals leaves nothing of them in the hub`, async () => {
    await operator.calm(); // so that no other client writes the file
    await addOthers(100);
    const rounds = names('round', ROUNDS);
    await home.apply(
      ...rounds.flatMap((name) => [automation('villa', name), scene('villa', name), script('villa', name)]),
    );
    for (const kind of ['hubautomation', 'hubscene', 'hubscript'])
      for (const name of rounds) await home.ready(kind, name);
    const isRenamed = (round: number) => round % 2 === 1;
    const movedId = (name: string) => name.replace('round-', 'moved_');
    for (const [round, name] of rounds.entries()) {
      const killed = killDuring(`DELETE /api/config/automation/config/${name}`, round);
      const deleted = ['hubscene', 'hubscript'];
      if (isRenamed(round)) await home.change('hubautomation', name, { id: movedId(name) });
      else deleted.push('hubautomation');
      for (const kind of deleted) await home.delete(kind, name, { wait: false });
      await killed;
      await operator.start();
    }
    const moved = rounds.filter((_, round) => isRenamed(round));
    await until('the deleted ones are gone', async () => {
      const left = await home.list('hubautomations,hubscenes,hubscripts');
      const present = left.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('round-'));
      expect(present.sort()).toEqual([...moved].sort());
      return true;
    });
    await allReady(moved);
    for (const name of moved) {
      const { status } = await home.get('hubautomation', name);
      expect(status).toMatchObject({ automationId: movedId(name) });
      expect(status).not.toHaveProperty('formerIds');
    }
    expect(await registered(/^(round|moved)[-_]/)).toEqual(moved.map(movedId).sort());
    expect(await inFile('moved')).toEqual(moved.map(movedId).sort());
    expect(await inFile('round')).toEqual([]);
    for (const file of ['scenes.yaml', 'scripts.yaml'])
      expect(await readFile(join(await home.volumeOf('villa'), file), 'utf8')).not.toMatch(/round[-_]/);
  });

  /**
   * Kills the operator during a removal: while the request or its answer is held, or shortly after the
   * request was passed on, when the hub may have done half of the removal. Resolves when the operator is
   * dead.
   */
  function killDuring(removal: string, round: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const kill = async () => {
        await operator.kill().then(resolve, reject);
        return 'drop' as const;
      };
      proxy.hold = (moment, what) => {
        const strikes = what === removal && moment === (round % 4 === 1 ? 'answer' : 'request');
        if (!strikes) return undefined;
        proxy.hold = () => undefined;
        if (round % 4 === 1 || round % 4 === 3) return kill();
        setTimeout(() => void kill(), (7 * round) % 60);
        return undefined;
      };
    });
  }

  /** Adds a user's automations, with which the hub takes longer for its file. */
  async function addOthers(count: number): Promise<void> {
    const file = join(await home.volumeOf('villa'), 'automations.yaml');
    const others = names('other', count).map((id) => ({ id, alias: id, triggers: [], actions: [] }));
    await writeFile(file, dump([...(load(await readFile(file, 'utf8')) as object[]), ...others]));
  }

  /** Returns the ids of the entities in the hub's registry. */
  async function registered(pattern: RegExp): Promise<string[]> {
    const client = await home.client('villa');
    const entities = await client.connection.command('config/entity_registry/list');
    return entities
      .filter(({ platform }) => ['automation', 'homeassistant', 'script'].includes(platform))
      .map(({ unique_id: id }) => id)
      .filter((id) => pattern.test(id))
      .sort();
  }
});
