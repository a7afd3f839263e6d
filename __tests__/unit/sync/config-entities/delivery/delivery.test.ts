import type { EntityPayload } from '../../../../../operator/client/connection/config-entity';
import { HubFailed } from '../../../../../operator/client/connection/errors';
import { operatorAnnotations } from '../../../../../operator/kinds/annotations';
import { readFileText } from '../../../../../operator/sync/config-entities/delivery/item-text';
import { House } from './house';

// Definitions move into mounted files and back, with a hub that reads them as Home Assistant does.

const AUTOMATION = { triggers: [{ trigger: 'sun' }], actions: [{ delay: 1 }] };
const automation = (house: House, name: string, spec: object = {}) =>
  house.apply('HubAutomation', name, { alias: `The ${name}`, ...AUTOMATION, ...spec });
const names = (count: number) => Array.from({ length: count }, (_, index) => `n-${index}`);
const writes = (house: House) => house.asked.filter((what) => /^(POST|DELETE|remove) /.test(what));
const reloads = (house: House, kind: string) =>
  house.asked.filter((what) => what === `reload ${kind}`).length;
const runs = (house: House, key: string): EntityPayload | undefined => house.definitions.loaded.get(key);

const MARKER = 'hub_operator_delivery_0';
const messageOf = (name: string) =>
  (house.status('HubAutomation', name) as { conditions: { message: string }[] }).conditions[0]!.message;

/** Numbers of steps after which a process is killed. */
const STEPS = Array.from({ length: 12 }, (_, index) => index + 1);

let house: House;
beforeEach(() => {
  house = new House();
});

async function allReady(count: number): Promise<void> {
  const reasons = Object.values(await house.settle());
  expect(reasons).toEqual(Array<string>(count).fill('Ready'));
}

async function untilWritten(text: string): Promise<void> {
  while (!JSON.stringify([...house.configMaps.values()]).includes(text))
    await house.settle(1).catch(() => undefined);
}

describe('a burst', () => {
  test('is one ConfigMap, one reload of a kind, and no write by the API', async () => {
    for (const name of names(40)) automation(house, name);
    house.apply('HubScene', 'film', { name: 'Film', entities: [{ entity_id: 'light.a', state: 'on' }] });
    house.apply('HubScript', 'night', { alias: 'Night', sequence: [{ delay: 1 }] });
    await allReady(42);
    expect(writes(house)).toEqual([]);
    expect(house.asked.filter((what) => what.startsWith('write '))).toHaveLength(1);
    expect([reloads(house, 'automation'), reloads(house, 'scene')]).toEqual([1, 1]);
    expect(house.delivered).toHaveLength(43); // 43 with the marker
    expect(house.status('HubAutomation', 'n-0')).toMatchObject({
      delivery: 'File',
      entityId: 'automation.n-0',
    });
    expect(await house.report()).toMatchObject({ files: 42, api: 0, configMaps: 1 });
  });

  test('one change rewrites one ConfigMap; equal content is not written, also after a restart of the operator', async () => {
    for (const name of names(5)) automation(house, name, { description: 'x'.repeat(200_000) });
    await allReady(5);
    expect(house.configMaps.size).toBe(3);
    house.start();
    const since = house.asked.length;
    await allReady(5);
    await house.report();
    expect(house.asked.slice(since)).toEqual([]);
    automation(house, 'n-3', { description: 'short' });
    await allReady(5);
    expect(house.asked.slice(since).filter((what) => what.startsWith('write '))).toEqual([
      'write villa-delivery-1',
    ]);
    expect(runs(house, 'automation n-3')).toMatchObject({ description: 'short' });
  });
});

describe('a pod that takes a while to get its files', () => {
  /** Changes the description, and returns the milliseconds from the change until each read of the hub. */
  async function change(description: string): Promise<number[]> {
    await house.clock.advance(10_000); // changes of one object have a minimum interval
    automation(house, 'a', { description });
    const [since, began] = [house.definitions.readAt.length, house.clock.monotonic()];
    expect(await house.settle(1_000, 50)).toMatchObject({ a: 'Ready' });
    return house.definitions.readAt.slice(since).map((at) => at - began);
  }

  test('is waited for before the hub reads, a little longer than the last wait that was too short', async () => {
    house.hub.pod.refreshTime = 600;
    house.definitions.readTime = 3_000;
    const first = await change('1');
    expect(first).toHaveLength(2);
    const second = await change('2');
    expect(second).toEqual([first[0]! + 250]);
    const third = await change('3');
    expect(third).toHaveLength(1);
    expect(third[0]).toBeLessThan(second[0]!);
  });

  test('is not waited for longer because the hub could not read its files for a while', async () => {
    const first = await change('1');
    house.definitions.unreadable = '2';
    house.clock.after(20_000, () => (house.definitions.unreadable = undefined));
    expect((await change('2')).length).toBeGreaterThan(1);
    expect((await change('3'))[0]).toBeLessThan(first[0]!);
  });
});

