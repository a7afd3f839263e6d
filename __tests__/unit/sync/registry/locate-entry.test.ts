import { floors } from '../../../../operator/sync/registry/entry-types';
import { helperTypes } from '../../../../operator/sync/registry/helpers/types';
import { announcedEntry, locate } from '../../../../operator/sync/registry/locate-entry';
import { persons } from '../../../../operator/sync/registry/persons';
import { anEntry, entriesNamed } from './entries';

const owner = (name: string, floorID: string, spec: object = {}) =>
  anEntry('HubFloor', name, { spec: { name, ...spec }, status: { floorID } });

describe('locate', () => {
  const entries = entriesNamed({ a: 'A', b: 'B' });
  const find = (fields: Parameters<typeof anEntry>[2], others: Parameters<typeof locate>[3] = []) =>
    locate(floors, anEntry('HubFloor', 'mine', fields), entries, others);

  test.each([
    ['its recorded id, with any name', { spec: { name: 'B' }, status: { floorID: 'a' } }, 'Owned', 'a'],
    [
      'the name under which an operator that was killed may have created it',
      { spec: { name: 'B' }, status: { pendingName: 'b' } },
      'Unmanaged',
      'b',
    ],
    [
      'its name, after its entry has gone',
      { spec: { name: 'a' }, status: { floorID: 'x' } },
      'Unmanaged',
      'a',
    ],
    ['its name', { spec: { name: 'b ' } }, 'Unmanaged', 'b'],
  ])('an entry is found by %s', (_what, fields, type, id) => {
    expect(find(fields)).toEqual({ type, id });
  });

  describe('by a chosen id', () => {
    const buttons = helperTypes.find(({ type }) => type === 'input_button')!;
    const hub = entriesNamed({ a: 'Lamp', b: 'Lamp', c: 'Bell' });
    const button = (name: string, fields: Parameters<typeof anEntry>[2]) =>
      anEntry('HubHelper', name, fields);
    const found = (
      name: string,
      fields: Parameters<typeof anEntry>[2],
      others: Parameters<typeof locate>[3] = [],
    ) => locate(buttons, button(name, fields), hub, others);

    test.each([
      ['metadata.name', 'a', {}, { type: 'Unmanaged', id: 'a' }],
      ['spec.id', 'x', { spec: { id: 'b' } }, { type: 'Unmanaged', id: 'b' }],
      ['its recorded id', 'x', { status: { id: 'c' } }, { type: 'Owned', id: 'c' }],
      ['its name alone', 'x', { spec: { name: 'bell' } }, { type: 'Unmanaged', id: 'c' }],
      ['nothing', 'x', { spec: { name: 'Other' } }, { type: 'Absent' }],
      ['a name that several have', 'x', { spec: { name: 'Lamp' } }, { type: 'Ambiguous', ids: ['a', 'b'] }],
      [
        'a name, after its entry has gone',
        'x',
        { spec: { name: 'Bell' }, status: { id: 'y' } },
        { type: 'Absent' },
      ],
    ])('an entry is found by %s', (_what, name, fields, expected) => {
      expect(found(name, fields)).toEqual(expected);
    });

    test('an entry that another resource has or is to have is not taken for its name', () => {
      const one = button('a', { spec: { name: 'Lamp' } });
      const other = button('z', { spec: { name: 'Lamp' }, status: { id: 'b' } });
      expect(found('x', { spec: { name: 'Lamp' } }, [one])).toEqual({ type: 'Unmanaged', id: 'b' });
      expect(found('x', { spec: { name: 'Lamp' } }, [one, other])).toEqual({ type: 'Absent' });
      expect(found('b', {}, [other])).toEqual({ type: 'OfOther', id: 'b', owner: other });
    });
  });

  test('the entry that this process has created is recognized by its id, with any name', () => {
    const mine = anEntry('HubFloor', 'mine', { spec: { name: 'N' }, status: { pendingName: 'b' } });
    expect(locate(floors, mine, entries, [], { created: 'b' })).toEqual({ type: 'Created', id: 'b' });
    expect(locate(floors, mine, entries, [], { created: 'gone' })).toEqual({ type: 'Absent' });
  });

  test('an entry under a recorded name that is no longer that of the spec is not adopted', () => {
    expect(find({ spec: { name: 'N' }, status: { pendingName: 'b' } })).toEqual({ type: 'Absent' });
  });

  test('the entry of another resource is not adopted', () => {
    const other = owner('other', 'a');
    expect(find({ spec: { name: 'A' } }, [other])).toEqual({ type: 'OfOther', id: 'a', owner: other });
  });

  test('of two resources with the same recorded id, the one with the name of the entry owns it', () => {
    // A hub that was killed has lost both entries, and gave the id of one to the new entry of the other.
    const mine = (name: string, status: Record<string, unknown> = { floorID: 'a' }) => ({
      spec: { name },
      status,
    });
    expect(find(mine('A'), [owner('other', 'a', { name: 'Z' })])).toEqual({ type: 'Owned', id: 'a' });
    expect(find(mine('Z'), [owner('other', 'a', { name: 'A' })])).toEqual({ type: 'Absent' });
    const creating = anEntry('HubFloor', 'other', { spec: { name: 'A' }, status: { pendingName: 'a' } });
    expect(find(mine('Z'), [creating])).toEqual({ type: 'Absent' });
    const younger = { ...owner('younger', 'a', { name: 'Y' }) };
    expect(find(mine('Z'), [younger])).toEqual({ type: 'Owned', id: 'a' });
  });

  test('a rejected entry was not created: an entry of its name belongs to a user', () => {
    const ready = { type: 'Ready', status: 'False', reason: 'RejectedByHub' };
    const status = { pendingName: 'a', conditions: [ready] };
    expect(find({ spec: { name: 'A' }, status })).toEqual({ type: 'Unmanaged', id: 'a' });
  });

  test('an unknown name is absent', () => {
    expect(find({ spec: { name: 'C' }, status: { floorID: 'c', pendingName: 'c' } })).toEqual({
      type: 'Absent',
    });
  });
});

describe('announcedEntry', () => {
  const entries = entriesNamed({ a: 'A', b: 'B' });
  const announced = (name: string, others: Parameters<typeof announcedEntry>[3] = []) =>
    announcedEntry(floors, anEntry('HubFloor', 'mine', { status: { pendingName: name } }), entries, others);

  test('is the entry of that name which no resource has recorded', () => {
    expect(announced('b')).toEqual({ id: 'b', name: 'B' });
    expect(announced('c')).toBeUndefined();
    expect(announced('b', [owner('B', 'b')])).toBeUndefined();
  });
});

describe('locate of a person', () => {
  const max = { name: 'Max', user_id: 'user-of-father', device_trackers: [] };
  const find = (userId: string | null | undefined) =>
    locate(persons, anEntry('HubPerson', 'junior', { spec: { name: 'Max' } }), new Map([['max', max]]), [], {
      desired: { name: 'Max', ...(userId !== undefined && { user_id: userId }) },
    });

  test('a person of the same name who has another user is another person', () => {
    expect(find('user-of-son')).toEqual({ type: 'Absent' });
  });

  test.each([['user-of-father'], [null], [undefined]])(
    'of the user %s, the one of the name is adopted',
    (id) => {
      expect(find(id)).toEqual({ type: 'Unmanaged', id: 'max' });
    },
  );
});
