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
import { helper } from '../../../../operator/kinds';
import { persons } from '../../../../operator/sync/registry/persons';
import { helperTypes } from '../../../../operator/sync/registry/helpers/types';
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
  [
    persons,
    fc.record({
      name: fc.string(),
      person_id: fc.constant('anna'),
      user_id: fc.option(fc.constantFrom('u1', 'u2')),
      device_trackers: fc.subarray(['device_tracker.a', 'device_tracker.b']),
      picture: text,
    }),
  ],
];

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00`);
const day = fc
  .uniqueArray(time, { minLength: 0, maxLength: 4 })
  .map((times) => times.sort())
  .map((times) => times.slice(1).map((to, index) => ({ from: times[index]!, to })));

/** The fields of each sort, as the hub lists them. */
const helperRecords: Readonly<Partial<Record<EntryType['type'], fc.Arbitrary<object>>>> = {
  input_boolean: fc.record({ initial: fc.boolean() }, { requiredKeys: [] }),
  input_button: fc.constant({}),
  input_number: fc.record(
    {
      min: fc.constantFrom(-1, 0, 0.5),
      max: fc.constantFrom(1, 2.5),
      step: fc.constantFrom(1, 0.1),
      mode: fc.constantFrom('slider', 'box'),
      unit_of_measurement: fc.constantFrom('°C', ''),
      device_class: fc.constant('temperature'),
      initial: fc.integer(),
    },
    { requiredKeys: ['min', 'max', 'step', 'mode'] },
  ),
  input_text: fc.record(
    {
      min: fc.integer({ min: 0, max: 5 }),
      max: fc.integer({ min: 5, max: 255 }),
      mode: fc.constantFrom('text', 'password'),
      pattern: fc.constantFrom('[a-z]', ''),
      unit_of_measurement: fc.constantFrom('%', ''),
      initial: fc.constantFrom('', 'abcde'),
    },
    { requiredKeys: ['min', 'max', 'mode'] },
  ),
  input_select: fc.record(
    { options: fc.constantFrom(['b', 'a'], ['']), initial: fc.constantFrom('', 'a') },
    { requiredKeys: ['options'] },
  ),
  input_datetime: fc.record(
    { has_date: fc.boolean(), has_time: fc.boolean(), initial: fc.constantFrom('18:00', '2026-01-01') },
    { requiredKeys: ['has_date', 'has_time'] },
  ),
  counter: fc.record({
    initial: fc.integer(),
    step: fc.integer(),
    minimum: fc.option(fc.integer()),
    maximum: fc.option(fc.integer()),
    restore: fc.boolean(),
  }),
  timer: fc.record({ duration: fc.constantFrom('0:05:00', '100:00:00'), restore: fc.boolean() }),
  schedule: fc.record({ monday: day, sunday: day, tuesday: fc.constant([]) }),
};

test.each(helperTypes.map((entryType) => [entryType.type, entryType] as const))(
  'the spec of a helper of %s desires it as it is, and is valid',
  (type, entryType) => {
    const { properties } = helper.spec;
    fc.assert(
      fc.property(fc.option(fc.constantFrom('mdi:sofa', '')), helperRecords[type]!, (icon, fields) => {
        const record = { name: 'A', id: 'x', [`${type}_id`]: 'x', ...(icon !== null && { icon }), ...fields };
        const spec = entrySpecOf(entryType, record, () => undefined);
        const described = resource('a', { hubRef: { name: 'villa' }, ...spec }) as EntryResource;
        const desired = desiredEntry(entryType, described, {});
        expect(entryDiff(entryType, record, desired)).toEqual([]);
        expect(spec).toMatchObject({ id: 'x', name: 'A' });
        expect(JSON.stringify(spec)).not.toMatch(/"(?:icon|unit|pattern)":""/);
        expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(spec)));
      }),
    );
  },
);

describe('the spec of an entry of a registry', () => {
  test.each(records.map(([entryType, record]) => [entryType.type, entryType, record] as const))(
    'of a %s describes the entry unchanged',
    (_, entryType, record) => {
      fc.assert(
        fc.property(record, (entry) => {
          const spec = entrySpecOf(entryType, entry, (type, id) => `The ${type} ${id}`);
          const idsOf = (value: unknown) =>
            [value].flat().map((name) => String(name).replace(/^The \w+ /, ''));
          const { floorName, labels: names, username } = spec;
          const references = {
            ...(floorName !== undefined && { floorName: idsOf(floorName)[0]! }),
            ...(names !== undefined && { labels: idsOf(names) }),
            ...(username !== undefined && { username: idsOf(username)[0]! }),
          };
          const described = resource('a', { hubRef: { name: 'villa' }, ...spec }) as EntryResource;
          expect(entryDiff(entryType, entry, desiredEntry(entryType, described, references))).toEqual([]);
        }),
      );
    },
  );
});