describe('a burst while the operator is busy', () => {
  const isRecorded = () => house.status('HubAutomation', 'a')['automationId'] !== undefined;
  const isLeft = (id: string) =>
    house.delivered.includes(id) ||
    house.definitions.loaded.has(`automation ${id}`) ||
    house.definitions.registry.has(`automation ${id}`);

  beforeEach(() => {
    house.isBusy = true;
    automation(house, 'a');
    automation(house, 'b');
  });

  test('is recorded in the ConfigMap first, and in status when it is Ready', async () => {
    await untilWritten('The a');
    expect(isRecorded()).toBe(false);
    expect(house.configMaps.get('villa-delivery-0')!.data['claims.json']).toContain('uid-HubAutomation a');
    await allReady(2);
    expect(house.status('HubAutomation', 'a')).toMatchObject({ automationId: 'a', delivery: 'File' });
    automation(house, 'b', { description: 'new' });
    await allReady(2);
    expect(house.configMaps.get('villa-delivery-0')!.data).not.toHaveProperty('claims.json');
  });

  test('a rejection in the meantime is recorded too', async () => {
    automation(house, 'a', { triggers: [{ trigger: 'bad' }] });
    expect(await house.settle()).toEqual({ a: 'RejectedByHub', b: 'Ready' });
    expect(isRecorded()).toBe(true);
  });

  test.each([
    ['the same process', false],
    ['the next process', true],
  ])(
    'a resource that is deleted before status records its object takes the object along, in %s',
    async (_, next) => {
      await untilWritten('The a');
      if (next) house.start();
      expect(isRecorded()).toBe(false);
      await house.delete('HubAutomation a');
      await allReady(1);
      expect(isLeft('a')).toBe(false);
      expect(isLeft('b')).toBe(true);
    },
  );

  test.each(STEPS)('the object is removed also after the operator was killed at step %i', async (steps) => {
    await house.settleUntilKilled(steps);
    await house.delete('HubAutomation a');
    await allReady(1);
    expect(isLeft('a')).toBe(false);
  });

  test.each(STEPS)(
    'the object is removed also if it is killed again %i00 ms after the removal has begun',
    async (time) => {
      house.failsStatus = true;
      await allReady(2);
      house.start();
      house.failsStatus = false;
      house.beginDeletion('HubAutomation a');
      for (let step = 0; step < 2; step++) await house.settle(1, 0).catch(() => undefined);
      await house.clock.advance(100 * time);
      house.start();
      await allReady(1);
      expect(isLeft('a')).toBe(false);
    },
  );

  test.each(STEPS)('a rename after the operator was killed at step %i leaves one object', async (steps) => {
    await house.settleUntilKilled(steps);
    automation(house, 'a', { id: 'renamed' });
    await allReady(2);
    expect([isLeft('a'), isLeft('renamed')]).toEqual([false, true]);
  });

  test('an orphan moves into the hub’s own file', async () => {
    automation(house, 'a', { deletionPolicy: 'Orphan' });
    await untilWritten('The a');
    house.start();
    await house.delete('HubAutomation a');
    expect(house.delivered).not.toContain('a');
    expect(runs(house, 'automation a')).toBeDefined();
    expect(house.definitions.ownFiles.has('automation a')).toBe(true);
  });

  test('the ConfigMap names its resource until status does, also when the hub uses it and another change is written', async () => {
    house.failsStatus = true;
    await allReady(2);
    automation(house, 'c');
    await allReady(3);
    house.start();
    house.failsStatus = false;
    for (const name of ['a', 'b', 'c']) await house.delete(`HubAutomation ${name}`);
    expect(['a', 'b', 'c'].filter(isLeft)).toEqual([]);
  });

  test('objects that are sent by the API in the meantime are recorded in status first', async () => {
    house.failsStatus = true;
    automation(house, 'a', { triggers: [{ trigger: 'bad' }] });
    expect(await house.settle()).toMatchObject({ a: 'RejectedByHub' });
    house.failsStatus = false;
    house.delivery = 'Api';
    house.definitions.postTime = 2_000;
    automation(house, 'a');
    while (!house.asked.includes('POST a')) await house.settle(1).catch(() => undefined);
    expect(house.status('HubAutomation', 'a')).toMatchObject({ automationId: 'a' });
    expect(house.status('HubAutomation', 'a')).not.toHaveProperty('delivery');
    await allReady(2);
  });

  test.each(Array.from({ length: 40 }, (_, reads) => reads))(
    'the object is removed also when delivery becomes Api after the operator has seen it %i times',
    async (reads) => {
      let left = reads;
      Object.defineProperty(house, 'delivery', { get: () => (left-- > 0 ? 'File' : 'Api') });
      house.definitions.postTime = 2_000;
      while (!house.asked.includes('POST a')) await house.settle(1).catch(() => undefined);
      expect(isRecorded()).toBe(true);
      await allReady(2);
      expect(house.definitions.ownFiles.size).toBe(2);
    },
  );

  test.each([
    ['the same process', false],
    ['the next process', true],
  ])('a resource that takes over another object meanwhile leaves none behind, in %s', async (_, next) => {
    await allReady(2);
    automation(house, 'c');
    await untilWritten('The c');
    automation(house, 'c', { id: 'b' });
    house.handOver('HubAutomation b', 'HubAutomation c');
    if (next) house.start();
    await allReady(2);
    expect(['a', 'b', 'c'].filter(isLeft)).toEqual(['a', 'b']);
    expect(house.status('HubAutomation', 'c')).not.toHaveProperty('formerIds');
  });

  test('an object that a user has made with an id that was never sent is not removed', async () => {
    await allReady(2);
    house.failsStatus = true;
    automation(house, 'c', { triggers: [{ trigger: 'bad' }] });
    expect(await house.settle()).toMatchObject({ c: 'RejectedByHub' });
    house.failsStatus = false;
    house.definitions.ownFiles.set('automation c', { alias: 'Mine', ...AUTOMATION });
    automation(house, 'c', { id: 'b', ...AUTOMATION });
    house.handOver('HubAutomation b', 'HubAutomation c');
    await allReady(2);
    expect(house.definitions.ownFiles.has('automation c')).toBe(true);
  });

  test('a deletion with the annotation dry-run names the object', async () => {
    await untilWritten('The a');
    await house.delete('HubAutomation a', 1, { dryRun: true });
    expect(house.removalEvents).toEqual([expect.stringContaining('automation a stays in the hub')]);
  });

  test('a definition that the hub on another volume has disabled is tried again', async () => {
    house.definitions.disabledBy['Disabled'] = 'Invalid device';
    house.volume = 'first';
    automation(house, 'a', { alias: 'Disabled' });
    expect(await house.settle()).toMatchObject({ a: 'RejectedByHub' });
    await house.moveTo('second');
    delete house.definitions.disabledBy['Disabled'];
    await allReady(2);
  });

  test('another resource that gives up the id, of which the next process has not seen its owner yet, leaves it', async () => {
    await allReady(2);
    automation(house, 'a', { id: 'renamed' });
    house.isBusy = false;
    await house.reconcile('HubAutomation a');
    house.isBusy = true;
    house.configMaps.clear();
    house.hub.restart();
    house.definitions.registry.delete('automation a');
    house.start();
    automation(house, 'c', { id: 'a' });
    await untilWritten('The c');
    house.start();
    for (let step = 0; step < 80; step++) {
      await house.reconcile('HubAutomation a');
      await house.clock.advance(500);
    }
    expect(house.status('HubAutomation', 'a')).not.toHaveProperty('formerIds');
    expect(house.delivered).toContain('a');
    await allReady(3);
  });

  test('another resource that gives up the id removes nothing of it', async () => {
    await allReady(2);
    automation(house, 'a', { id: 'renamed' });
    house.isBusy = false;
    await house.reconcile('HubAutomation a');
    house.isBusy = true;
    expect(house.status('HubAutomation', 'a')['formerIds']).toEqual(['a']);
    // The object is lost, and a new resource takes the id.
    house.definitions.loaded.delete('automation a');
    house.definitions.registry.delete('automation a');
    const [name, map] = [...house.configMaps][0]!;
    const lines = map.data['automations.yaml']!.split('\n').filter((line) => !line.includes('The a'));
    house.configMaps.set(name, { ...map, data: { ...map.data, 'automations.yaml': lines.join('\n') } });
    house.start();
    automation(house, 'c', { id: 'a' });
    const since = house.asked.length;
    await allReady(3);
    expect(house.delivered).toContain('a');
    expect(house.asked.slice(since).filter((what) => what.startsWith('remove '))).toEqual([]);
  });
});

test('a ConfigMap is never larger than the API server accepts, even while all its definitions change and are refused', async () => {
  house.definitions.disabledBy['Disabled'] = 'Invalid device';
  for (const name of names(6)) automation(house, name, { description: 'x'.repeat(60_000) });
  await allReady(6);
  for (const name of names(6)) automation(house, name, { description: 'y'.repeat(140_000) });
  await allReady(6);
  expect(house.configMaps.size).toBe(1);
  for (const name of names(6)) automation(house, name, { alias: 'Disabled' });
  expect(new Set(Object.values(await house.settle()))).toEqual(new Set(['RejectedByHub']));
  for (const name of names(6))
    expect(runs(house, `automation ${name}`)).toMatchObject({ alias: `The ${name}` });
});

