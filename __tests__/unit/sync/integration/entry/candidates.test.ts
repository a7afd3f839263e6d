import type { ConfigEntry } from '../../../../../operator/client/connection/flow-step';
import {
  adoptableOf,
  isAfterFlow,
  candidatesOf,
  candidateSubentries,
} from '../../../../../operator/sync/integration/entry/candidates';

const entry = (entry_id: string, title: string, more: Partial<ConfigEntry> = {}) =>
  ({
    entry_id,
    title,
    domain: 'x',
    source: 'user',
    state: 'loaded',
    reason: null,
    disabled_by: null,
    ...more,
  }) as ConfigEntry;

const LAMP = entry('1', 'Lamp');
const DOOR = entry('2', 'Door');
const startedAt = '2026-01-01T12:00:00Z';
const start = Date.parse(startedAt) / 1_000;

describe('candidatesOf', () => {
  const pending = (...entryIDs: string[]) => ({ startedAt, clockOffset: 0, entryIDs });
  const of = (entries: readonly ConfigEntry[], given = pending(), more: object = {}) =>
    candidatesOf(given, entries, { wasOpen: false, offset: 0, title: undefined, ...more });

  test('are all new entries of a user’s flow, or those with the title', () => {
    expect(of([LAMP], pending('1'))).toEqual({ unclear: [], later: [] });
    expect(of([LAMP, DOOR])).toEqual({ unclear: [LAMP, DOOR], later: [] });
    expect(of([LAMP, DOOR], pending(), { title: 'Door' })).toEqual({ unclear: [DOOR], later: [] });
    expect(of([entry('3', 'Lamp', { source: 'zeroconf' })])).toEqual({ unclear: [], later: [] });
  });

  test('are none for certain by time, in any state', () => {
    for (const state of ['setup_in_progress', 'setup_error', 'loaded', 'not_loaded']) {
      const found = entry('1', 'Lamp', { state, created_at: start + 1 });
      expect(of([found])).toEqual({ unclear: [found], later: [] });
    }
  });

  test('are separate from entries that were made after the longest flow', () => {
    const later = entry('1', 'Lamp', { created_at: start + 3_600 });
    expect(of([later, DOOR])).toEqual({ unclear: [DOOR], later: [later] });
  });

  test.each<[string, Partial<ConfigEntry>, boolean]>([
    ['is set up', { state: 'setup_in_progress' }, true],
    ['waits for its component', { state: 'not_loaded' }, true],
    ['was cut in its set-up', { state: 'setup_error' }, true],
    ['could not be set up', { state: 'setup_error', reason: 'no answer' }, false],
    ['is tried again', { state: 'setup_retry', reason: 'no answer' }, false],
    ['is loaded', {}, false],
    ['was disabled by a person', { state: 'not_loaded', disabled_by: 'user' }, false],
  ])('while the flow is open, are one for certain that %s: %s', (_, fields, isMade) => {
    const found = entry('1', 'Lamp', fields);
    const made = isMade ? found : undefined;
    expect(of([found, DOOR], pending(), { wasOpen: true })).toEqual({ made, unclear: [], later: [] });
    expect(of([found], pending('1'), { wasOpen: true }).made).toBeUndefined();
  });

  test('while the flow is open, are none for certain of several', () => {
    const both = [LAMP, DOOR].map((each) => ({ ...each, state: 'setup_in_progress' }));
    expect(of(both, pending(), { wasOpen: true })).toEqual({ unclear: both, later: [] });
  });
});

describe('isAfterFlow', () => {
  test.each<[string, number | undefined, number | undefined, number | undefined, boolean]>([
    ['right after its start', 0, 0, 1, false],
    ['at the end of the longest flow', 0, 0, 20 * 60, false],
    ['an hour later', 0, 0, 3_600, true],
    ['long before', 0, 0, -3_600, false],
    ['an hour later by a clock that is ahead', 7_200, 7_201, 7_200 + 3_600, true],
    ['right after its start by a clock that is ahead', 7_200, 7_201, 7_201, false],
    ['an hour later by a clock that was set since', -7_200, 0, 3_600, false],
    ['an hour later by a clock that was not measured then', undefined, 0, 3_600, false],
    ['an hour later by a clock that is not measured now', 0, undefined, 3_600, false],
    ['at a time that the hub does not show', 0, 0, undefined, false],
  ])('%s', (_, clockOffset, offset, seconds, expected) => {
    const pending = { startedAt, ...(clockOffset !== undefined && { clockOffset }) };
    expect(isAfterFlow(pending, seconds === undefined ? undefined : start + seconds, offset)).toBe(expected);
  });
});

describe('adoptableOf', () => {
  test.each<[string, readonly ConfigEntry[], Parameters<typeof adoptableOf>[1], ConfigEntry | undefined]>([
    ['the only one', [LAMP], { adopt: 'Allowed' }, LAMP],
    ['the only one, of the title', [LAMP], { adopt: 'Allowed', title: 'Lamp' }, LAMP],
    ['none of another title', [LAMP], { adopt: 'Allowed', title: 'Door' }, undefined],
    ['none of several', [LAMP, DOOR], { adopt: 'Allowed' }, undefined],
    ['none if none may be', [LAMP], { adopt: 'Never' }, undefined],
    ['none of none', [], { adopt: 'Allowed' }, undefined],
  ])('%s', (_, unclear, spec, expected) => {
    expect(adoptableOf(unclear, spec)).toBe(expected);
  });
});

describe('candidateSubentries', () => {
  const DAY = 24 * 3_600;
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  const ulid = (seconds: number): string => {
    let time = seconds * 1_000;
    let id = '';
    for (let place = 0; place < 10; place++, time = Math.floor(time / 32)) id = digits[time % 32]! + id;
    return `${id}0000000000000000`;
  };
  const lamp = (id: string, type = 'lamp') => ({ subentry_id: id, subentry_type: type, title: 'Lamp' });
  const pending = { startedAt, clockOffset: 0, subentry: { type: 'lamp', subentryIDs: ['old'] } };

  test('are all new ones of the type, with any id, and none that was made a day later', () => {
    const present = [
      lamp('old'),
      lamp('x', 'door'),
      lamp(ulid(start + 1)),
      lamp('y'),
      lamp(ulid(start + DAY)),
    ];
    expect(candidateSubentries(pending, present, 0)).toEqual([present[2], present[3]]);
    expect(candidateSubentries(pending, present, undefined)).toEqual(present.slice(2));
  });
});
