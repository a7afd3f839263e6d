import { EntityCache } from '../../../../operator/sync/config-entities/entity-cache';
import { Removal } from '../../../../operator/sync/objects/removal';
import { ManualClock } from '../../manual-clock';

describe('EntityCache', () => {
  test('reports that an id is being removed, for another resource too, until the removal has ended', () => {
    const clock = new ManualClock();
    const cache = new EntityCache(clock);
    const removal = new Removal(clock, 'automation', ['lights']);
    cache.get('one').removal = removal;
    cache.get('two');
    expect(cache.isBeingRemoved('automation', 'lights')).toBe(true);
    expect(cache.isBeingRemoved('automation', 'others')).toBe(false);
    expect(cache.isBeingRemoved('scene', 'lights')).toBe(false);
    removal.end = { type: 'completed', at: 0, result: undefined };
    expect(cache.isBeingRemoved('automation', 'lights')).toBe(false);
  });
});