describe('definitions that the hub refuses', () => {
  test.each([
    ['is refused by its validation', { triggers: [{ trigger: 'bad' }] }],
    ['is disabled when it is loaded', { alias: 'Disabled' }],
  ])('%s: the former one stays, and the others are not touched', async (_, spec) => {
    house.definitions.disabledBy['Disabled'] = 'Invalid device';
    automation(house, 'a');
    automation(house, 'b');
    await allReady(2);
    automation(house, 'a', spec);
    automation(house, 'b', { description: 'new' });
    expect(await house.settle()).toEqual({ a: 'RejectedByHub', b: 'Ready' });
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a', ...AUTOMATION });
    expect(runs(house, 'automation b')).toMatchObject({ description: 'new' });
    automation(house, 'a', { alias: 'The a', description: 'mended', ...AUTOMATION });
    await allReady(2);
    expect(runs(house, 'automation a')).toMatchObject({ description: 'mended' });
  });

  test.each(STEPS)(
    'also if the operator is killed at step %i: the former one stays, and of a new one nothing',
    async (steps) => {
      house.definitions.disabledBy['Disabled'] = 'Invalid device';
      automation(house, 'a');
      automation(house, 'b');
      await allReady(2);
      house.definitions.registry.get('automation a')!.area = 'kitchen';
      automation(house, 'a', { alias: 'Disabled' });
      automation(house, 'b', { description: 'new' });
      automation(house, 'c', { alias: 'Disabled' });
      await house.settleUntilKilled(steps);
      expect(await house.settle()).toEqual({ a: 'RejectedByHub', b: 'Ready', c: 'RejectedByHub' });
      expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
      expect(house.definitions.registry.get('automation a')).toMatchObject({ area: 'kitchen' });
      expect(runs(house, 'automation b')).toMatchObject({ description: 'new' });
      expect([...house.delivered].sort()).toEqual(['a', 'b', MARKER]);
      expect(house.definitions.registry.has('automation c')).toBe(false);
    },
  );

  test('several in a row: the last that the hub has used stays', async () => {
    house.definitions.disabledBy['Disabled'] = 'Invalid device';
    automation(house, 'a');
    await allReady(1);
    automation(house, 'a', { description: 'second' });
    await allReady(1);
    automation(house, 'a', { alias: 'Disabled' });
    await untilWritten('Disabled');
    house.start();
    automation(house, 'a', { alias: 'Disabled', description: 'fourth' });
    expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a', description: 'second' });
  });

  test('one that the hub disables while what it replaced is not known stays as it is', async () => {
    house.definitions.disabledBy['Disabled'] = 'Invalid device';
    automation(house, 'a');
    await allReady(1);
    automation(house, 'a', { alias: 'Disabled' });
    await untilWritten('Disabled');
    const [name, map] = [...house.configMaps][0]!;
    const { 'former.json': former, ...data } = map.data;
    expect(former).toContain('The a');
    house.configMaps.set(name, { ...map, data });
    house.start();
    expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
    expect(house.definitions.registry.has('automation a')).toBe(true);
    expect(house.delivered).toContain('a');
  });

  test('a new one is removed again, with its entity', async () => {
    house.definitions.disabledBy['Disabled'] = 'Invalid device';
    automation(house, 'a', { alias: 'Disabled' });
    automation(house, 'b');
    expect(await house.settle()).toEqual({ a: 'RejectedByHub', b: 'Ready' });
    expect([...house.delivered].sort()).toEqual(['b', MARKER]);
    expect(house.definitions.registry.has('automation a')).toBe(false);
    expect(messageOf('a')).toContain('Invalid device');
  });

  test('a disabled one is not retried after some time, but on request', async () => {
    house.definitions.disabledBy['Disabled'] = 'Invalid device';
    automation(house, 'a');
    await allReady(1);
    automation(house, 'a', { alias: 'Disabled' });
    expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
    const since = house.asked.length;
    await house.clock.advance(600_000);
    expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
    expect(house.asked.slice(since)).toEqual([]);
    for (let request = 0; request < 4; request++) {
      await house.reconcile('HubAutomation a', { forced: true });
      expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
    }
    expect(house.asked.length).toBeGreaterThan(since);
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
    automation(house, 'a');
    await allReady(1);
    delete house.definitions.disabledBy['Disabled'];
    automation(house, 'a', { alias: 'Disabled' });
    await allReady(1);
  });

  test.each(['the same', 'another'])(
    'with autoReload: false it is loaded at the next start: %s process then restores the former one',
    async (process) => {
      house.definitions.disabledBy['Disabled'] = 'Invalid device';
      automation(house, 'a');
      await allReady(1);
      automation(house, 'a', { alias: 'Disabled', autoReload: false });
      await allReady(1);
      automation(house, 'a', { alias: 'Disabled', description: 'third' });
      await allReady(1);
      await house.clock.advance(5_000);
      if (process === 'another') house.start();
      house.hub.restart();
      expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
      expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
      automation(house, 'a', { alias: 'Mended', description: 'third' });
      await allReady(1);
      house.hub.restart();
      await allReady(1);
      expect(runs(house, 'automation a')).toMatchObject({ alias: 'Mended' });
    },
  );

  test('with autoReload: false a correction of a disabled one stays until the next start', async () => {
    automation(house, 'a', { alias: 'Disabled', autoReload: false });
    await allReady(1);
    house.hub.restart();
    await allReady(1);
    house.definitions.disabledBy['Disabled'] = 'Invalid device';
    expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
    automation(house, 'a', { alias: 'Mended' });
    await house.settle();
    await house.settle();
    house.hub.restart();
    await allReady(1);
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'Mended' });
  });

  test('missing room is reported before anything is lost', async () => {
    automation(house, 'a');
    await allReady(1);
    automation(house, 'a', { description: 'x'.repeat(1_000_000) });
    expect(await house.settle()).toEqual({ a: 'DeliveryFull' });
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
  });

  test('a ConfigMap that the cluster refuses changes nothing', async () => {
    automation(house, 'a');
    await allReady(1);
    house.configMaps.applyError = new Error('quota');
    automation(house, 'a', { description: 'new' });
    await expect(house.settle()).rejects.toThrow('quota');
    house.configMaps.applyError = undefined;
    await allReady(1);
    expect(runs(house, 'automation a')).toMatchObject({ description: 'new' });
  });

  test('is named by the hub in a file that it cannot read: the former one is restored, and the others are in use', async () => {
    for (const name of ['a', 'b', 'c']) automation(house, name);
    await allReady(3);
    house.definitions.unreadable = 'poison';
    automation(house, 'a', { description: 'poison' });
    automation(house, 'b', { description: 'new' });
    automation(house, 'd', { description: 'also poison' });
    expect(await house.settle(400)).toEqual({
      a: 'RejectedByHub',
      b: 'Ready',
      c: 'Ready',
      d: 'RejectedByHub',
    });
    expect(messageOf('a')).toMatch(/automations\.yaml", line 2/);
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
    expect(runs(house, 'automation b')).toMatchObject({ description: 'new' });
    expect(house.delivered).not.toContain('d');
    const since = house.asked.length;
    await house.clock.advance(3_600_000);
    await house.settle();
    expect(house.asked.slice(since)).toEqual([]);
    automation(house, 'a', { description: 'mended' });
    expect(await house.settle(400)).toMatchObject({ a: 'Ready' });
  });

  test.each(['not written yet', 'written, and not in the pod'])(
    'is distinguished from others that come while the hub cannot read the file: %s',
    async (state) => {
      automation(house, 'a');
      await allReady(1);
      house.definitions.unreadable = 'poison';
      automation(house, 'm', { description: 'poison' });
      await untilWritten('poison');
      await house.clock.advance(5_000);
      house.hub.pod.refreshes = state === 'not written yet';
      automation(house, 'c');
      await house.settle(4).catch(() => undefined);
      if (!house.hub.pod.refreshes) await house.reconcileHub();
      await house.clock.advance(40_000);
      house.hub.pod.refreshes = true;
      expect(await house.settle(800)).toEqual({ a: 'Ready', m: 'RejectedByHub', c: 'Ready' });
    },
  );

  test('is distinguished from the next one while the pod is slow to get the file without it', async () => {
    house.definitions.unreadable = 'poison';
    automation(house, 'a', { description: 'poison' });
    for (const name of ['b', 'c']) automation(house, name);
    await untilWritten('poison');
    await house.clock.advance(5_000); // the pod has the file
    house.hub.pod.refreshes = false;
    await house.clock.advance(75_000);
    expect(JSON.stringify([...house.configMaps.values()])).not.toContain('poison');
    house.hub.pod.refreshes = true;
    expect(await house.settle(800)).toEqual({ a: 'RejectedByHub', b: 'Ready', c: 'Ready' });
  });

  test('is distinguished from the next one that has the same mistake in the same place', async () => {
    house.definitions.unreadable = 'poison';
    for (const name of ['a', 'b']) automation(house, name, { description: 'poison' });
    automation(house, 'c');
    expect(await house.settle(800)).toEqual({ a: 'RejectedByHub', b: 'RejectedByHub', c: 'Ready' });
  });

  test('is rejected even if its own publication ended before it was taken back, and not retried forever', async () => {
    for (const name of ['a', 'b']) automation(house, name);
    await allReady(2);
    house.definitions.unreadable = 'poison';
    automation(house, 'c', { description: 'poison' });
    await untilWritten('poison');
    automation(house, 'b', { description: 'poison' });
    await house.settle(6).catch(() => undefined);
    await house.reconcileHub();
    for (let step = 0; step < 600; step++) await house.settle(1).catch(() => undefined);
    expect(await house.settle()).toEqual({ a: 'Ready', b: 'RejectedByHub', c: 'RejectedByHub' });
    const since = house.asked.length;
    for (let step = 0; step < 600; step++) await house.settle(1).catch(() => undefined);
    expect(house.asked.slice(since)).toEqual([]);
  });

  test('is also reset by the next process of the operator', async () => {
    for (const name of ['a', 'b']) automation(house, name);
    await allReady(2);
    house.definitions.unreadable = 'poison';
    automation(house, 'a', { description: 'poison' });
    await untilWritten('poison');
    house.start();
    automation(house, 'b', { description: 'new' });
    expect(await house.settle(400)).toEqual({ a: 'RejectedByHub', b: 'Ready' });
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
  });

  test('a user’s script with the id of the operator’s marker script is named', async () => {
    house.definitions.ownFiles.set(`script ${MARKER}`, { alias: 'Mine', sequence: [] });
    automation(house, 'a');
    await expect(house.settle(90)).rejects.toThrow('not settled');
    expect(messageOf('a')).toMatch(/a script of its own has the id hub_operator_delivery_0/);
    house.definitions.ownFiles.delete(`script ${MARKER}`);
    await house.settle(700);
    await allReady(1);
  });

  test('so is a HubScript with that id, which cannot be delivered', async () => {
    house.delivery = 'Api';
    house.apply('HubScript', 'odd', { id: MARKER, alias: 'Odd', sequence: [{ delay: 1 }] });
    await allReady(1);
    house.delivery = 'File';
    automation(house, 'a');
    await house.settle(90).catch(() => undefined);
    expect(messageOf('a')).toMatch(/the script of the HubScript odd has the id hub_operator_delivery_0/);
    expect((await house.reconcile('HubScript odd')).reason).toBe('InvalidSpec');
    await house.delete('HubScript odd', 700);
    await house.settle(700);
    await allReady(1);
  });

  test('with autoReload: false is not Ready before the pod has its file', async () => {
    automation(house, 'a', { autoReload: false });
    house.hub.pod.refreshes = false;
    await expect(house.settle(90)).rejects.toThrow('not settled');
    house.hub.pod.refreshes = true;
    await house.settle(700);
    await allReady(1);
    house.configMaps.applyError = new Error('quota');
    automation(house, 'a', { autoReload: false, description: 'new' });
    await expect(house.settle()).rejects.toThrow('quota');
    await expect(house.settle()).rejects.toThrow('quota');
    house.configMaps.applyError = undefined;
    await allReady(1);
    expect(JSON.stringify([...house.configMaps.values()])).toContain('new');
  });

  test('files that do not reach the pod are reported, and not reloaded', async () => {
    house.hub.pod.refreshes = false;
    automation(house, 'a');
    await expect(house.settle(90)).rejects.toThrow('not settled');
    expect(messageOf('a')).toBe(
      'The automation a is being sent to the hub. Waiting for the hub to read the ConfigMaps villa-delivery-0: its pod gets them within a minute. If this lasts, see whether the HubConfiguration is Ready.',
    );
    expect(reloads(house, 'automation')).toBe(0);
    await house.settle(1_200).catch(() => undefined);
    const since = reloads(house, 'script');
    await house.settle(1_200).catch(() => undefined);
    expect(reloads(house, 'script') - since).toBeLessThan(400); // in 10 minutes, of 2,000
    house.hub.pod.refreshes = true;
    await house.settle(700);
    await allReady(1);
  });
});

