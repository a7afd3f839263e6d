import { EntityCache } from '../../../../operator/sync/config-entities/entity-cache';
import { ManualClock } from '../../manual-clock';

describe('EntityCache', () => {
  test('tells that an id is being removed, for another resource too, until the removal has ended', () => {
    const cache = new EntityCache(new ManualClock());
    const removal = { kind: 'automation', ids: ['lights'], startedAt: 0 } as const;
    cache.get('one').removal = removal;
    cache.get('two');
    expect(cache.isBeingRemoved('automation', 'lights')).toBe(true);
    expect(cache.isBeingRemoved('automation', 'others')).toBe(false);
    expect(cache.isBeingRemoved('scene', 'lights')).toBe(false);
    cache.get('one').removal = { ...removal, end: { at: 0 } };
    expect(cache.isBeingRemoved('automation', 'lights')).toBe(false);
  });
});
