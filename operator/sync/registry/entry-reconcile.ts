import type { HubClient } from '../../client/hub-client';
import type { RegistryEntries } from '../../client/registry';
import type { DesiredEntry } from './desired';
import type { EntryResource } from './entry-type';
import type { EntryMemory } from './hub-contexts';

/** One reconcile of one resource. */
export interface RegistryWork {
  readonly resource: EntryResource;
  readonly client: HubClient;
  readonly desired: DesiredEntry;
  readonly entries: RegistryEntries;
  readonly memory: EntryMemory;
}