test('a deletion is not lost when the previous write of a ConfigMap fails', async () => {
  for (const name of ['a', 'b']) automation(house, name);
  await allReady(2);
  automation(house, 'a', { description: 'new' });
  [house.configMaps.applyTime, house.configMaps.applyError] = [2_000, new Error('quota')];
  while (!house.configMaps.isApplying) await house.settle(1).catch(() => undefined);
  house.configMaps.applyError = undefined;
  await house.delete('HubAutomation b');
  expect(house.delivered).not.toContain('b');
  await house.settle().catch(() => undefined);
  await allReady(1);
  expect(runs(house, 'automation a')).toMatchObject({ description: 'new' });
});

test('a new object that is deleted after the operator was killed is removed even if the pod has got its file since', async () => {
  automation(house, 'b');
  await allReady(1);
  automation(house, 'a');
  await untilWritten('The a');
  house.start();
  house.hub.pod.mount();
  // After the deletion the ConfigMap has the content that the hub has read last, and the pod has another one.
  house.hub.pod.refreshes = false;
  await expect(house.delete('HubAutomation a', 200)).rejects.toThrow('never removed');
  house.hub.pod.refreshes = true;
  await house.clock.advance(300_000);
  await house.delete('HubAutomation a');
  expect(runs(house, 'automation a')).toBeUndefined();
  expect([...house.definitions.registry.keys()].filter((key) => key.startsWith('automation'))).toEqual([
    'automation b',
  ]);
});

test('a former definition that is desired again before the hub has read the next one is in the files of the pod when it is Ready', async () => {
  automation(house, 'a');
  await allReady(1);
  automation(house, 'a', { alias: 'Edited' });
  await untilWritten('Edited');
  house.start();
  house.hub.pod.mount();
  automation(house, 'a', { alias: 'The a' });
  await allReady(1);
  house.definitions.load('automation'); // like the reload button of the hub
  expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
});

test('a deletion is not lost while the first ConfigMap is being written', async () => {
  automation(house, 'a');
  house.configMaps.applyTime = 2_000;
  while (!house.configMaps.isApplying) await house.settle(1).catch(() => undefined);
  await house.delete('HubAutomation a');
  await house.clock.advance(5_000);
  expect(house.delivered).not.toContain('a');
});

