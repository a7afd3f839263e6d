import { review } from '../../../operator/webhook/review';
import { creation, FakeClusterState, ours, update } from './requests';

const porch = ours('HubAutomation', 'porch');
const refusalOf = (...request: Parameters<typeof review>) => review(...request).refusal;

describe('review', () => {
  test.each([
    ['HubAutomation', 'porch'],
    ['HubScene', 'porch'],
    ['HubScript', 'porch_light'],
  ])('refuses a second %s with the id of another', (kind, id) => {
    const first = ours(kind, 'first', { id });
    expect(review(creation(ours(kind, 'second', { id })), new FakeClusterState([first]))).toEqual({
      refusal: {
        field: 'spec.id',
        message: `${kind} first has the id ${id} in the Hub villa already: delete it, or give this one another spec.id or metadata.name.`,
      },
      warnings: [],
    });
  });

  test('an id of the hub is compared with those of resources and names', () => {
    const second = (hubId: string) => creation(ours('HubAutomation', 'x', { hubId }));
    const state = new FakeClusterState([
      ours('HubAutomation', 'porch'),
      ours('HubAutomation', 'first', { hubId: 'a/b' }),
      ours('HubAutomation', 'other', { id: 'dusk' }),
    ]);
    for (const hubId of ['porch', 'a/b', 'dusk'])
      expect(refusalOf(second(hubId), state)?.field).toBe('spec.hubId');
    expect(refusalOf(second('a'), state)).toBeUndefined();
  });

  test('the name is the id of a resource without one, and a script has a slug', () => {
    const state = new FakeClusterState([porch, ours('HubScript', 'good', { id: 'good_night' })]);
    expect(refusalOf(creation(ours('HubAutomation', 'x', { id: 'porch' })), state)?.field).toBe('spec.id');
    expect(refusalOf(creation(ours('HubScript', 'good-night')), state)).toEqual({
      field: 'metadata.name',
      message: expect.stringContaining('has the id good_night in the Hub villa already') as string,
    });
  });

  test.each([
    ['another hub', ours('HubAutomation', 'other', { id: 'porch', hubRef: { name: 'office' } })],
    ['another namespace', ours('HubAutomation', 'other', { id: 'porch' }, { namespace: 'office' })],
    ['another kind', ours('HubScene', 'other', { id: 'porch' })],
    ['another id', ours('HubAutomation', 'other', { id: 'garden' })],
    ['a kind whose ids the hub makes', ours('HubFloor', 'other', { name: 'porch' })],
  ])('admits the same id in %s', (_, object) => {
    const state = new FakeClusterState([porch, ours('HubFloor', 'first', { name: 'porch' })]);
    expect(review(creation(object), state)).toEqual({ warnings: [] });
  });

  test('one that is being deleted releases its id', () => {
    const going = ours('HubAutomation', 'porch', {}, { deletionTimestamp: '2026-01-01T00:00:01Z' });
    const second = creation(ours('HubAutomation', 'second', { id: 'porch' }));
    expect(refusalOf(second, new FakeClusterState([going]))).toBeUndefined();
    expect(
      refusalOf(second, new FakeClusterState([going, ours('HubAutomation', 'third', { id: 'porch' })])),
    ).toBeDefined();
  });

  test('a long configuration is not parsed, since that takes too long for a webhook', () => {
    const state = new FakeClusterState();
    state.secrets = { values: new Map([['a', 'hunter2']]), kept: new Set(), hash: '', salt: '' };
    const warningsWith = (comments: number) => {
      const configuration = `a: !secret b\n${'# comment\n'.repeat(comments)}`;
      return review(creation(ours('HubConfiguration', 'villa', { configuration })), state).warnings;
    };
    expect(warningsWith(1)).toHaveLength(1);
    expect(warningsWith(5_000)).toEqual([]);
  });

  test.each([
    ['Hub', { version: 'latest' }, [expect.stringMatching(/^version: latest is another .* Name a version/)]],
    ['Hub', { version: 'stable' }, []],
    ['Hub', { version: '2026.11.0' }, []],
    ['HubScript', { version: 'latest' }, []],
  ])('warns of a moving version: %s %j', (kind, spec, warnings) =>
    expect(review(creation(ours(kind, 'villa', spec)), new FakeClusterState([])).warnings).toEqual(warnings),
  );

  test('a resource is no duplicate of itself', () => {
    const changed = ours('HubAutomation', 'porch', { alias: 'Porch' });
    expect(refusalOf(update(porch, changed), new FakeClusterState([porch]))).toBeUndefined();
    // The resource was deleted and created again, and the cache has the former one.
    expect(
      refusalOf(creation(ours('HubAutomation', 'porch', {}, { uid: 'new' })), new FakeClusterState([porch])),
    ).toBeUndefined();
  });

  test('refuses a change of the id to that of another', () => {
    const garden = ours('HubAutomation', 'garden');
    const changed = ours('HubAutomation', 'garden', { id: 'porch' });
    expect(refusalOf(update(garden, changed), new FakeClusterState([porch, garden]))?.field).toBe('spec.id');
  });

  test('a duplicate that was stored without the webhook stays editable, with a warning', () => {
    const before = ours('HubAutomation', 'second', { id: 'porch' });
    const after = ours('HubAutomation', 'second', { id: 'porch', alias: 'Porch' });
    const { refusal, warnings } = review(update(before, after), new FakeClusterState([porch, before]));
    expect(refusal).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('HubAutomation porch has the id porch')]);
  });

  test('never refuses a resource that is being deleted, since that would keep its finalizer', () => {
    const deletionTimestamp = '2026-01-01T00:00:01Z';
    const going = ours('HubAutomation', 'second', { id: 'porch' }, { deletionTimestamp });
    expect(review(creation(going), new FakeClusterState([porch]))).toEqual({ warnings: [] });
  });

  test('admits a resource of a Hub that does not exist', () => {
    expect(
      review(creation(ours('HubAutomation', 'lost', { hubRef: { name: 'none' } })), new FakeClusterState()),
    ).toEqual({
      warnings: [],
    });
  });

  test('admits unknown requests: another group, a deletion, a kind of a later version', () => {
    const duplicate = creation(ours('HubAutomation', 'second', { id: 'porch' }));
    const state = new FakeClusterState([porch]);
    expect(
      refusalOf({ ...duplicate, kind: { group: 'example.org', kind: 'HubAutomation' } }, state),
    ).toBeUndefined();
    expect(refusalOf({ ...duplicate, operation: 'DELETE', object: null }, state)).toBeUndefined();
    expect(refusalOf(creation(ours('HubGarage', 'second', { id: 'porch' })), state)).toBeUndefined();
  });
});
