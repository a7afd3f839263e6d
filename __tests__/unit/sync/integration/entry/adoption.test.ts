import type { ConfigEntry } from '../../../../../operator/client/connection/flow-step';
import {
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
  test('excludes entries of another domain and dismissed discoveries', () => {
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
  const changed = [DOOR.entry_id];
  const TWIN = entry('3', 'Lamp');
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
    ['the one that the flow changed', 'reconfigure_successful', [LAMP, DOOR], 'T', none, DOOR],
    ['the only one if it was equal before', 'reconfigure_successful', [LAMP], undefined, none, LAMP],
    ['none of another title if it was equal before', 'reconfigure_successful', [LAMP], 'T', none, undefined],
    [
      'none of two of which none was changed',
      'reconfigure_successful',
      [LAMP, TWIN],
      undefined,
      none,
      undefined,
    ],
    [
      'none that it changed and that a resource owns',
      'reauth_successful',
      [DOOR],
      undefined,
      () => true,
      undefined,
    ],
    ['the single instance', 'single_instance_allowed', [LAMP], 'Other', none, LAMP],
    ['the only one without a title', 'already_configured', [LAMP], undefined, none, LAMP],
    ['none of another title', 'already_configured', [LAMP], 'Other', none, undefined],
    ['none of two', 'already_configured', [LAMP, DOOR], undefined, none, undefined],
    ['none of two of which one is free', 'already_configured', [LAMP, DOOR], undefined, owned, undefined],
    ['none of another end', 'cannot_connect', [LAMP], undefined, none, undefined],
  ])('%s', (_, key, present, title, isOwned, expected) => {
    expect(entryNamedBy(key, present, title === undefined ? {} : { title }, isOwned, changed)).toBe(expected);
  });
});