test('a definition that moves to another ConfigMap while a publication writes is in one of them all the time', async () => {
  const sized = (name: string, size: number) => automation(house, name, { description: 'x'.repeat(size) });
  sized('first', 350_000);
  await allReady(1);
  sized('a', 100_000);
  await allReady(2);
  sized('beside', 250_000);
  await allReady(3);
  await house.clock.advance(5_000);
  sized('first', 360_000);
  sized('beside', 700_000);
  house.configMaps.applyTime = 3_000;
  while (!house.configMaps.isApplying) await house.settle(1).catch(() => undefined);
  sized('a', 250_000);
  for (let step = 0; step < 40; step++) {
    await house.settle(1).catch(() => undefined);
    expect(house.delivered).toContain('a');
  }
  expect(Object.keys(house.configMaps.get('villa-delivery-2') ?? {})).not.toEqual([]);
  await allReady(3);
});

test('a ConfigMap that is deleted while the hub is waited for is written again', async () => {
  house.hub.pod.refreshes = false;
  automation(house, 'a');
  await house.settle(5).catch(() => undefined);
  house.configMaps.clear();
  await house.reconcileHub();
  expect(house.delivered).toContain('a');
  house.hub.pod.refreshes = true;
  await allReady(1);
});

test('the ConfigMaps belong to the Hub, unless its volume is kept', async () => {
  automation(house, 'a');
  await allReady(1);
  expect([...house.configMaps.owned]).toEqual(['villa-delivery-0']);
  house.retain = true;
  await house.report();
  expect([...house.configMaps.owned]).toEqual([]);
  // A ConfigMap that has lost its owner gets none again.
  house.retain = false;
  await house.report();
  expect([...house.configMaps.owned]).toEqual([]);
  house.start();
  await allReady(1);
  expect(house.delivered).toContain('a');
});

describe('another volume', () => {
  const idsIn = (name: string) => [
    ...readFileText('automation', house.configMaps.get(name)!.data['automations.yaml']!).keys(),
  ];
  const ids = () => house.delivered.filter((id) => id !== MARKER);
  const aside = () => [...house.configMaps.keys()].filter((name) => !/-\d$/.test(name));

  test('of the hub does not get definitions that were delivered to the former one, which are kept and named', async () => {
    house.volume = 'first';
    for (const name of ['a', 'b']) automation(house, name);
    await allReady(2);
    // The resource of one is gone, like after a Hub was deleted with its resources and kept its volume.
    house.forget('HubAutomation', 'b');
    await house.moveTo('second');
    expect(house.definitions.loaded.size).toBe(0);
    expect(house.delivered).toEqual([]);
    await allReady(1);
    expect(ids()).toEqual(['a']);
    expect([...house.definitions.loaded.keys()]).not.toContain('automation b');
    const [kept = '', ...others] = aside();
    expect(others).toEqual([]);
    expect(idsIn(kept)).toEqual(['a', 'b']);
    expect(house.keptNotice).toContain(`are kept in ${kept} (ConfigMaps) and not run`);
    house.configMaps.delete(kept);
    expect(house.keptNotice).toBeUndefined();
  });

  test('that the hub has had before gets its former definitions back', async () => {
    house.volume = 'first';
    for (const name of ['a', 'b']) automation(house, name);
    await allReady(2);
    house.forget('HubAutomation', 'b');
    await house.moveTo('second');
    await allReady(1);
    await house.moveTo('first');
    await allReady(1);
    expect(ids()).toEqual(['a', 'b']);
    expect(aside().map(idsIn)).toEqual([['a']]);
  });

  test('that has been given other definitions since keeps these, and the former ones stay aside', async () => {
    house.volume = 'first';
    for (const name of ['a', 'b']) automation(house, name);
    await allReady(2);
    const given = house.configMaps.get('villa-delivery-0')!;
    await house.moveTo('second');
    const kept = aside();
    await allReady(2);
    await house.moveTo('none');
    // A process that has not seen the other volume has written in the meantime.
    const written = { ...given, data: { ...given.data, 'automations.yaml': '[\n{"id": "c"}\n]\n' } };
    house.configMaps.set('villa-delivery-0', written);
    await house.moveTo('first');
    expect(idsIn('villa-delivery-0')).toEqual(['c']);
    expect(aside()).toEqual(expect.arrayContaining(kept));
  });

  test('keeps nothing of ConfigMaps without definitions', async () => {
    house.volume = 'first';
    automation(house, 'a');
    await allReady(1);
    await house.delete('HubAutomation a');
    expect(house.delivered).toEqual([MARKER]);
    await house.moveTo('second');
    expect([...house.configMaps]).toEqual([]);
  });

  test.each(['before the copy', 'before the deletion'])(
    'loses nothing when the operator is killed %s',
    async (moment) => {
      house.volume = 'first';
      for (const name of ['a', 'b']) automation(house, name);
      await allReady(2);
      house.forget('HubAutomation', 'b');
      if (moment === 'before the copy') house.configMaps.applyTime = 5_000;
      else house.configMaps.removeTime = 5_000;
      const moved = house.moveTo('second');
      await house.clock.advance(1_000);
      void moved;
      house.start();
      house.configMaps.applyTime = house.configMaps.removeTime = 0;
      await house.moveTo('second');
      await allReady(1);
      expect(aside().map(idsIn)).toEqual([['a', 'b']]);
      expect(ids()).toEqual(['a']);
    },
  );

  test('is not told of a ConfigMap of an earlier version of the operator: it is for the volume that the hub has then', async () => {
    automation(house, 'a');
    await allReady(1);
    expect(house.configMaps.annotations('villa-delivery-0')).not.toHaveProperty(operatorAnnotations.volume);
    house.start();
    await house.moveTo('first');
    await allReady(1);
    await house.report();
    expect(ids()).toEqual(['a']);
    expect(house.configMaps.annotations('villa-delivery-0')).toMatchObject({
      [operatorAnnotations.volume]: 'first',
    });
    expect(aside()).toEqual([]);
  });

  test('makes resources wait until its definitions are set aside: none is overwritten', async () => {
    house.volume = 'first';
    automation(house, 'a');
    await allReady(1);
    house.start();
    house.volume = 'second';
    automation(house, 'b');
    await expect(house.reconcile('HubAutomation b')).resolves.toMatchObject({
      reason: 'HubFailed',
      message: expect.stringContaining('villa-delivery-0 is still that of another volume') as string,
    });
    expect(house.configMaps.annotations('villa-delivery-0')).toMatchObject({
      [operatorAnnotations.volume]: 'first',
    });
    await house.moveTo('second');
    await allReady(2);
    expect(aside().map(idsIn)).toEqual([['a']]);
  });
});

