import { floors } from '../../../../operator/sync/registry/entry-types';
import { nameAvailability } from '../../../../operator/sync/registry/exchange';
import { helperTypes } from '../../../../operator/sync/registry/helpers/types';
import { anEntry, entriesNamed } from './entries';

const DRY_RUN = { 'hub-operator.dev/dry-run': 'true' };

const owner = (name: string, floorID: string, spec: object = {}) =>
  anEntry('HubFloor', name, { spec: { name, ...spec }, status: { floorID } });

/** The resource, whose status has the condition `Ready` for this generation. */
function withReady<R extends ReturnType<typeof owner>>(
  resource: R,
  reason: string,
  observedGeneration = 1,
  status = 'False',
): R {
  const ready = { type: 'Ready', status, reason, message: '', observedGeneration };
  return { ...resource, status: { ...resource.status, conditions: [ready] } };
}

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
    expect(conflict(a!('B'), withReady(b!('A'), 'DriftDetected'))).toMatchObject({ type: 'Held' });
    expect(conflict(a!('B'), withReady(b!('A'), 'DriftDetected', 0))).toMatchObject({ type: 'Cycle' });
  });

  test('a name is kept for a resource that is being deleted, is a duplicate, or waits for something else', () => {
    const mine = b!('A');
    const deletionTimestamp = '2026-01-02T00:00:00Z';
    const deleted = { ...mine, metadata: { ...mine.metadata, deletionTimestamp } };
    expect(conflict(a!('B'), deleted)).toMatchObject({ type: 'Held', owner: deleted });
    const older = anEntry('HubFloor', 'rd', {
      spec: { name: 'a' },
      metadata: { creationTimestamp: '2025-01-01T00:00:00Z' },
    });
    expect(conflict(a!('B'), mine, older)).toMatchObject({ type: 'Held', owner: mine });
    const younger = { ...older, metadata: { ...older.metadata, creationTimestamp: '2027-01-01T00:00:00Z' } };
    expect(conflict(a!('B'), mine, younger)).toMatchObject({ type: 'Cycle' });
    for (const reason of ['FloorNotReady', 'InvalidSpec', 'RejectedByHub']) {
      expect(conflict(a!('B'), withReady(mine, reason))).toMatchObject({ type: 'Held', owner: mine });
      expect(conflict(a!('B'), withReady(mine, reason, 0))).toMatchObject({ type: 'Cycle' });
    }
    for (const reason of ['DuplicateId', 'FloorRegistered'])
      expect(conflict(a!('B'), withReady(mine, reason))).toMatchObject({ type: 'Cycle' });
  });

  test('of a resource that leaves drift, status says whether it waits for the name', () => {
    const mine = b!('A', { driftPolicy: 'Warn' });
    for (const each of [
      mine,
      withReady(mine, 'DuplicateId', 0),
      withReady(mine, 'FloorRegistered', 1, 'True'),
    ])
      expect(conflict(a!('B'), each)).toMatchObject({ type: 'Held', owner: each });
    expect(conflict(a!('B'), withReady(mine, 'DuplicateId'))).toMatchObject({ type: 'Cycle' });
  });

  test('resources that exchange names in a circle are recognized, and one that waits for a circle is not in it', () => {
    expect(conflict(a!('B'), b!('A'))).toMatchObject({ type: 'Cycle' });
    expect(conflict(a!('B'), b!('C'), c!('A'))).toEqual({ type: 'Cycle', others: [b!('C'), c!('A')] });
    const eldest = { ...c!('B').metadata, creationTimestamp: '2025-01-01T00:00:00Z' };
    for (const other of [c!('B'), { ...c!('B'), metadata: eldest }])
      expect(conflict(a!('B'), b!('C'), other)).toMatchObject({ type: 'Held', owner: b!('C') });
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
