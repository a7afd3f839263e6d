import { objectRecord } from '../../../../operator/runtime/object-record';
import type { Waiting } from '../../../../operator/runtime/outcome';
import { oneForm } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

/** Returns what a deletion waits for before the object passes to a successor, and records its status. */
function released(house: House, name: string): Waiting | undefined {
  const resource = house.resources.get(name)!;
  const waiting = house.sync.release(resource, house.client);
  if (waiting) house.resources.set(name, { ...resource, status: { ...resource.status, ...waiting.status } });
  return waiting;
}

/** Passes the object of a deleted resource to another one, which then has its status. */
function handOver(house: House, from: string, to: string): void {
  const resource = house.resources.get(from)!;
  house.sync.forget(resource, house.client);
  house.resources.delete(from);
  house.resources.set(to, { ...house.resources.get(to)!, status: objectRecord(resource) });
}

describe('a resource that is renamed in Git while the hub makes its entry', () => {
  test.each<[string, object]>([
    ['with another title than that of the flow', { title: 'Mine' }],
    ['with adopt: Never', { adopt: 'Never' }],
    ['without a title', {}],
  ])('hands over the entry that its flow has made as its own (%s)', async (_, more) => {
    const house = new House();
    const { integrations } = house;
    const spec = { configuration: texts({ host: 'a' }), ...more };
    integrations.scriptOf = () => oneForm(['host'], () => integrations.created({ title: 'Of the flow' }));
    let answer: () => void = () => undefined;
    integrations.onCarriedOut = (call) =>
      call.startsWith('submit') ? new Promise<void>((resolve) => (answer = resolve)) : undefined;
    house.apply('one', spec);
    await house.until('one', () => integrations.entries.size === 1);

    house.apply('two', spec);
    expect(released(house, 'one')).toMatchObject({ type: 'Waiting' });
    answer();
    await house.clock.advance(0);
    while (released(house, 'one')) await house.clock.advance(1_000);
    handOver(house, 'one', 'two');

    await house.settle('two');
    await house.clock.advance(2_000); // until a corrected title is read
    expect(await house.settle('two')).toMatchObject({ reason: 'EntryLoaded' });
    expect(house.status('two')).not.toHaveProperty('adopted');
    expect(integrations.entries.size).toBe(1);
  });
});