describe('the move', () => {
  async function byApi(count: number): Promise<void> {
    house.delivery = 'Api';
    for (const name of names(count)) automation(house, name);
    house.apply('HubScene', 'film', { name: 'Film', entities: [{ entity_id: 'light.a', state: 'on' }] });
    await allReady(count + 1);
    for (const entity of house.definitions.registry.values()) entity.area = 'kitchen';
  }
  const expectMoved = (to: 'Api' | 'File', count: number) => {
    const [own, delivered] = [
      house.definitions.ownFiles.size,
      house.delivered.filter((id) => !id.startsWith('hub_')).length,
    ];
    expect([own, delivered]).toEqual(to === 'Api' ? [count, 0] : [0, count]);
    expect(house.definitions.loaded.size - Number(house.definitions.loaded.has(`script ${MARKER}`))).toBe(
      count,
    );
    for (const name of names(count - 1)) {
      expect(runs(house, `automation ${name}`)).toMatchObject({ alias: `The ${name}` });
      expect(house.definitions.registry.get(`automation ${name}`)).toMatchObject({ area: 'kitchen' });
    }
  };

  test('goes there and back, and leaves nothing', async () => {
    await byApi(10);
    house.delivery = 'File';
    await allReady(11);
    expectMoved('File', 11);
    expect(house.asked.filter((what) => what.startsWith('POST '))).toHaveLength(11);
    house.delivery = 'Api';
    await allReady(11);
    expectMoved('Api', 11);
    expect(house.status('HubAutomation', 'n-0')).not.toHaveProperty('delivery');
    expect(await house.report()).toBeNull();
    expect(house.configMaps.size).toBe(0);
  });

  test.each(STEPS)('goes on after the operator was killed at step %i', async (steps) => {
    await byApi(4);
    house.delivery = 'File';
    await house.settleUntilKilled(steps);
    await allReady(5);
    expectMoved('File', 5);
    house.delivery = 'Api';
    await house.settleUntilKilled(steps);
    await allReady(5);
    expectMoved('Api', 5);
  });

  test.each(STEPS)('there and back again within %i steps leaves one of each', async (steps) => {
    await byApi(4);
    house.delivery = 'File';
    await allReady(5);
    house.delivery = 'Api';
    await house.settle(steps).catch(() => undefined);
    house.delivery = 'File';
    await allReady(5);
    expectMoved('File', 5);
  });

  test.each(STEPS)(
    'there and back within %i steps of one that was just renamed leaves one',
    async (steps) => {
      automation(house, 'a', { id: 'former' });
      await allReady(1);
      automation(house, 'a', { id: 'renamed' });
      await house.settle(2).catch(() => undefined);
      house.delivery = 'Api';
      await house.settle(steps).catch(() => undefined);
      house.delivery = 'File';
      await allReady(1);
      await allReady(1);
      expect([...house.definitions.ownFiles.keys(), ...house.delivered]).toEqual(['renamed', MARKER]);
    },
  );

  test('of one that is changed at the same time to what the hub disables leaves the former one', async () => {
    house.definitions.disabledBy['Disabled'] = 'Invalid device';
    await byApi(2);
    house.delivery = 'File';
    automation(house, 'n-0', { alias: 'Disabled' });
    expect(await house.settle()).toEqual({ 'n-0': 'RejectedByHub', 'n-1': 'Ready', film: 'Ready' });
    expect(runs(house, 'automation n-0')).toMatchObject({ alias: 'The n-0' });
    expect(house.definitions.registry.get('automation n-0')).toMatchObject({ area: 'kitchen' });
  });

  test('back leaves no ConfigMap, also while the Hub is reconciled, and there again meanwhile loses nothing', async () => {
    automation(house, 'n-0');
    await allReady(1);
    house.delivery = 'Api';
    await allReady(1);
    await house.reconcileHub();
    await house.clock.advance(100);
    await house.reconcileHub();
    await house.clock.advance(5_000);
    expect(house.configMaps.size).toBe(0);
    await house.reconcileHub();
    expect(house.configMaps.size).toBe(0);
    house.delivery = 'File';
    await allReady(1);
    await house.report();
    expect(house.delivered).toContain('n-0');
    expect(runs(house, 'automation n-0')).toMatchObject({ alias: 'The n-0' });
    house.delivery = 'Api';
    await allReady(1);
    await house.report();
    await house.reconcileHub();
    expect(house.configMaps.size).toBe(0);
    expect(house.definitions.registry.has(`script ${MARKER}`)).toBe(false);
  });

  test.each(STEPS)(
    'back leaves no marker script in the hub: also if the operator is killed %i00 ms after it began to remove it',
    async (steps) => {
      automation(house, 'n-0');
      await allReady(1);
      house.delivery = 'Api';
      await allReady(1);
      await house.reconcileHub();
      await house.clock.advance(100 * steps);
      house.start();
      await house.report();
      await house.report();
      expect(house.configMaps.size).toBe(0);
      expect(house.definitions.registry.has(`script ${MARKER}`)).toBe(false);
      expect(house.definitions.loaded.has(`script ${MARKER}`)).toBe(false);
      expect(house.asked.indexOf(`unregister ${MARKER}`)).toBeLessThan(
        house.asked.indexOf('delete villa-delivery-0'),
      );
    },
  );

  test('back keeps the ConfigMaps while the hub cannot read its files, without endless requests', async () => {
    automation(house, 'n-0');
    await allReady(1);
    house.delivery = 'Api';
    await allReady(1);
    house.hub.pod.refreshes = false;
    await house.reconcileHub();
    await house.clock.advance(40_000);
    expect(house.configMaps.size).toBe(1);
    const since = house.asked.length;
    for (let time = 0; time < 600; time += 10) {
      await house.reconcileHub();
      await house.clock.advance(10_000);
    }
    expect(house.asked.length - since).toBeLessThan(600); // in 10 minutes
    house.hub.pod.refreshes = true;
    for (let time = 0; time < 40; time++) {
      await house.reconcileHub();
      await house.clock.advance(10_000);
    }
    expect(house.configMaps.size).toBe(0);
    expect(house.definitions.registry.has(`script ${MARKER}`)).toBe(false);
  });

  test('there again while the empty ConfigMap is being deleted delivers definitions that come in the meantime', async () => {
    automation(house, 'n-0');
    await allReady(1);
    house.delivery = 'Api';
    await allReady(1);
    house.configMaps.removeTime = 5_000;
    await house.reconcileHub();
    await house.clock.advance(2_000);
    house.delivery = 'File';
    automation(house, 'n-1');
    await house.settle(6).catch(() => undefined);
    expect(house.definitions.ownFiles.has('automation n-0')).toBe(true);
    await allReady(2);
    expect([...house.delivered].sort()).toEqual([MARKER, 'n-0', 'n-1']);
  });

  test('there again before the empty ConfigMap is deleted keeps it', async () => {
    automation(house, 'n-0');
    await allReady(1);
    house.delivery = 'Api';
    await allReady(1);
    house.definitions.unregisterTime = 5_000;
    await house.reconcileHub();
    await house.clock.advance(2_000);
    house.delivery = 'File';
    automation(house, 'n-1');
    await house.settle(6).catch(() => undefined);
    await allReady(2);
    expect([...house.delivered].sort()).toEqual([MARKER, 'n-0', 'n-1']);
    expect(house.asked).not.toContain('delete villa-delivery-0');
  });

  test.each([
    ['one that is tried may be taken back', 'isTried'],
    ['one with another part is not that', 'hasOtherPart'],
  ] as const)(
    'waits until the hub has accepted the configuration that includes the files: %s',
    async (_, state) => {
      await byApi(2);
      house.delivery = 'File';
      house.definitions[state] = true;
      await house.settle(20).catch(() => undefined);
      expect(house.delivered).toContain('n-0');
      expect(house.definitions.ownFiles.size).toBe(3);
      // A hub without the includes reads nothing, so it is not reloaded repeatedly.
      expect(reloads(house, 'script')).toBe(0);
      house.definitions[state] = false;
      await allReady(3);
      expectMoved('File', 3);
    },
  );

  test('also requests a reload again after a removal that was interrupted: the hub may have started with a former configuration', async () => {
    await byApi(1);
    house.delivery = 'File';
    house.definitions.removeError = new HubFailed('cut');
    await house.settle(6).catch(() => undefined);
    expect(house.delivered).toContain('n-0');
    house.definitions.removeError = undefined;
    house.definitions.isTried = true;
    await house.settle(20).catch(() => undefined);
    expect(house.definitions.ownFiles.has('automation n-0')).toBe(true);
    house.definitions.isTried = false;
    await allReady(2);
    expectMoved('File', 2);
  });

  test('a suspended one stays where it is, and a dry run says what would move', async () => {
    await byApi(1);
    house.delivery = 'File';
    const outcome = await house.reconcile('HubAutomation n-0', { dryRun: true });
    expect(outcome.message).toMatch(/^Would move n-0 out of the hub’s own file/);
    expect(house.configMaps.size).toBe(0);
  });
});

