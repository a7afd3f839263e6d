import type { RegistryRecord } from '../../../../operator/client/connection/api-types';
import {
  areas,
  type EntryResource,
  type EntryType,
  floors,
  labels,
  zones,
} from '../../../../operator/sync/registry/entry-types';
import { desiredEntry, entryDiff, entrySpecOf } from '../../../../operator/sync/registry/desired';
import fc from '../../../fast-check';
import { resource } from '../../resource';

const text = fc.option(fc.constantFrom('mdi:sofa', 'no', 'a b'));
const aliases = fc.uniqueArray(fc.constantFrom('a', 'on', 'z'), { maxLength: 3 });
const ids = { floor: ['attic', 'ground'], label: ['night', 'day'] } as const;

const records: readonly (readonly [EntryType, fc.Arbitrary<RegistryRecord>])[] = [
  [floors, fc.record({ name: fc.string(), level: fc.option(fc.integer()), icon: text, aliases })],
  [labels, fc.record({ name: fc.string(), icon: text, color: text, description: text })],
  [
    areas,
    fc.record({
      name: fc.string(),
      floor_id: fc.option(fc.constantFrom(...ids.floor)),
      labels: fc.subarray([...ids.label]),
      icon: text,
      aliases,
      picture: text,
      temperature_entity_id: text,
      humidity_entity_id: text,
    }),
  ],
  [
    zones,
    fc.record({
      name: fc.string(),
      latitude: fc.double({ min: -90, max: 90, noNaN: true }).map((each) => Math.round(each * 1e6) / 1e6 + 0),
      longitude: fc
        .double({ min: -180, max: 180, noNaN: true })
        .map((each) => Math.round(each * 1e6) / 1e6 + 0),
      radius: fc.integer({ min: 1, max: 1000 }),
      passive: fc.boolean(),
      icon: text,
    }),
  ],
];

describe('the spec of an entry of a registry', () => {
  test.each(records.map(([entryType, record]) => [entryType.type, entryType, record] as const))(
    'of a %s describes the entry unchanged',
    (_, entryType, record) => {
      fc.assert(
        fc.property(record, (entry) => {
          const spec = entrySpecOf(entryType, entry, (type, id) => `The ${type} ${id}`);
          const idsOf = (value: unknown) =>
            [value].flat().map((name) => String(name).replace(/^The \w+ /, ''));
          const { floorName, labels: names } = spec;
          const references = {
            ...(floorName !== undefined && { floorName: idsOf(floorName)[0]! }),
            ...(names !== undefined && { labels: idsOf(names) }),
          };
          const described = resource('a', { hubRef: { name: 'villa' }, ...spec }) as EntryResource;
          expect(entryDiff(entry, desiredEntry(entryType, described, references))).toEqual([]);
        }),
      );
    },
  );
});
