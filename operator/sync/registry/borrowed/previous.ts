import { isList, type Setting, type Settings } from '../../../client/registries/settings';
import type { FieldDiff } from '../../objects/field-diff';

// Records the settings of a hub from before a resource changed them. The record is written to status before
// the first write, so that it survives a crash. A former value only ever replaces a value that the resource
// set.

/** One setting in `status.previous`. */
interface PreviousSetting {
  /** The former value, absent if there was none. For a list: the items of `ours` that were already there. */
  readonly was?: NonNullable<Setting>;
  /** The values that the resource sets, or has requested. */
  readonly ours: readonly (string | number | boolean)[];
}

/** The settings by name. */
export type Previous = Readonly<Record<string, PreviousSetting>>;

const without = (list: readonly string[], removed: readonly unknown[]): readonly string[] =>
  list.filter((item) => !removed.includes(item));

const union = <T>(...lists: readonly (readonly T[])[]): readonly T[] => [...new Set(lists.flat())].sort();

/** The record before the declared settings are written. Earlier former values are kept. */
export function recordedBefore(present: Settings, declared: Settings, previous: Previous): Previous {
  const added = Object.entries(declared).map(([name, value]): [string, PreviousSetting] => [
    name,
    recordOf(present[name] ?? null, value, previous[name]),
  ]);
  return { ...previous, ...(Object.fromEntries(added) as Previous) };
}

function recordOf(present: Setting, value: Setting, recorded: PreviousSetting | undefined): PreviousSetting {
  if (isList(value)) {
    const ours = (recorded?.ours ?? []) as readonly string[];
    const there = isList(present) ? present : [];
    const added = value.filter((item) => !ours.includes(item) && there.includes(item));
    return { was: union(wasOf(recorded), added), ours: union(ours, value) };
  }
  if (value === null) return recorded ?? { ours: [] };
  if (recorded) return { ...recorded, ours: union(recorded.ours, [value]) };
  return { ...(present !== null && { was: present }), ours: [value] };
}

const wasOf = (recorded: PreviousSetting | undefined): readonly string[] =>
  isList(recorded?.was) ? recorded.was : [];

/** The record after the hub has the declared settings and all others have been restored. */
export function recordedAfter(declared: Settings, recorded: Previous): Previous {
  const kept = Object.entries(declared).map(([name, value]): [string, PreviousSetting] => {
    const entry = recorded[name];
    if (!isList(value)) return [name, { ...entry, ours: value === null ? [] : [value] }];
    return [name, { was: wasOf(entry).filter((item) => value.includes(item)), ours: union(value) }];
  });
  return Object.fromEntries(kept);
}

/** The value of a setting that is no longer in the spec. A value that another client has set is kept. */
export function putBack(present: Setting, { was, ours }: PreviousSetting): Setting {
  if (isList(present)) return without(present, without(ours as readonly string[], isList(was) ? was : []));
  return present !== null && ours.includes(present) ? (was ?? null) : present;
}

/**
 * The differences between the hub and the declared settings, and the former values of settings that are no
 * longer in the spec.
 */
export function settingsDiff(
  present: Settings,
  declared: Settings,
  previous: Previous,
): readonly FieldDiff[] {
  const names = new Set([...Object.keys(declared), ...Object.keys(previous)]);
  return [...names]
    .map((field) => {
      const actual = present[field] ?? null;
      return { field, actual, desired: desiredValue(actual, declared[field], previous[field]) };
    })
    .filter(({ actual, desired }) => !isSame(actual, desired));
}

/**
 * The desired value of a setting. Lists are merged: items that others added are kept, and items that were
 * removed from the spec are removed, unless they were there before.
 */
function desiredValue(
  actual: Setting,
  value: Setting | undefined,
  recorded: PreviousSetting | undefined,
): Setting {
  if (value === undefined) return recorded ? putBack(actual, recorded) : actual;
  if (!isList(value)) return value;
  const kept = recorded && isList(actual) ? (putBack(actual, recorded) as readonly string[]) : actual;
  return [...new Set([...(isList(kept) ? kept : []), ...value])];
}

function isSame(actual: Setting, desired: Setting): boolean {
  if (!isList(actual) || !isList(desired)) return actual === desired;
  return actual.length === desired.length && desired.every((item) => actual.includes(item));
}

/**
 * The record without the settings that another resource has recorded. A list stays, without the items that
 * the other resource sets too.
 */
export function withoutThose(previous: Previous, others: Previous): Previous {
  const left = Object.entries(previous).flatMap(([name, setting]): [string, PreviousSetting][] => {
    const other = others[name];
    if (!other) return [[name, setting]];
    const ours = setting.ours.filter((item) => !other.ours.includes(item));
    return isList(setting.was) ? [[name, { ...setting, ours }]] : [];
  });
  return Object.fromEntries(left);
}

/** The settings as a line of a message: `name: "Old lamp", area: none`. */
export function formatPrevious(previous: Previous): string {
  return Object.entries(previous)
    .map(([name, { was }]) => `${name}: ${was === undefined ? 'none' : JSON.stringify(was)}`)
    .join(', ');
}