describe('a resource without status, as after a restore', () => {
  test('regards delivered definitions as its own, and removes them at its deletion', async () => {
    automation(house, 'a');
    await allReady(1);
    house.forgetStatus('HubAutomation', 'a');
    house.start();
    await allReady(1);
    expect(house.status('HubAutomation', 'a')).not.toHaveProperty('adopted');
    await house.delete('HubAutomation a');
    expect(house.delivered).not.toContain('a');
    expect(house.definitions.registry.has('automation a')).toBe(false);
  });
});

describe('the deletion', () => {
  test.each(['Delete', 'Orphan'])(
    'on another volume of the hub touches nothing there: %s',
    async (deletionPolicy) => {
      house.volume = 'lost';
      automation(house, 'a', { deletionPolicy });
      await allReady(1);
      await house.moveTo('new');
      await house.delete('HubAutomation a');
      expect([
        ...house.delivered,
        ...house.definitions.ownFiles.keys(),
        ...house.definitions.registry.keys(),
      ]).toEqual([]);
    },
  );

  test('waits until the hub has no more of it, also after attempts that failed', async () => {
    for (const name of ['a', 'b']) automation(house, name);
    await allReady(2);
    house.hub.pod.refreshes = false;
    await expect(house.delete('HubAutomation a', 300)).rejects.toThrow('never removed');
    house.hub.pod.refreshes = true;
    await house.delete('HubAutomation a', 700);
    await house.reconcile('HubAutomation b');
    expect(house.definitions.loaded.has('automation a')).toBe(false);
    expect(house.definitions.registry.has('automation a')).toBe(false);
  });

  test('does not wait for a hub that does not include the files', async () => {
    for (const name of ['a', 'b']) automation(house, name);
    await allReady(2);
    house.definitions.isTried = true;
    await house.delete('HubAutomation a', 200);
    expect(house.delivered).not.toContain('a');
  });

  test('waits for a write into the hub’s own file', async () => {
    automation(house, 'a');
    await allReady(1);
    [house.delivery, house.definitions.postTime] = ['Api', 3_000];
    automation(house, 'b', { autoReload: false });
    while (!house.asked.includes('POST b')) await house.settle(1).catch(() => undefined);
    await house.delete('HubAutomation b');
    await house.clock.advance(5_000);
    expect([...house.definitions.ownFiles.keys()]).not.toContain('automation b');
  });

  test('uses the API where a write had no answer', async () => {
    house.definitions.lateWritePeriod = 5_000;
    house.start();
    automation(house, 'a');
    await allReady(1);
    await house.delete('HubAutomation a');
    expect(house.asked).toContain('remove a');
    expect(house.delivered).not.toContain('a');
  });

  test('of an orphan ends before a new resource takes its id', async () => {
    automation(house, 'old', { id: 'x', deletionPolicy: 'Orphan', driftPolicy: 'Warn' });
    await allReady(1);
    house.definitions.postTime = 5_000;
    house.beginDeletion('HubAutomation old');
    automation(house, 'new', { id: 'x', alias: 'New', driftPolicy: 'Warn' });
    expect(await house.settle()).toMatchObject({ new: 'Ready' });
    expect([...house.definitions.ownFiles]).toEqual([]);
    expect(runs(house, 'automation x')).toMatchObject({ alias: 'New' });
  });

  test('of an orphan leaves what a new resource that has its id delivers', async () => {
    automation(house, 'old', { id: 'x', deletionPolicy: 'Orphan' });
    await allReady(1);
    house.beginDeletion('HubAutomation old');
    automation(house, 'new', { id: 'x', alias: 'New' });
    for (let step = 0; step < 20; step++) {
      await house.reconcile('HubAutomation new');
      await house.clock.advance(500);
    }
    await house.delete('HubAutomation old');
    expect(house.delivered).toContain('x');
    expect(house.asked).not.toContain('POST x');
    expect(runs(house, 'automation x')).toMatchObject({ alias: 'New' });
  });

  test('of an id that stays and is taken again meanwhile leaves no other definition in its place', async () => {
    automation(house, 'a', { id: 'x', deletionPolicy: 'Orphan', driftPolicy: 'Warn' });
    await allReady(1);
    house.definitions.postTime = 5_000;
    automation(house, 'a', { id: 'y' });
    await house.settle(2).catch(() => undefined);
    automation(house, 'a', { id: 'x', alias: 'Third' });
    await allReady(1);
    await house.clock.advance(10_000);
    await allReady(1);
    expect(runs(house, 'automation x')).toMatchObject({ alias: 'Third' });
  });
});

test('definitions of a ConfigMap that was lost are no drift: they are restored with driftPolicy: Warn too', async () => {
  automation(house, 'a', { driftPolicy: 'Warn' });
  await allReady(1);
  house.configMaps.clear();
  house.start();
  await allReady(1);
  expect(house.delivered).toContain('a');
});

test('a process whose cache has no ConfigMaps yet keeps the definitions that no resource puts there again', async () => {
  automation(house, 'suspended', { description: 'x'.repeat(600_000) });
  automation(house, 'a');
  await allReady(2);
  automation(house, 'b', { description: 'x'.repeat(600_000) });
  await allReady(3);
  expect(house.configMaps.size).toBe(2);
  house.start();
  house.configMaps.isCached = false;
  await house.clock.advance(10_000);
  for (const name of ['a', 'b']) {
    automation(house, name, { description: 'new' });
    for (let step = 0; step < 20; step++) {
      await house.reconcile(`HubAutomation ${name}`);
      await house.clock.advance(500);
    }
  }
  expect([...house.delivered].sort()).toEqual(['a', 'b', MARKER, 'hub_operator_delivery_1', 'suspended']);
});

describe('an object that a user makes with the same id', () => {
  beforeEach(async () => {
    automation(house, 'a');
    await allReady(1);
    house.definitions.ownFiles.set('automation a', { alias: 'Mine', triggers: [], actions: [] });
    house.definitions.loaded.set('automation a', { alias: 'Mine', triggers: [], actions: [] });
  });

  test('is removed', async () => {
    await allReady(1);
    expect(house.definitions.ownFiles.size).toBe(0);
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
  });

  test('stays with a hub that cannot write its file, which is reported, and tried less and less often', async () => {
    let attempts = 0;
    let isReadOnly = true;
    Object.defineProperty(house.definitions, 'removeError', {
      get: () => (isReadOnly && ++attempts ? new HubFailed('Server got itself in trouble') : undefined),
    });
    await house.clock.advance(10_000);
    const reasons = new Set<string>();
    for (let step = 0; step < 1_200; step++) {
      reasons.add((await house.reconcile('HubAutomation a')).reason);
      await house.clock.advance(500);
    }
    expect([...reasons]).not.toContain('DriftDetected');
    expect([...reasons]).toContain('HubFailed');
    expect(attempts).toBeGreaterThan(3);
    expect(attempts).toBeLessThan(20); // in 10 minutes
    isReadOnly = false;
    await house.clock.advance(600_000);
    await allReady(1);
    expect(house.definitions.ownFiles.size).toBe(0);
  });

  test('is overwritten by Api, and an event says so', async () => {
    house.delivery = 'Api';
    const events: unknown[] = [];
    for (let step = 0; step < 20; step++) {
      events.push(...((await house.reconcile('HubAutomation a')).events ?? []));
      await house.clock.advance(500);
    }
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
    expect(house.definitions.ownFiles.get('automation a')).toMatchObject({ alias: 'The a' });
    const drift = events.filter((event) => (event as { reason: string }).reason === 'DriftDetected');
    expect(drift).toHaveLength(1);
    expect((drift[0] as { message: string }).message).toMatch(/alias: hub has "?Mine/);
  });

  test('stays with driftPolicy: Warn', async () => {
    automation(house, 'a', { driftPolicy: 'Warn' });
    expect(await house.settle()).toEqual({ a: 'DriftDetected' });
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'Mine' });
    house.delivery = 'Api';
    expect(await house.settle()).toEqual({ a: 'DriftDetected' });
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'Mine' });
    expect(house.delivered).not.toContain('a');
  });
});

