import type { HubClient } from '../../../../operator/client/hub-client';
import { areas, type EntryType, floors } from '../../../../operator/sync/registry/entry-types';
import { resolveName, resolveReferences } from '../../../../operator/sync/registry/locate-entry';
import { anEntry, entriesNamed } from './entries';

const entries = entriesNamed({ attic: 'Attic', ground: 'Ground  Floor', hand: 'By hand' });
const attic = anEntry('HubFloor', 'top', { spec: { name: 'Attic' }, status: { floorID: 'attic' } });
const ground = anEntry('HubFloor', 'attic', {
  spec: { name: 'Ground Floor' },
  status: { floorID: 'ground' },
});

describe('resolveName', () => {
  const resolve = (name: string, resources = [attic, ground]) =>
    resolveName(floors, name, resources, entries);

  test.each([
    ['spec.name, as the hub compares names', 'ATTIC', { id: 'attic' }],
    ['spec.name before metadata.name', 'Attic', { id: 'attic' }],
    ['metadata.name', 'top', { id: 'attic' }],
    ['the name of an entry that a person made', 'by HAND', { id: 'hand' }],
  ])('a name refers to %s', (_what, name, id) => {
    expect(resolve(name)).toEqual(id);
  });

  test('a resource without an entry is waited for, also if an entry of its name exists', () => {
    const unready = anEntry('HubFloor', 'new', { spec: { name: 'By hand' } });
    expect(resolve('By hand', [unready])).toEqual({ missing: expect.stringContaining('HubFloor new') });
    const stale = anEntry('HubFloor', 'new', { spec: { name: 'By hand' }, status: { floorID: 'lost' } });
    expect(resolve('By hand', [stale])).toEqual({ missing: expect.stringContaining('HubFloor new') });
  });

  test('of two resources with one name, the one with the entry counts', () => {
    const duplicate = anEntry('HubFloor', 'duplicate', { spec: { name: 'Attic' } });
    expect(resolve('Attic', [duplicate, attic])).toEqual({ id: 'attic' });
  });

  test('a resource that is being deleted does not count', () => {
    const metadata = { ...attic.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' };
    const deleted = { ...attic, metadata };
    expect(resolve('top', [deleted])).toEqual({
      missing: expect.stringContaining('no HubFloor and no floor'),
    });
  });
});

describe('resolveReferences', () => {
  const lookup = {
    entries: async ({ type }: EntryType) => (type === 'floor' ? entries : entriesNamed({ a: 'A', b: 'B' })),
    resources: ({ type }: EntryType) => (type === 'floor' ? [attic] : []),
    client: {} as HubClient,
  };
  const resolve = (spec: Record<string, unknown>) =>
    resolveReferences(areas, anEntry('HubArea', 'room', { spec }), lookup);

  test('absent fields stay absent, one name is an id, a list of names a list of ids', async () => {
    expect(await resolve({})).toEqual({ ids: {} });
    expect(await resolve({ floorName: 'top', labels: ['b', 'a'] })).toEqual({
      ids: { floorName: 'attic', labels: ['b', 'a'] },
    });
    expect(await resolve({ labels: [] })).toEqual({ ids: { labels: [] } });
  });

  test.each([
    ['FloorNotReady', { floorName: 'Cellar', labels: ['C'] }, 'the floor “Cellar” in floorName'],
    ['LabelNotReady', { floorName: 'Attic', labels: ['A', 'C'] }, 'the label “C” in labels'],
  ])('a missing entry is waited for: %s', async (reason, spec, text) => {
    expect(await resolve(spec)).toMatchObject({
      outcome: { type: 'Waiting', reason, after: 30_000, message: expect.stringContaining(text) },
    });
  });
});
