import type { HubClient } from '../../../../operator/client/hub-client';
import { Places } from '../../../../operator/sync/config-entities/places';
import { ManualClock } from '../../manual-clock';
import { services } from '../fixtures';
import { House } from './delivery/house';

// Behaviour that is common to both places of a definition: the hub's own file and a mounted one.

const AUTOMATION = { triggers: [{ trigger: 'sun' }], actions: [{ delay: 1 }] };
/** Numbers of steps after which a process is killed. */
const STEPS = Array.from({ length: 8 }, (_, index) => index + 1);

let house: House;

const automation = (name: string, spec: object = {}) =>
  house.apply('HubAutomation', name, { alias: `The ${name}`, ...AUTOMATION, ...spec });
const settled = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'Ready']));
const aliasOf = (id: string) => house.definitions.loaded.get(`automation ${id}`)?.['alias'];
const makes = (id: string, alias: string) => {
  for (const map of [house.definitions.ownFiles, house.definitions.loaded])
    map.set(`automation ${id}`, { alias, triggers: [], actions: [] });
  house.definitions.registry.set(`automation ${id}`, { entity_id: `automation.${id}`, labels: [], area: '' });
};
/** Returns the ids in the hub's own file, and those in the mounted files. */
const ids = () => ({
  own: [...house.definitions.ownFiles.keys()].map((key) => key.split(' ')[1]),
  mounted: house.delivered.filter((id) => !id.startsWith('hub_')),
});
const labels = (id: string) => house.definitions.registry.get(`automation ${id}`)?.labels;
const registered = (id: string) => house.definitions.registry.has(`automation ${id}`);

