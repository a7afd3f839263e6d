import { anEntry, form, type Integrations, oneForm } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

describe('on another volume', () => {
  let house: House;
  let integrations: Integrations;
  const spec = { configuration: texts({ host: 'a' }) };

  beforeEach(async () => {
    house = new House();
    ({ integrations } = house);
    house.volume = 'first';
    integrations.scriptOf = () => oneForm(['host'], () => integrations.created());
    house.apply('one', { ...spec, driftPolicy: 'Warn' });
    await house.settle('one');
    expect(house.status('one')).toMatchObject({ volumeID: 'first' });
    house.volume = 'second';
  });

  test('a missing entry is made again, which is not drift', async () => {
    const { entryID } = house.status('one');
    integrations.entries.clear();
    expect(await house.settle('one')).toMatchObject({ type: 'Ready', reason: 'EntryLoaded' });
    expect(house.status('one')).toMatchObject({ volumeID: 'second' });
    expect(house.status('one').entryID).not.toBe(entryID);
    expect(house.events).toEqual([]);
  });

  test('an entry with the same id, as on a copy of the volume, stays that of the resource', async () => {
    const { entryID } = house.status('one');
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID, volumeID: 'second' });
    expect(house.status('one').adopted).toBeUndefined();
    expect(integrations.entries.size).toBe(1);
  });

  test('a flow that was interrupted on the former volume adopts no entry of a user', async () => {
    house.resources.set('one', {
      ...house.resources.get('one')!,
      status: {
        volumeID: 'first',
        pendingFlow: { startedAt: new Date(house.clock.now()).toISOString(), entryIDs: [] },
      },
    });
    integrations.entries.clear();
    const at = house.clock.now() / 1_000;
    integrations.entries.set('person', anEntry({ entry_id: 'person', source: 'user', created_at: at }));
    house.start();
    await house.settle('one');
    expect(house.status('one').entryID).not.toBe('person');
    expect(integrations.entries.has('person')).toBe(true);
  });

  test('answers that were rejected are not sent again', async () => {
    house.volume = 'first';
    integrations.scriptOf = () =>
      oneForm(['host'], () => form(['host'], { errors: { base: 'invalid_auth' } }));
    house.apply('two', { ...spec, title: 'Two' });
    await house.settle('two');
    const sent = house.calls.length;
    house.start();
    house.volume = 'second';
    expect(await house.settle('two')).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed' });
    expect(house.calls).toHaveLength(sent);
    expect(house.status('two')).toMatchObject({ volumeID: 'second' });
  });

  test('nothing is removed with the resource, and the event names the entry', async () => {
    const { entryID } = house.status('one');
    expect(await house.remove('one')).toMatchObject([
      {
        reason: 'CleanupSkipped',
        message: expect.stringContaining(`entry ${entryID} was on another volume`),
      },
    ]);
    expect(integrations.entries.has(entryID!)).toBe(true);
  });
});