describe('a reconcile of the Hub that writes a change before its publication does', () => {
  /** @param at milliseconds from now */
  const restoreAfter = (at: number) =>
    house.clock.after(at, () => void house.reconcileHub().catch(() => undefined));

  beforeEach(async () => {
    automation(house, 'a');
    automation(house, 'b');
    await allReady(2);
  });

  test.each([50, 100, 150, 190])('and fails loses no deletion (after %i ms)', async (at) => {
    [house.configMaps.applyTime, house.configMaps.applyError] = [150, new Error('quota')];
    restoreAfter(at);
    house.clock.after(at + 100, () => (house.configMaps.applyError = undefined));
    await house.delete('HubAutomation b');
    expect([...house.delivered].sort()).toEqual(['a', MARKER]);
    expect(runs(house, 'automation b')).toBeUndefined();
  });

  test.each([50, 100, 150, 190])('is waited for before the hub is reloaded (after %i ms)', async (at) => {
    house.configMaps.applyTime = 300;
    restoreAfter(at);
    automation(house, 'c');
    await allReady(3);
    expect(runs(house, 'automation c')).toBeDefined();
  });
});

test('with autoReload: false a definition that the hub has used is not replaced when the hub disables it later', async () => {
  automation(house, 'a');
  await allReady(1);
  automation(house, 'a', { alias: 'Second', autoReload: false });
  await allReady(1);
  await house.clock.advance(5_000);
  house.hub.restart();
  await allReady(1);
  await house.clock.advance(5_000);
  house.definitions.disabledBy['Second'] = 'Unknown device';
  house.start();
  house.hub.restart();
  expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
  expect(runs(house, 'automation a')).toMatchObject({ alias: 'Second' });
});

test('a removal waits for the pod even where a user’s script hides the marker', async () => {
  automation(house, 'a');
  automation(house, 'b');
  await allReady(2);
  house.definitions.ownFiles.set(`script ${MARKER}`, { alias: 'Mine', sequence: [] });
  house.hub.restart();
  house.hub.pod.refreshes = false;
  await expect(house.delete('HubAutomation b', 700)).rejects.toThrow('never removed');
});

test.each([
  ['Correct', 'Ready', 'The a'],
  ['Warn', 'DriftDetected', 'Mine'],
])(
  'with autoReload: false an object that a user makes with the same id is seen: %s',
  async (driftPolicy, reason, alias) => {
    automation(house, 'a', { driftPolicy, autoReload: false });
    await allReady(1);
    house.hub.restart();
    await allReady(1);
    house.definitions.ownFiles.set('automation a', { alias: 'Mine', triggers: [], actions: [] });
    house.hub.restart();
    expect(await house.settle()).toEqual({ a: reason });
    house.hub.restart();
    expect(runs(house, 'automation a')).toMatchObject({ alias });
  },
);

describe('with autoReload: false a start of the hub counts as the reload:', () => {
  test.each(['the same', 'another'])(
    'a definition that the hub does not load then is removed again (%s process)',
    async (process) => {
      automation(house, 'a');
      await allReady(1);
      automation(house, 'a', { alias: 'Second', autoReload: false });
      await allReady(1);
      expect(messageOf('a')).toContain('at its next start');
      await house.clock.advance(5_000);
      if (process === 'another') house.start();
      await allReady(1);
      house.definitions.omitted = 'Second';
      house.hub.restart();
      expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
      expect(house.delivered).toContain('a');
      house.hub.restart();
      expect(runs(house, 'automation a')).toMatchObject({ alias: 'The a' });
    },
  );

  test('the former definition is no longer known, which is reported', async () => {
    automation(house, 'a', { autoReload: false });
    await allReady(1);
    house.hub.restart();
    await allReady(1);
    house.definitions.omitted = 'The a';
    house.hub.restart();
    expect(await house.settle()).toEqual({ a: 'NotLoaded' });
    house.definitions.omitted = undefined;
    house.hub.restart();
    await allReady(1);
  });

  test('not with a configuration that may not include the files', async () => {
    automation(house, 'a');
    await allReady(1);
    automation(house, 'a', { alias: 'Second', autoReload: false });
    await allReady(1);
    [house.definitions.omitted, house.definitions.isTried] = ['Second', true];
    house.hub.restart();
    await allReady(1);
    await house.clock.advance(60_000);
    await allReady(1);
    [house.definitions.omitted, house.definitions.isTried] = [undefined, false];
    house.hub.restart();
    await allReady(1);
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'Second' });
  });

  test('not of one that is not written', async () => {
    automation(house, 'a', { autoReload: false });
    await allReady(1);
    house.hub.restart();
    await allReady(1);
    house.configMaps.applyError = new Error('quota');
    automation(house, 'a', { alias: 'Second' });
    for (let step = 0; step < 20; step++) {
      if (step === 10) house.hub.restart();
      await house.settle(1).catch(() => undefined);
    }
    house.configMaps.applyError = undefined;
    await house.settle().catch(() => undefined);
    await allReady(1);
    house.hub.restart();
    await allReady(1);
    expect(runs(house, 'automation a')).toMatchObject({ alias: 'Second' });
  });
});

test('with autoReload: false an object that a user makes with the same id is seen before the next start', async () => {
  automation(house, 'a', { driftPolicy: 'Warn', autoReload: false });
  await allReady(1);
  house.definitions.ownFiles.set('automation a', { alias: 'Mine', triggers: [], actions: [] });
  house.definitions.loaded.set('automation a', { alias: 'Mine', triggers: [], actions: [] });
  expect(await house.settle()).toEqual({ a: 'DriftDetected' });
});

test('a client that another one has replaced writes no more ConfigMaps', async () => {
  automation(house, 'a');
  await allReady(1);
  await house.clock.advance(5_000);
  automation(house, 'a', { description: 'new' });
  await house.reconcile('HubAutomation a');
  await house.clock.advance(100);
  house.hub.isClosed = true;
  await house.clock.advance(10_000);
  expect(JSON.stringify([...house.configMaps.values()])).not.toContain('new');
});

test('with Api a script with only defaults that a user removes is drift', async () => {
  house.delivery = 'Api';
  house.apply('HubScript', 'odd', { alias: 'odd', sequence: [], driftPolicy: 'Warn' });
  await allReady(1);
  for (const map of [house.definitions.ownFiles, house.definitions.loaded, house.definitions.registry])
    map.delete('script odd');
  await house.clock.advance(700_000);
  expect(await house.settle()).toEqual({ odd: 'DriftDetected' });
});
