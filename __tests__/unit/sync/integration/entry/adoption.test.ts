import type { ConfigEntry } from '../../../../../operator/client/flow-step';
import { entriesMadeSince, entryToAdopt, freeEntries } from '../../../../../operator/sync/integration/entry/adoption';

const entry = (entry_id: string, title: string, more: Partial<ConfigEntry> = {}) =>
  ({ entry_id, title, domain: 'x', source: 'user', ...more }) as ConfigEntry;

const LAMP = entry('1', 'Lamp');
const DOOR = entry('2', 'Door');

describe('freeEntries', () => {
  test('neither those of another domain, nor dismissed discoveries, nor those that have an owner', () => {
    const all = [LAMP, DOOR, entry('3', 'Lamp', { domain: 'y' }), entry('4', 'Lamp', { source: 'ignore' })];
    expect(freeEntries(all, 'x', (id) => id === '2')).toEqual([LAMP]);
  });
});

describe('entryToAdopt', () => {
  test.each<[string, readonly ConfigEntry[], string | undefined, number, ConfigEntry | undefined]>([
    ['the one of the title', [LAMP, DOOR], 'Door', 2, DOOR],
    ['none of another title', [LAMP], 'Door', 1, undefined],
    ['none of two with the title', [LAMP, entry('3', 'Lamp')], 'Lamp', 2, undefined],
    ['the only one of the domain', [LAMP], undefined, 1, LAMP],
    ['none without a title if another resource owns one', [LAMP], undefined, 2, undefined],
    ['none of several without a title', [LAMP, DOOR], undefined, 2, undefined],
  ])('%s', (_, free, title, count, expected) => {
    expect(entryToAdopt(free, { domain: 'x', title }, count)).toBe(expected);
  });
});

describe('entriesMadeSince', () => {
  test('the only new one of a user’s flow, or the one of the title', () => {
    expect(entriesMadeSince([LAMP], { domain: 'x' }, ['1'], false)).toEqual([]);
    expect(entriesMadeSince([LAMP, DOOR], { domain: 'x' }, ['1'], false)).toEqual([DOOR]);
    expect(entriesMadeSince([LAMP, DOOR], { domain: 'x', title: 'Door' }, [], false)).toEqual([DOOR]);
  });

  test('all of several that may be a person’s, and none of a discovery', () => {
    expect(entriesMadeSince([LAMP, DOOR], { domain: 'x' }, [], false)).toEqual([LAMP, DOOR]);
    const discovered = entry('3', 'Lamp', { source: 'zeroconf' });
    expect(entriesMadeSince([discovered], { domain: 'x' }, [], false)).toEqual([]);
  });

  test('a flow that was open has made none, unless it is being set up', () => {
    expect(entriesMadeSince([LAMP], { domain: 'x' }, [], true)).toEqual([]);
    const starting = entry('4', 'Lamp', { state: 'setup_in_progress' });
    expect(entriesMadeSince([starting], { domain: 'x' }, [], true)).toEqual([starting]);
  });
});
