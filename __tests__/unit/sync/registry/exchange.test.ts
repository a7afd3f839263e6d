import { floors } from '../../../../operator/sync/registry/entry-types';
import { nameAvailability } from '../../../../operator/sync/registry/exchange';
import { helperTypes } from '../../../../operator/sync/registry/helpers/types';
import { anEntry, entriesNamed } from './entries';

const DRY_RUN = { 'hub-operator.dev/dry-run': 'true' };

const owner = (name: string, floorID: string, spec: object = {}) =>
  anEntry('HubFloor', name, { spec: { name, ...spec }, status: { floorID } });

describe('nameAvailability', () => {
  const entries = entriesNamed({ a: 'A', b: 'B', c: 'C' });
  const [a, b, c] = ['a', 'b', 'c'].map(
    (id) =>
      (to: string, spec = {}) =>
        owner(`r${id}`, id, { name: to, ...spec }),
  );
  const conflict = (...[mine, ...others]: ReturnType<typeof owner>[]) =>
    nameAvailability({ entryType: floors, resource: mine!, id: 'a', entries, others });

  test('a free name, its own in other letters, and one that no resource has are no conflict', () => {
    expect(conflict(a!('New'))).toEqual({ type: 'None' });
    expect(conflict(a!(' a'), b!('B'))).toEqual({ type: 'None' });
    expect(conflict(a!('B'))).toEqual({ type: 'None' }); // the hub rejects the name
  });

  test('the owner of the name is waited for, even if it waits itself, is suspended, in dry-run or leaves its drift', () => {
    expect(conflict(a!('B'), b!('New'))).toMatchObject({ type: 'Held', owner: b!('New') });
    expect(conflict(a!('B'), b!('C'), c!('New'))).toMatchObject({ type: 'Held', owner: b!('C') });
    expect(conflict(a!('B'), b!('A', { suspend: true }))).toMatchObject({ type: 'Held' });
    const inDryRun = { ...b!('A'), metadata: { ...b!('A').metadata, annotations: DRY_RUN } };
    expect(conflict(a!('B'), inDryRun)).toMatchObject({ type: 'Held' });
    const drifted = (observedGeneration: number) => {
      const mine = b!('A');
      const ready = {
        type: 'Ready',
        status: 'False',
        reason: 'DriftDetected',
        message: '',
        observedGeneration,
      };
      return { ...mine, status: { ...mine.status, conditions: [ready] } } as unknown as typeof mine;
    };
    const { generation } = b!('A').metadata;
    expect(conflict(a!('B'), drifted(generation))).toMatchObject({ type: 'Held' });
    expect(conflict(a!('B'), drifted(generation - 1))).toEqual({ type: 'Cycle' });
  });

  test('resources that exchange names in a circle are recognized, and one that waits for a circle is not in it', () => {
    expect(conflict(a!('B'), b!('A'))).toEqual({ type: 'Cycle' });
    expect(conflict(a!('B'), b!('C'), c!('A'))).toEqual({ type: 'Cycle' });
    expect(conflict(a!('B'), b!('C'), c!('B'))).toMatchObject({ type: 'Held', owner: b!('C') });
  });

  test('names that are not the identity are free', () => {
    const buttons = helperTypes.find(({ type }) => type === 'input_button')!;
    const [resource, other] = ['a', 'c'].map((id) =>
      anEntry('HubHelper', id, { spec: { name: 'C' }, status: { id } }),
    );
    const changing = { entryType: buttons, resource: resource!, id: 'a', entries, others: [other!] };
    expect(nameAvailability(changing)).toEqual({ type: 'None' });
  });
});
