import type { HubClient } from '../../client/hub-client';
import type { RegistryEntries } from '../../client/registries/registry';
import type { DesiredEntry } from './desired';
import type { EntryResource } from './entry-type';
import type { CachedEntry } from './hub-contexts';

/** One reconcile of one resource. */
export interface EntryReconcile {
  readonly resource: EntryResource;
  readonly client: HubClient;
  readonly desired: DesiredEntry;
  readonly entries: RegistryEntries;
  readonly cached: CachedEntry;
  /** Volume of the hub; undefined: not known. */
  readonly volume: string | undefined;
}
