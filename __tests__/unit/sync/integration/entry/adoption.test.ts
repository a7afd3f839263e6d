import type { ConfigEntry } from '../../../../../operator/client/connection/flow-step';
import {
  entriesMadeBy,
  entriesOf,
  entryNamedBy,
  entryToAdopt,
} from '../../../../../operator/sync/integration/entry/adoption';

const entry = (entry_id: string, title: string, more: Partial<ConfigEntry> = {}) =>
  ({ entry_id, title, domain: 'x', source: 'user', ...more }) as ConfigEntry;

const LAMP = entry('1', 'Lamp');
const DOOR = entry('2', 'Door');
const none = () => false;
const owned = (id: string) => id === '1';

describe('entriesOf', () => {
  test('neither those of another domain nor dismissed discoveries', () => {
    const all = [LAMP, DOOR, entry('3', 'Lamp', { domain: 'y' }), entry('4', 'Lamp', { source: 'ignore' })];
    expect(entriesOf(all, 'x')).toEqual([LAMP, DOOR]);
  });
});

describe('entryToAdopt', () => {
  const TWIN = entry('3', 'Lamp');
  test.each<
    [
      string,
      readonly ConfigEntry[],
      string | undefined,
      boolean,
      (id: string) => boolean,
      ConfigEntry | undefined,
    ]
  >([
    ['the one of the title', [LAMP, DOOR], 'Door', false, none, DOOR],
    ['none of another title', [LAMP], 'Door', true, none, undefined],
    ['none of two with the title', [LAMP, TWIN], 'Lamp', false, none, undefined],
    ['the one of the title that no resource owns', [LAMP, TWIN], 'Lamp', false, owned, TWIN],
    ['the only one of a domain that has no second one', [LAMP], undefined, true, none, LAMP],
    ['none without a title if the domain may have another one', [LAMP], undefined, false, none, undefined],
    ['none without a title that another resource owns', [LAMP], undefined, true, owned, undefined],
    ['none of several without a title', [LAMP, DOOR], undefined, true, none, undefined],
  ])('%s', (_, present, title, isOnlyOne, isOwned, expected) => {
    expect(entryToAdopt(present, title, isOnlyOne, isOwned)).toBe(expected);
  });
});

describe('entryNamedBy', () => {
  const at = '2026-01-01T00:00:00Z';
  const before = entry('1', 'Lamp', { modified_at: Date.parse(at) / 1_000 - 3_600 });
  const changed = entry('2', 'Door', { modified_at: Date.parse(at) / 1_000 + 3 });
  test.each<
    [
      string,
      string,
      readonly ConfigEntry[],
      string | undefined,
      (id: string) => boolean,
      ConfigEntry | undefined,
    ]
  >([
    ['the one that the flow changed', 'reconfigure_successful', [before, changed], 'T', none, changed],
    ['none if it changed none', 'reconfigure_successful', [before], undefined, none, undefined],
    [
      'none that it changed and that a resource owns',
      'reauth_successful',
      [entry('1', 'x', { modified_at: changed.modified_at! })],
      undefined,
      owned,
      undefined,
    ],
    ['the single instance', 'single_instance_allowed', [LAMP], 'Other', none, LAMP],
    ['the only one without a title', 'already_configured', [LAMP], undefined, none, LAMP],
    ['none of another title', 'already_configured', [LAMP], 'Other', none, undefined],
    ['none of two', 'already_configured', [LAMP, DOOR], undefined, none, undefined],
    ['none of two of which one is free', 'already_configured', [LAMP, DOOR], undefined, owned, undefined],
    ['none of another end', 'cannot_connect', [LAMP], undefined, none, undefined],
  ])('%s', (_, key, present, title, isOwned, expected) => {
    expect(entryNamedBy(key, present, title === undefined ? {} : { title }, isOwned, at)).toBe(expected);
  });
});

describe('entriesMadeBy', () => {
  const startedAt = '2026-01-01T12:00:00Z';
  const start = Date.parse(startedAt) / 1_000;
  const pending = (...entryIDs: string[]) => ({ startedAt, entryIDs });
  const made = (entries: readonly ConfigEntry[], given = pending(), title?: string) =>
    entriesMadeBy(given, entries, title).made;

  test('the only new one of a user’s flow, or the one of the title', () => {
    expect(made([LAMP], pending('1'))).toEqual([]);
    expect(made([LAMP, DOOR], pending('1'))).toEqual([DOOR]);
    expect(made([LAMP, DOOR], pending(), 'Door')).toEqual([DOOR]);
  });

  test('all of several that may be a person’s, and none of a discovery', () => {
    expect(made([LAMP, DOOR])).toEqual([LAMP, DOOR]);
    expect(made([entry('3', 'Lamp', { source: 'zeroconf' })])).toEqual([]);
  });

  test.each([
    ['right after its start', 1, true],
    ['with a clock that is a little behind', -30, true],
    ['at the end of the longest flow', 20 * 60, true],
    ['hours later', 3_600, false],
    ['long before', -3_600, false],
  ])('in any state, made %s', (_, seconds, isMade) => {
    for (const state of ['setup_in_progress', 'setup_error', 'loaded', 'not_loaded']) {
      const found = entry('1', 'Lamp', { state, created_at: start + seconds });
      expect(entriesMadeBy(pending(), [found], undefined)).toEqual(
        isMade ? { made: [found], others: [] } : { made: [], others: [found] },
      );
    }
  });
});
