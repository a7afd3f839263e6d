import fc from '../../../fast-check';
import type { Settings } from '../../../../operator/client/registries/settings';
import {
  formatPrevious,
  type Previous,
  putBack,
  recordedAfter,
  recordedBefore,
  settingsDiff,
} from '../../../../operator/sync/registry/borrowed/previous';

/** Returns the state of the hub after a write of the differences. */
function written(present: Settings, declared: Settings, previous: Previous): Settings {
  const changes = settingsDiff(present, declared, previous).map(({ field, desired }) => [field, desired]);
  return { ...present, ...(Object.fromEntries(changes) as Settings) };
}

/** Returns the hub and the record after one whole reconcile. */
function reconciled(present: Settings, declared: Settings, previous: Previous) {
  const recorded = recordedBefore(present, declared, previous);
  return { present: written(present, declared, recorded), previous: recordedAfter(declared, recorded) };
}

describe('previous settings', () => {
  test('a value that is set is recorded with the former one, which is restored when it leaves the spec', () => {
    const first = reconciled({ name: 'Old' }, { name: 'New' }, {});
    expect(first).toEqual({ present: { name: 'New' }, previous: { name: { was: 'Old', ours: ['New'] } } });
    expect(reconciled(first.present, {}, first.previous)).toEqual({ present: { name: 'Old' }, previous: {} });
  });

  test('a value that the hub already had stays', () => {
    const first = reconciled({ name: 'New' }, { name: 'New' }, {});
    expect(first.previous).toEqual({ name: { was: 'New', ours: ['New'] } });
    expect(reconciled(first.present, {}, first.previous).present).toEqual({ name: 'New' });
  });

  test('a missing value is absent from the record, and is restored as missing', () => {
    const first = reconciled({ icon: null }, { icon: 'mdi:a' }, {});
    expect(first.previous).toEqual({ icon: { ours: ['mdi:a'] } });
    expect(reconciled(first.present, {}, first.previous).present).toEqual({ icon: null });
  });

  test('false is a former value like others', () => {
    const first = reconciled({ hidden: false }, { hidden: true }, {});
    expect(first.previous).toEqual({ hidden: { was: false, ours: [true] } });
    expect(reconciled(first.present, {}, first.previous).present).toEqual({ hidden: false });
  });

  test('a value that another client set is not replaced by a former one', () => {
    const { previous } = reconciled({ name: 'Old' }, { name: 'New' }, {});
    expect(reconciled({ name: 'Mine' }, {}, previous)).toEqual({ present: { name: 'Mine' }, previous: {} });
  });

  test('a requested value that was perhaps not written is known beside the one that the hub has', () => {
    const first = reconciled({ name: 'Old' }, { name: 'A' }, {});
    const cut = recordedBefore(first.present, { name: 'B' }, first.previous);
    expect(cut).toEqual({ name: { was: 'Old', ours: ['A', 'B'] } });
    expect(putBack('A', cut['name']!)).toBe('Old');
    expect(putBack('B', cut['name']!)).toBe('Old');
    expect(recordedAfter({ name: 'B' }, cut)).toEqual({ name: { was: 'Old', ours: ['B'] } });
  });

  test('items of a list that existed before stay, even when they leave the spec and come again', () => {
    const first = reconciled({ labels: ['a', 'x'] }, { labels: ['a', 'b'] }, {});
    expect(first).toEqual({
      present: { labels: ['a', 'x', 'b'] },
      previous: { labels: { was: ['a'], ours: ['a', 'b'] } },
    });
    const second = reconciled(first.present, { labels: ['b'] }, first.previous);
    expect(second).toEqual({
      present: { labels: ['a', 'x', 'b'] },
      previous: { labels: { was: [], ours: ['b'] } },
    });
    const third = reconciled(second.present, { labels: ['a'] }, second.previous);
    expect(third.present).toEqual({ labels: ['a', 'x'] });
    expect(reconciled(third.present, {}, third.previous).present).toEqual({ labels: ['a', 'x'] });
  });

  test('an empty list does not remove items of other clients', () => {
    expect(reconciled({ labels: ['x'] }, { labels: [] }, {}).present).toEqual({ labels: ['x'] });
  });

  test('the order of a list is no difference', () => {
    expect(settingsDiff({ labels: ['b', 'a'] }, { labels: ['a', 'b'] }, {})).toEqual([]);
  });

  test('after any number of changes the hub has what it had before', () => {
    const list = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 });
    fc.assert(
      fc.property(list, fc.array(list, { maxLength: 5 }), (before, specs) => {
        let state = { present: { labels: before } as Settings, previous: {} as Previous };
        for (const labels of specs) state = reconciled(state.present, { labels }, state.previous);
        const { present } = reconciled(state.present, {}, state.previous);
        expect([...(present['labels'] as string[])].sort()).toEqual([...before].sort());
      }),
    );
  });

  test('are shown as words in a message', () => {
    expect(formatPrevious({ name: { was: 'Old', ours: ['New'] }, icon: { ours: ['mdi:a'] } })).toBe(
      'name: "Old", icon: none',
    );
  });
});