describe.each([
  ['Api', 'File', 'own', 'mounted'],
  ['File', 'Api', 'mounted', 'own'],
] as const)('with delivery: %s', (delivery, other, place, left) => {
  beforeEach(() => {
    house = new House();
    house.delivery = delivery;
  });

  test('a new object is only in its place, and in use', async () => {
    automation('a');
    expect(await house.settle()).toEqual(settled('a'));
    expect(ids()).toEqual({ [place]: ['a'], [left]: [] });
    expect(aliasOf('a')).toBe('The a');
    expect(house.status('HubAutomation', 'a')).toMatchObject({ automationId: 'a', entityId: 'automation.a' });
    expect(house.status('HubAutomation', 'a')['delivery']).toBe(delivery === 'File' ? 'File' : undefined);
  });

  test('an equal one causes no write and no reload, also after a restart of the operator', async () => {
    automation('a');
    await house.settle();
    house.start();
    const since = house.asked.length;
    expect(await house.settle()).toEqual(settled('a'));
    expect(house.asked.slice(since)).toEqual([]);
  });

  test.each(STEPS)('an edit is carried out also if the operator is killed at step %i', async (steps) => {
    automation('a');
    await house.settle();
    automation('a', { alias: 'Edited' });
    await house.settleUntilKilled(steps);
    expect(await house.settle()).toEqual(settled('a'));
    expect(aliasOf('a')).toBe('Edited');
    expect(ids()).toEqual({ [place]: ['a'], [left]: [] });
  });

  test('a rejected one leaves the former one in use, and the next edit is sent', async () => {
    automation('a');
    await house.settle();
    automation('a', { alias: 'Bad', triggers: [{ trigger: 'bad' }] });
    expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
    expect(aliasOf('a')).toBe('The a');
    automation('a', { alias: 'Good', ...AUTOMATION });
    expect(await house.settle()).toEqual(settled('a'));
    expect(aliasOf('a')).toBe('Good');
  });

  test('an object that a user has made is adopted, and stays when the resource is deleted', async () => {
    makes('a', 'Mine');
    automation('a');
    expect(await house.settle()).toEqual(settled('a'));
    expect(ids()).toEqual({ [place]: ['a'], [left]: [] });
    expect(house.status('HubAutomation', 'a')).toMatchObject({ adopted: true });
    await house.delete('HubAutomation a');
    expect(ids()).toEqual({ own: ['a'], mounted: [] });
    expect(aliasOf('a')).toBe('The a');
  });

  test.each([
    ['Correct', 'Ready', 'The a', place],
    ['Warn', 'DriftDetected', 'Mine', 'own'],
  ])('a change by a user with driftPolicy: %s is %s', async (driftPolicy, reason, alias, remaining) => {
    automation('a', { driftPolicy });
    await house.settle();
    makes('a', 'Mine');
    house.start();
    await house.clock.advance(10_000);
    expect(await house.settle()).toEqual({ a: reason });
    expect(aliasOf('a')).toBe(alias);
    expect(ids()[remaining as 'own']).toEqual(['a']);
  });

  test('another id makes another object, and the former one is removed', async () => {
    automation('a');
    await house.settle();
    automation('a', { id: 'b' });
    expect(await house.settle()).toEqual(settled('a'));
    expect(ids()).toEqual({ [place]: ['b'], [left]: [] });
    expect([registered('a'), registered('b')]).toEqual([false, true]);
    expect(house.status('HubAutomation', 'a')).not.toHaveProperty('formerIds');
  });

  test('another id with deletionPolicy: Orphan leaves the former object in the hub’s own file', async () => {
    automation('a', { deletionPolicy: 'Orphan' });
    await house.settle();
    automation('a', { id: 'b' });
    expect(await house.settle()).toEqual(settled('a'));
    expect(ids().own).toContain('a');
    expect(ids()[place]).toContain('b');
    expect(ids().mounted).not.toContain('a');
    expect([labels('a'), labels('b')]).toEqual([[], ['Managed by Hub Operator']]);
  });

  test('a former object without a label belongs to a new resource with its id, which removes it', async () => {
    house.markManaged = false;
    automation('a');
    await house.settle();
    automation('a', { id: 'b', triggers: [{ trigger: 'bad' }] });
    expect(await house.settle()).toEqual({ a: 'RejectedByHub' });
    automation('c', { id: 'a' });
    expect(await house.settle()).toEqual({ a: 'RejectedByHub', c: 'Ready' });
    expect(house.status('HubAutomation', 'c')).not.toHaveProperty('adopted');
    await house.delete('HubAutomation c');
    expect(aliasOf('a')).toBeUndefined();
  });

  test('a deletion removes the object and its entity, and nothing else', async () => {
    for (const name of ['a', 'b', 'c']) automation(name);
    await house.settle();
    await house.delete('HubAutomation b');
    expect(ids()).toEqual({ [place]: ['a', 'c'], [left]: [] });
    expect(['a', 'b', 'c'].map((id) => [aliasOf(id) !== undefined, registered(id)])).toEqual([
      [true, true],
      [false, false],
      [true, true],
    ]);
  });

  test('a deletion with deletionPolicy: Orphan leaves the object in the hub’s own file', async () => {
    automation('a', { deletionPolicy: 'Orphan' });
    await house.settle();
    await house.delete('HubAutomation a');
    expect(ids()).toEqual({ own: ['a'], mounted: [] });
    expect([aliasOf('a'), labels('a')]).toEqual(['The a', []]);
  });

  test.each(STEPS)('the move to the other place continues after a kill at step %i', async (steps) => {
    automation('a');
    await house.settle();
    house.delivery = other;
    await house.settleUntilKilled(steps);
    expect(await house.settle()).toEqual(settled('a'));
    expect(await house.settle()).toEqual(settled('a'));
    expect(ids()).toEqual({ [left]: ['a'], [place]: [] });
    expect(aliasOf('a')).toBe('The a');
    expect(registered('a')).toBe(true);
  });

  test('status says that the hub’s own file may have an object before that is written', async () => {
    automation('a');
    await house.settle();
    house.delivery = other;
    const inOwnFile: unknown[] = [];
    for (let step = 0; step < 20; step++) {
      if (house.definitions.ownFiles.has('automation a'))
        inOwnFile.push(house.status('HubAutomation', 'a')['delivery']);
      await house.reconcile('HubAutomation a');
      await house.clock.advance(500);
      house.start();
    }
    expect(inOwnFile.length).toBeGreaterThan(0);
    expect(inOwnFile).not.toContain('File');
  });

  test('a dry run says that the object would move, and moves nothing', async () => {
    automation('a');
    await house.settle();
    house.delivery = other;
    const outcome = await house.reconcile('HubAutomation a', { dryRun: true });
    expect(outcome).toMatchObject({ reason: 'DryRun' });
    expect(outcome.message).toMatch(
      other === 'Api' ? /into the hub’s own file/ : /out of the hub’s own file/,
    );
    expect(ids()).toEqual({ [place]: ['a'], [left]: [] });
  });
});

test('an object that was not written into its destination stays where it is, as when its resource has got another id', async () => {
  const at = { namespace: 'home', name: 'villa' };
  const places = new Places(services({ clock: new ManualClock() }), {} as HubClient, at, {
    fileReads: {} as never,
    isExpecting: () => false,
  });
  places.files.definitions.put('automation', 'a', AUTOMATION);
  const move = { write: async () => false, mayLeave: () => true };
  const moved = places.move(places.own, 'automation', 'a', move);
  await new Promise(setImmediate);
  expect(places.whereIs('automation', 'a')).toBe(places.mounted);
  expect(await moved).toBeUndefined();
});
