import { desiredEntry, entryDiff } from '../../../../operator/sync/registry/desired';
import { areas, floors } from '../../../../operator/sync/registry/entry-types';
import { anEntry } from './entries';

describe('desiredEntry', () => {
  test('only fields that the spec sets are desired, 0 and empty lists among them', () => {
    const desired = desiredEntry(floors, anEntry('HubFloor', 'g', { spec: { level: 0, aliases: [] } }), {});
    expect(desired).toMatchObject({ fields: { name: 'g', level: 0, aliases: [] }, cleared: {} });
    expect(desired.declared).toEqual(['aliases', 'level']);
  });

  test('a field that was set before and is not in the spec is cleared, in the way of its type', () => {
    const status = { appliedFields: ['aliases', 'floorName', 'icon', 'labels'] };
    const area = anEntry('HubArea', 'a', { spec: { icon: 'mdi:sofa' }, status });
    const desired = desiredEntry(areas, area, {});
    expect(desired.cleared).toEqual({ aliases: [], floor_id: null, labels: [] });
    expect(desired.fields).toEqual({ name: 'a', icon: 'mdi:sofa' });
  });

  test('names of other entries are replaced by their ids', () => {
    const area = anEntry('HubArea', 'a', { spec: { floorName: 'Attic', labels: ['B', 'A'] } });
    const { fields } = desiredEntry(areas, area, { floorName: 'attic', labels: ['b_2', 'a'] });
    expect(fields).toEqual({ name: 'a', floor_id: 'attic', labels: ['a', 'b_2'] });
  });

  test.each([
    [
      [' x ', 'x', '\u0085y\u001f', '\ufeffz'],
      ['x', 'y', '\ufeffz'],
    ],
    [[' ', '\u3000'], []],
  ])('aliases %j are in the hub’s form', (aliases, kept) => {
    const { fields } = desiredEntry(floors, anEntry('HubFloor', 'f', { spec: { aliases } }), {});
    expect(fields).toMatchObject({ aliases: kept });
  });

  test('the hash covers the set fields: it depends on ids, not on order or on cleared fields', () => {
    const hash = (spec: object, ids: string[], appliedFields: string[] = []) =>
      desiredEntry(areas, anEntry('HubArea', 'a', { spec: { ...spec }, status: { appliedFields } }), {
        labels: ids,
      }).hash;
    const labels = ['A', 'B'];
    expect(hash({ labels }, ['a', 'b'])).toBe(hash({ labels }, ['b', 'a'], ['icon']));
    expect(hash({ labels }, ['a', 'b'])).not.toBe(hash({ labels }, ['a', 'c']));
  });
});

describe('entryDiff', () => {
  const desired = desiredEntry(
    floors,
    anEntry('HubFloor', 'f', { spec: { aliases: ['b', 'a'] }, status: { appliedFields: ['icon'] } }),
    {},
  );

  test('lists are compared without order, and cleared fields with null', () => {
    expect(entryDiff(floors, { name: 'f', aliases: ['b', 'a'], icon: null, level: 7 }, desired)).toEqual([]);
    expect(entryDiff(floors, { name: 'f', aliases: ['a', 'b'] }, desired)).toEqual([]);
  });

  test('each field that differs is named with both values', () => {
    expect(entryDiff(floors, { name: 'g', aliases: ['a'], icon: 'mdi:x' }, desired)).toEqual([
      { field: 'name', actual: 'g', desired: 'f' },
      { field: 'aliases', actual: ['a'], desired: ['a', 'b'] },
      { field: 'icon', actual: 'mdi:x', desired: null },
    ]);
  });
});
