import type { HubClient } from '../../../client/hub-client';
import type { Configurable, Settings } from '../../../client/registries/settings';
import type { SettingsKind, SettingsResource } from './borrowed-type';
import { changesOf } from './declared';
import { type Previous, settingsDiff } from './previous';

/** The record of the settings that an entry had before the resource. */
export const previousOf = ({ status }: SettingsResource): Previous =>
  (status?.['previous'] as Previous | undefined) ?? {};

/**
 * The record without values that cannot be restored. A former area or category that no longer exists in the
 * hub is left out, since the hub would accept its id nevertheless.
 */
export async function restorable<R extends Configurable>(
  { fields }: SettingsKind<R>,
  previous: Previous,
  client: HubClient,
): Promise<Previous> {
  const all = Object.entries(previous).map(async ([name, setting]) => {
    const { was, ...withoutFormer } = setting;
    const { refersTo, category } = fields[name] ?? {};
    if (typeof was !== 'string' || !(refersTo || category)) return [name, setting] as const;
    const entries = refersTo
      ? await client.registries[refersTo.entryType.type].entries()
      : await client.categories.entries(category!);
    return [name, entries.has(was) ? setting : withoutFormer] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

/** The settings that a removal writes. */
export function formerSettings({ settings }: Configurable, previous: Previous): Settings {
  return changesOf(settingsDiff(settings, {}, previous));
}
